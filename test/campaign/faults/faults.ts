// What happens to a cluster while it is attacked. A fault of the tenant's namespaces must not be felt
// elsewhere; one of the API server or the controller is felt by everybody, until it ends.
import { connect, type Socket } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { ACCOUNT } from "../../support/api-server/account.ts";
import type { ControlPlane } from "../../support/api-server/control-plane.ts";
import type { FaultProxy } from "../../../packages/kube/testing/fault-proxy.ts";
import { field, type Http } from "../../../packages/sandbox/testing/http.ts";
import { good, merge } from "../../support/api-server/pressure.ts";
import {
  SECRET_WRITES,
  SICK,
  type Webhook,
  type WebhookFault,
} from "../../support/api-server/webhook.ts";
import type { Disturbance } from "./disturbance.ts";
import type { Platform } from "../actors/platform.ts";
import { TENANT_NAMESPACES } from "../actors/tenant.ts";

export type Fault = {
  readonly name: string;
  /** Whether it is over when `begin` is, and felt by everybody until then. */
  readonly everywhere: boolean;
  begin(): Promise<void>;
  end(): Promise<void>;
};

export type FaultParts = {
  readonly admin: Http;
  readonly cluster: Pick<ControlPlane, "restartApiServer">;
  readonly proxy: FaultProxy;
  readonly webhook: Webhook;
  readonly disturbance: Disturbance;
  readonly platform: Pick<Platform, "touch">;
  /** HOST:PORT of the probes and metrics of each replica. */
  readonly addresses: () => readonly string[];
  /** Kills the leader, and resolves when another process leads. */
  readonly killLeader: () => Promise<void>;
};

const ADMISSION = "/apis/admissionregistration.k8s.io/v1";
const POLICIES = `${ADMISSION}/validatingadmissionpolicies`;
const BINDINGS = `${ADMISSION}/validatingadmissionpolicybindings`;
const ROLE = "/apis/rbac.authorization.k8s.io/v1/clusterroles/secretcast";
const WEBHOOKS = `${ADMISSION}/validatingwebhookconfigurations`;
const WEBHOOK = "hostile";
const WEBHOOK_TIMEOUT_S = 10;
const POLICY = "hostile-policy";
/** Faults of the tenant's namespaces are for the controller alone. */
const BY_THE_CONTROLLER = {
  name: "by-the-controller",
  expression: `request.userInfo.username == '${ACCOUNT}'`,
};
const CUTS = 5;
const TOUCH_EVERY_MS = 100;
const READERS = 300;
const PIPELINED = 20;

export function faults(parts: FaultParts): readonly Fault[] {
  const { cluster, killLeader } = parts;
  const nothing = async (): Promise<void> => {};
  const ofWebhook: readonly WebhookFault[] = [
    "hangs",
    "allows late",
    "answers 500",
    "denies with 429",
    "denies with 409",
  ];
  return [
    ...ofWebhook.map((fault) => webhookThat(fault, parts)),
    quota(parts),
    policy(parts),
    withoutGet(parts),
    touchedSource(parts),
    metricsReaders(parts),
    {
      name: "watches cut",
      everywhere: true,
      begin: () => cutWatches(parts),
      end: nothing,
    },
    {
      name: "API server killed",
      everywhere: true,
      begin: () => cluster.restartApiServer({ signal: "SIGKILL" }),
      end: nothing,
    },
    { name: "controller killed", everywhere: true, begin: killLeader, end: nothing },
  ];
}

function webhookThat(fault: WebhookFault, { admin, webhook }: FaultParts): Fault {
  return {
    name: `webhook ${fault}`,
    everywhere: false,
    begin: async () => {
      webhook.fault = fault;
      const body = webhook.configuration(WEBHOOK, WEBHOOK_TIMEOUT_S, [BY_THE_CONTROLLER]);
      await good(admin.send("POST", WEBHOOKS, { body }));
    },
    end: async () => {
      await good(admin.send("DELETE", `${WEBHOOKS}/${WEBHOOK}`));
      webhook.letGo();
    },
  };
}

