// All that a run stands on: a control plane of its own, the accounts of controller and tenant, the proxy
// between, the watchers and the actors. `close` ends whatever was begun, in reverse order.
import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import type { ControlPlane } from "../../support/api-server/control-plane.ts";
import { seeded } from "../../support/time/random.ts";
import { Admission } from "../faults/admission.ts";
import { AuditJudge } from "../judges/audit-judge.ts";
import { everybodyPublishes, type Circumstances } from "../circumstances.ts";
import { Disturbance } from "../faults/disturbance.ts";
import { Expectations, type Change } from "../judges/expectations.ts";
import { LeaseWatch } from "../judges/lease-watch.ts";
import { Neighbours } from "../actors/neighbours.ts";
import { Pace } from "../judges/pace.ts";
import { Platform } from "../actors/platform.ts";
import { Tenant, tenantToken } from "../actors/tenant.ts";
import type { Violations } from "../judges/violations.ts";
import { RequestJudge } from "../judges/request-judge.ts";
import { SeenWorld } from "../judges/seen-world.ts";
import { proxiedCluster, reversed, type ProxiedServer } from "./proxied-server.ts";

const BINDING = "validatingadmissionpolicybinding/secretcast-guardrail";
const ETCD_BYTES = 8 * 2 ** 30;

export type Arena = ProxiedServer & {
  readonly cluster: ControlPlane;
  readonly marker: string;
  readonly disturbance: Disturbance;
  readonly pace: Pace;
  readonly lease: LeaseWatch;
  readonly audit: AuditJudge;
  readonly writes: RequestJudge;
  readonly expectations: Expectations;
  readonly platform: Platform;
  readonly neighbours: Neighbours;
  readonly tenant: Tenant;
  readonly admission: Admission;
  /** The tenant stops at once. */
  readonly stopTenant: () => void;
  readonly after: (end: () => Promise<void>) => void;
  readonly close: () => Promise<void>;
};

export async function openArena(
  assets: string,
  seed: number,
  around: Circumstances,
  violations: Violations,
): Promise<Arena> {
  const { endings, close } = reversed();
  const after: Arena["after"] = (end) => endings.after(end);
  try {
    return { ...(await furnish(assets, seed, around, violations, after)), after, close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function furnish(
  assets: string,
  seed: number,
  around: Circumstances,
  violations: Violations,
  after: Arena["after"],
): Promise<Omit<Arena, "after" | "close">> {
  const server = await proxiedCluster(assets, { after }, { etcdQuotaBytes: ETCD_BYTES });
  const { cluster, admin, client, proxy } = server;
  if (!around.guardrail)
    execFileSync("kubectl", ["--kubeconfig", cluster.kubeconfig, "delete", BINDING], {
      stdio: ["ignore", "ignore", "inherit"],
    });
  const stop = new AbortController();
  const optIn = everybodyPublishes(around);
  const marker = `planted-${randomBytes(12).toString("hex")}-`;
  const pace = new Pace(admin, stop.signal);
  const lease = new LeaseWatch(admin, violations, stop.signal);
  const writes = new RequestJudge(violations);
  proxy.onWrite = (write) => writes.take(write);
  const seen = new SeenWorld({
    client,
    kinds: ["Secret"],
    metadataOnly: true,
    onChange: (_, raw) => raw && writes.see(raw),
    onLost: (why) => violations.add("a watcher that sees no more", why),
  });
  await seen.begin(stop.signal);
  const disturbance = new Disturbance();
  const slackMs = (): number => pace.slackMs();
  const disturbedMs = (change: Change): number => disturbance.disturbedMs(change);
  const expectations = new Expectations(violations, { slackMs, disturbedMs });
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
  const tenantStop = new AbortController();
  const token = await tenantToken(admin, optIn ? "true" : undefined);
  const tenant = new Tenant(cluster, token, {
    chance: seeded(seed + 3),
    marker,
    stop: tenantStop.signal,
  });
  const admission = new Admission(admin);
  await admission.listen();
  after(async () => {
    stop.abort();
    tenantStop.abort();
    neighbours.stop();
    await Promise.all([tenant.close(), admission.close(), pace.ended(), lease.ended()]);
  });
  const audit = new AuditJudge(cluster.auditLog, violations);
  const stopTenant = (): void => tenantStop.abort();
  return {
    ...server,
    marker,
    disturbance,
    pace,
    lease,
    audit,
    writes,
    expectations,
    platform,
    neighbours,
    tenant,
    admission,
    stopTenant,
  };
}
