// Pressure on a real API server's Priority & Fairness: the level that service accounts share is
// squeezed to a few seats, and another account floods it with big lists and streamed lists, so that most
// of what comes there is answered 429, or waits where the level has its queues. The server listens on
// loopback alone; the flood is a few workers, each of which waits after a refusal, and they end when
// they are told to.
import { setTimeout as delay } from "node:timers/promises";
import type { ClusterAccess } from "./control-plane.ts";
import { openCluster } from "./cluster.ts";
import { field } from "../../../packages/sandbox/testing/http.ts";
import type { Answer, Http } from "../../../packages/sandbox/testing/http.ts";

const LEVEL = "/apis/flowcontrol.apiserver.k8s.io/v1/prioritylevelconfigurations/workload-low";
const RBAC = "/apis/rbac.authorization.k8s.io/v1";
// While it is "true" the API server puts its own levels back as they were.
const AUTOUPDATE = "apf.kubernetes.io/autoupdate-spec";
const ONE_SHARE = { nominalConcurrencyShares: 1, lendablePercent: 0, borrowingLimitPercent: 0 };

/** What becomes of a request that finds no seat: refused, or queued fairly as on a server as it comes. */
export type WithoutSeat = "refused" | "queued";

/** Leaves the level few seats; what is returned puts back the level as it was. */
export async function squeezeWorkloadLow(
  admin: Http,
  withoutSeat: WithoutSeat,
): Promise<() => Promise<void>> {
  const before = await good(admin.send("GET", LEVEL));
  const refuse = { limitResponse: { type: "Reject", queuing: null } };
  const limited = { ...ONE_SHARE, ...(withoutSeat === "refused" ? refuse : {}) };
  const body = { metadata: { annotations: { [AUTOUPDATE]: "false" } }, spec: { limited } };
  await merge(admin, LEVEL, body);
  return async () => {
    const now = await good(admin.send("GET", LEVEL));
    const resourceVersion = field(now.body, "metadata", "resourceVersion");
    const annotations = field(before.body, "metadata", "annotations");
    const metadata = { name: "workload-low", annotations, resourceVersion };
    await good(admin.send("PUT", LEVEL, { body: { metadata, spec: field(before.body, "spec") } }));
  };
}

const LIST = "/api/v1/secrets";
const STREAMED = `${LIST}?watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&timeoutSeconds=1`;
// What a client asks that has seen a newer API server: this one keeps the seat for three seconds, in
// the hope of getting there, and uses no CPU that the controller under test needs. A list of Secrets takes
// up to ten seats as soon as the server has counted them, which it does now and then: more than the level
// has, so it gets none while anything else does. A list of few objects takes one at any time.
const NOT_YET =
  "/apis/coordination.k8s.io/v1/leases?resourceVersion=9000000000&resourceVersionMatch=NotOlderThan";
const REQUESTS = [LIST, NOT_YET, STREAMED, NOT_YET, NOT_YET];
const WORKERS = 15;

export type FloodAccount = {
  readonly http: Http;
  /** Path of a Lease that it renews as any account would. */
  readonly lease: string;
  /** Closes the connection and takes the account's rights. */
  readonly remove: () => Promise<void>;
};
const AFTER_REFUSAL_MS = 50;
const BULK = { secrets: 200, bytes: 10_000 };

/** Another account's requests, as many as its workers can have answered. */
export class Flood {
  readonly #account: FloodAccount;
  readonly #workers: readonly Promise<void>[];
  #stopped = false;
  #sent = 0;
  #refused = 0;
  #leaseSent = 0;
  #leaseRefused = 0;
  #slowestMs = 0;

  constructor(account: FloodAccount) {
    this.#account = account;
    this.#workers = [...Array.from({ length: WORKERS }, (_, at) => this.#work(at)), this.#renew()];
  }

  /** Answers so far, and how many of them were 429. */
  get bulk(): { readonly sent: number; readonly refused: number } {
    return { sent: this.#sent, refused: this.#refused };
  }

  /** The same for this account's renewals of a Lease of its own, on the level of everybody. */
  get renewals(): { readonly sent: number; readonly refused: number; readonly slowestMs: number } {
    return { sent: this.#leaseSent, refused: this.#leaseRefused, slowestMs: this.#slowestMs };
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await Promise.all(this.#workers);
  }

  async #work(at: number): Promise<void> {
    const request = REQUESTS[at % REQUESTS.length] ?? LIST;
    while (!this.#stopped) {
      const { status } = await this.#account.http.send("GET", request);
      this.#sent++;
      if (status !== 429) continue;
      this.#refused++;
      await delay(AFTER_REFUSAL_MS);
    }
  }

  async #renew(): Promise<void> {
    const { http, lease: path } = this.#account;
    while (!this.#stopped) {
      const body = { spec: { renewTime: new Date().toISOString().replace("Z", "000Z") } };
      const contentType = "application/merge-patch+json";
      const began = performance.now();
      const { status } = await http.send("PATCH", path, { body, contentType });
      this.#slowestMs = Math.max(this.#slowestMs, performance.now() - began);
      this.#leaseSent++;
      if (status === 429) this.#leaseRefused++;
      await delay(2 * AFTER_REFUSAL_MS);
    }
  }
}

/** Makes an account `flood` in the namespace, with much to list. */
export async function floodAccount(
  access: ClusterAccess,
  admin: Http,
  namespace: string,
): Promise<FloodAccount> {
  const name = `flood-${namespace}`;
  const create = (path: string, body: unknown): Promise<Answer> =>
    good(admin.send("POST", path, { body }));
  const inside = `/api/v1/namespaces/${namespace}`;
  await create(`${inside}/serviceaccounts`, { metadata: { name: "flood" } });
  const rules = [
    { apiGroups: [""], resources: ["secrets"], verbs: ["list", "watch"] },
    { apiGroups: ["coordination.k8s.io"], resources: ["leases"], verbs: ["list", "patch"] },
  ];
  await create(`${RBAC}/clusterroles`, { metadata: { name }, rules });
  await create(`${RBAC}/clusterrolebindings`, {
    metadata: { name },
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name },
    subjects: [{ kind: "ServiceAccount", name: "flood", namespace }],
  });
  const leases = `/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases`;
  await create(leases, {
    metadata: { name: "flood" },
    spec: { holderIdentity: "flood", leaseDurationSeconds: 15 },
  });
  const value = "x".repeat(BULK.bytes);
  for (let at = 0; at < BULK.secrets; at++)
    await create(`${inside}/secrets`, { metadata: { name: `bulk-${at}` }, stringData: { value } });
  const body = { spec: { expirationSeconds: 3600 } };
  const { body: made } = await create(`${inside}/serviceaccounts/flood/token`, body);
  const http = openCluster(access, String(field(made, "status", "token")));
  return {
    http,
    lease: `${leases}/flood`,
    remove: async () => {
      await http.close();
      await admin.send("DELETE", `${RBAC}/clusterrolebindings/${name}`);
      await admin.send("DELETE", `${RBAC}/clusterroles/${name}`);
    },
  };
}

/** A merge patch that is a success. */
export function merge(http: Http, path: string, body: unknown): Promise<Answer> {
  return good(http.send("PATCH", path, { body, contentType: "application/merge-patch+json" }));
}

/** An answer that is a success. */
export async function good(answering: Promise<Answer>): Promise<Answer> {
  const answer = await answering;
  if (answer.status < 300) return answer;
  throw new Error(`${answer.status} ${String(field(answer.body, "message"))}`);
}