function quota({ admin }: FaultParts): Fault {
  const path = (namespace: string): string => `/api/v1/namespaces/${namespace}/resourcequotas`;
  return {
    name: "quota full",
    everywhere: false,
    begin: async () => {
      const full = { "count/secrets": "1" };
      for (const namespace of TENANT_NAMESPACES) {
        const body = { metadata: { name: "full" }, spec: { hard: full } };
        await good(admin.send("POST", path(namespace), { body }));
        // There is no quota controller here: what is used is said by us.
        const status = { status: { hard: full, used: full } };
        await merge(admin, `${path(namespace)}/full/status`, status);
      }
    },
    end: async () => {
      for (const namespace of TENANT_NAMESPACES)
        await good(admin.send("DELETE", `${path(namespace)}/full`));
    },
  };
}

function policy({ admin }: FaultParts): Fault {
  return {
    name: "policy denies",
    everywhere: false,
    begin: async () => {
      const spec = {
        failurePolicy: "Fail",
        matchConstraints: {
          resourceRules: [SECRET_WRITES],
          namespaceSelector: { matchLabels: SICK },
        },
        matchConditions: [BY_THE_CONTROLLER],
        validations: [{ expression: "false", message: "no copies here", reason: "Invalid" }],
      };
      await good(admin.send("POST", POLICIES, { body: { metadata: { name: POLICY }, spec } }));
      const bound = { policyName: POLICY, validationActions: ["Deny"] };
      const body = { metadata: { name: POLICY }, spec: bound };
      await good(admin.send("POST", BINDINGS, { body }));
    },
    end: async () => {
      await good(admin.send("DELETE", `${BINDINGS}/${POLICY}`));
      await good(admin.send("DELETE", `${POLICIES}/${POLICY}`));
    },
  };
}

/** The right to look at a Secret goes for a while. */
function withoutGet({ admin, disturbance }: FaultParts): Fault {
  let rules: unknown;
  return {
    name: "no right to get",
    everywhere: false,
    begin: async () => {
      disturbance.holdLiveReads();
      rules = field((await good(admin.send("GET", ROLE))).body, "rules");
      const list: readonly unknown[] = Array.isArray(rules) ? rules : [];
      const less = list.map((rule) => {
        const verbs = field(rule, "verbs");
        const left = Array.isArray(verbs) ? verbs.filter((verb) => verb !== "get") : [];
        return { ...Object(rule), verbs: left };
      });
      await merge(admin, ROLE, { rules: less });
    },
    end: async () => {
      await merge(admin, ROLE, { rules });
      disturbance.releaseLiveReads();
    },
  };
}

/** The source of most copies changes all the time, in an annotation from which nothing follows. */
function touchedSource({ platform }: FaultParts): Fault {
  const stop = { signal: new AbortController(), ended: Promise.resolve() };
  return {
    name: "a source touched without pause",
    everywhere: false,
    begin: async () => {
      stop.signal = new AbortController();
      const { signal } = stop.signal;
      const touch = async (): Promise<void> => {
        while (!signal.aborted) {
          await platform.touch("registry");
          await delay(TOUCH_EVERY_MS);
        }
      };
      stop.ended = touch();
    },
    end: async () => {
      stop.signal.abort();
      await stop.ended;
    },
  };
}

/** Any Pod can reach the port of the metrics, and needs no account for it. */
function metricsReaders({ addresses }: FaultParts): Fault {
  let readers: readonly Socket[] = [];
  return {
    name: "readers of /metrics",
    everywhere: false,
    begin: async () => {
      const request = "GET /metrics HTTP/1.1\r\nHost: metrics\r\n\r\n".repeat(PIPELINED);
      readers = addresses().flatMap((address) => {
        const [host = "", port = ""] = address.split(":");
        return Array.from({ length: READERS }, () => {
          const socket = connect(Number(port), host, () => socket.write(request));
          // A refused or closed connection is what is to be seen.
          socket.on("error", () => socket.destroy());
          return socket.resume();
        });
      });
    },
    end: async () => {
      for (const socket of readers) socket.destroy();
    },
  };
}

async function cutWatches({ proxy }: FaultParts): Promise<void> {
  for (let cut = 0; cut < CUTS; cut++) {
    proxy.rule = ({ kind }) =>
      (kind === "watch" || kind === "stream") && cut % 2 === 0
        ? { kind: "cut", afterBytes: 2000 }
        : undefined;
    proxy.resetAll();
    await delay(300);
  }
  proxy.rule = () => undefined;
  proxy.resetAll();
}
