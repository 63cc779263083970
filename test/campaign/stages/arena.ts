// All that a run stands on: a control plane of its own, the accounts of controller and tenant, the proxy
// between, the watchers and the actors.
import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import type { Ending } from "../../../packages/kube/testing/fault-proxy.ts";
import { Webhook } from "../../support/api-server/webhook.ts";
import { seeded } from "../../../packages/kube/testing/random.ts";
import { AskedJudge } from "../judges/asked-judge.ts";
import { everybodyPublishes, type Circumstances } from "../circumstances.ts";
import { Disturbance } from "../faults/disturbance.ts";
import { Expectations } from "../judges/expectations.ts";
import { Neighbours } from "../actors/neighbours.ts";
import { Pace } from "../judges/pace.ts";
import { Platform } from "../actors/platform.ts";
import { Tenant, tenantToken } from "../actors/tenant.ts";
import type { Violations } from "../judges/violations.ts";
import { RequestJudge } from "../judges/request-judge.ts";
import { SeenWorld } from "../judges/seen-world.ts";
import { proxiedCluster } from "./proxied-server.ts";

const BINDINGS = ["secretcast-guardrail-create", "secretcast-guardrail"].map(
  (name) => `validatingadmissionpolicybinding/${name}`,
);
const ETCD_BYTES = 8 * 2 ** 30;

export type Arena = Awaited<ReturnType<typeof openArena>>;

export type ArenaOptions = {
  readonly assets: string;
  readonly seed: number;
  readonly around: Circumstances;
  readonly violations: Violations;
  readonly endings: Ending;
};

export async function openArena({ assets, seed, around, violations, endings }: ArenaOptions) {
  const server = await proxiedCluster(assets, endings, { etcdQuotaBytes: ETCD_BYTES });
  const { cluster, admin, client, proxy } = server;
  if (!around.guardrail)
    execFileSync("kubectl", ["--kubeconfig", cluster.kubeconfig, "delete", ...BINDINGS], {
      stdio: ["ignore", "ignore", "inherit"],
    });
  const [stop, tenantStop] = [new AbortController(), new AbortController()];
  const optIn = everybodyPublishes(around);
  const marker = `planted-${randomBytes(12).toString("hex")}-`;
  const pace = new Pace(admin, stop.signal);
  const writes = new RequestJudge(violations);
  const asked = new AskedJudge(violations);
  proxy.onWrite = (write) => {
    writes.take(write);
    asked.write(write);
  };
  const seen = new SeenWorld({
    client,
    kinds: ["Secret"],
    metadataOnly: true,
    onChange: (_, raw) => raw && writes.see(raw),
    onLost: (why) => violations.add("a watcher that sees no more", why),
  });
  await seen.begin(stop.signal);
  const disturbance = new Disturbance();
  const expectations = new Expectations(violations, {
    slackMs: () => pace.slackMs(),
    disturbedMs: (change) => disturbance.disturbedMs(change),
  });
  const platform = new Platform(admin, { chance: seeded(seed + 1), marker });
  const neighbours = new Neighbours({
    admin,
    client,
    platform,
    expectations,
    violations,
    chance: seeded(seed + 2),
    graceMs: around.graceMs,
    optIn,
  });
  const tenant = new Tenant(cluster, await tenantToken(admin, optIn ? "true" : undefined), {
    chance: seeded(seed + 3),
    marker,
    stop: tenantStop.signal,
  });
  const webhook = await Webhook.start();
  endings.after(async () => {
    stop.abort();
    tenantStop.abort();
    neighbours.stop();
    await Promise.all([tenant.close(), webhook.stop(), pace.ended()]);
  });
  return {
    ...server,
    endings,
    around,
    violations,
    marker,
    disturbance,
    pace,
    asked,
    writes,
    expectations,
    platform,
    neighbours,
    tenant,
    webhook,
    /** The tenant stops at once. */
    stopTenant: (): void => tenantStop.abort(),
  };
}
