// An API server that is asked for more than it gives: half of all requests answered 429 with Retry-After,
// whatever they are; and a server that takes so many writes a second and refuses the rest. Does it
// converge, is the Lease kept, what does the process hold, and how long does a fresh namespace wait.
import { readFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { systemClock } from "../packages/kube/time/clock.ts";
import { TokenBucket } from "../packages/kube/time/token-bucket.ts";
import { controllerToken } from "../test/support/api-server/account.ts";
import { startFaultProxy, type FaultProxy } from "../packages/kube/testing/fault-proxy.ts";
import { field, openHttp } from "../packages/sandbox/testing/http.ts";
import { LeaseWitness } from "../test/support/api-server/lease-witness.ts";
import { kubeConfigFile, kubeConfigFor } from "../packages/kube/testing/kubeconfig-text.ts";
import { refusal } from "../test/support/scenes/proxied.ts";
import { eventually } from "../packages/kube/testing/eventually.ts";
import { seeded } from "../packages/kube/testing/random.ts";
import {
  LEADER_FLAGS,
  numbered,
  realCluster,
  RENEW_DEADLINE_S,
  type RealCluster,
} from "./cluster.ts";
import { freshFigures, freshNamespace, FreshNamespaces, watchCopies } from "./fresh-namespaces.ts";
import { Program } from "./program.ts";
import { fan } from "./scale.ts";
import type { Refusal } from "./scripted-server.ts";
import { runParts, type Bench, type How, type Part } from "./scorecard.ts";

const RETRY_AFTER_S = 1;
const GIB = 2 ** 30;
const LIMIT_MIB = 384;
const PATIENCE_MS = 900_000;

type Load = {
  readonly name: string;
  readonly sources: number;
  readonly namespaces: number;
  readonly limitMiB?: number;
  readonly patienceMs?: number;
  /** Whether the proxy refuses a request. */
  readonly refuses: (writes: boolean) => boolean;
};

const PARTS: Readonly<Record<string, Part>> = {
  half: (how) => halfRefused(how, how.quick ? [2, 10] : [20, 500]),
  limited,
  scripted,
};
/** Takes an hour, and is asked for by name. */
const LARGE: Readonly<Record<string, Part>> = {
  large: (how) =>
    halfRefused(how, how.quick ? [2, 10] : [200, 2000], {
      limitMiB: 512,
      patienceMs: 4 * 3_600_000,
    }),
};

export const overload: Bench = {
  name: "overload",
  parts: [...Object.keys(PARTS), ...Object.keys(LARGE)],
  about: "429 with Retry-After for half of all requests, or above a rate: copies, lease, memory",
  run: (how) => runParts(how, how.parts.length > 0 ? { ...PARTS, ...LARGE } : PARTS),
};

async function halfRefused(
  how: How,
  [sources, namespaces]: readonly [sources: number, namespaces: number],
  more: Pick<Load, "limitMiB" | "patienceMs"> = {},
): Promise<void> {
  const chance = seeded(18);
  const refuses = (): boolean => chance() < 0.5;
  await overloaded(how, { name: "half of all requests", sources, namespaces, refuses, ...more });
}

async function limited(how: How): Promise<void> {
  const bucket = new TokenBucket({ clock: systemClock, perSecond: 100, burst: 20 });
  await overloaded(how, {
    name: "above 100 writes a second",
    sources: how.quick ? 2 : 10,
    namespaces: how.quick ? 50 : 1000,
    refuses: (writes) => writes && !bucket.tryTake(),
  });
}

async function overloaded(how: How, load: Load): Promise<void> {
  const { limitMiB = LIMIT_MIB, patienceMs = PATIENCE_MS } = load;
  const cluster = await realCluster(how, { etcdQuotaBytes: 8 * GIB });
  if (!cluster) return;
  await cluster.createNamespaces(numbered("team", load.namespaces));
  await cluster.publish("first", "fresh-*");
  for (const name of numbered("source", load.sources)) await cluster.publish(name, "team-*");
  const counts = { refused: 0, all: 0 };
  const proxy = await proxyBefore(how, cluster);
  const kubeconfig = kubeConfigFile(how, kubeConfigFor(proxy.url));
  const program = new Program(how, kubeconfig, LEADER_FLAGS, limitMiB);
  await program.said("leading");
  const began = performance.now();
  const [etcdBefore, readBefore] = [await etcdBytes(cluster), program.readBytes];
  const witness = new LeaseWitness(cluster.http);
  how.after(() => witness.stop());
  const stalls = watchStalls(how);
  proxy.rule = ({ method, path }) => {
    proxy.forget();
    counts.all++;
    if (!load.refuses(method !== "GET" && path.includes("/secrets"))) return undefined;
    counts.refused++;
    const headers = { "retry-after": String(RETRY_AFTER_S) };
    return { ...refusal(429, "TooManyRequests"), headers };
  };
  const seen = watchCopies(how, cluster);
  const fresh = new FreshNamespaces((name) => freshNamespace(cluster, seen, name, patienceMs));
  const wanted = load.sources * load.namespaces;
  const right = await untilThere(how, cluster, wanted, { program, patienceMs });
  const seconds = (performance.now() - began) / 1000;
  const waits = await fresh.stop();
  const calmMs = how.quick ? 1000 : CALM_MS;
  const writesAfter = await writesOnceCurrent(program, wanted + waits.length, calmMs);
  await witness.stop();
  how.say(`${load.name}: ${load.sources} sources, ${load.namespaces} namespaces`);
  how.count("copies right", right, { atLeast: wanted });
  how.count("writes when all is right", writesAfter, { atMost: 0 });
  how.figure("requests answered 429", counts.refused / counts.all, "of all");
  how.figure("until all are there", seconds, "s");
  how.figure("copies/s", wanted / seconds, "1/s");
  const { holders, renewals, oldestMs } = witness;
  how.say(`${renewals} renewals seen`);
  how.count("holders of the Lease", holders.length, { atMost: 1 });
  how.figure("the oldest renewTime", oldestMs / 1000, "s", { atMost: RENEW_DEADLINE_S });
  how.figure("longest that the proxy's process stood still", stalls.longestMs / 1000, "s");
  freshFigures(how, waits);
  const { peakMiB } = program.memory;
  how.figure("RSS at the peak", peakMiB, "MiB", { atMost: limitMiB });
  const copies = wanted + waits.length;
  const written = ((await etcdBytes(cluster)) - etcdBefore) / copies;
  how.figure("in etcd, a copy and all that it took", written, "bytes");
  const read = (program.readBytes - readBefore) / copies;
  how.figure("read by the controller, a copy", read, "bytes");
  const copy = { namespace: "team-0", name: "source-0" };
  how.figure("one copy in etcd", await keptBytes(cluster, copy), "bytes");
  const path = `/api/v1/namespaces/${copy.namespace}/secrets/${copy.name}`;
  const json = JSON.stringify(await cluster.send("GET", path)).length;
  how.figure("one copy as JSON, as watches have it", json, "bytes");
}

/** How long this process, through which all requests go, was held up at most by others or by itself. */
function watchStalls(how: How): { readonly longestMs: number } {
  const seen = { longestMs: 0 };
  let last = performance.now();
  const timer = setInterval(() => {
    const now = performance.now();
    const stoodMs = now - last - STALL_LOOK_MS;
    if (stoodMs > STALL_TOLD_MS) how.say(`this process stood still for ${Math.round(stoodMs)} ms`);
    seen.longestMs = Math.max(seen.longestMs, stoodMs);
    last = now;
  }, STALL_LOOK_MS);
  how.after(() => clearInterval(timer));
  return seen;
}

/** What etcd holds for one Secret. */
async function keptBytes(
  cluster: RealCluster,
  { namespace, name }: { readonly namespace: string; readonly name: string },
): Promise<number> {
  const path = `/registry/secrets/${namespace}/${name}`;
  const key = Buffer.from(path).toString("base64");
  const found = field(await etcdSays(cluster, "kv/range", { key }), "kvs", 0, "value");
  return Buffer.from(String(found), "base64").length + path.length;
}

/** Of its data as it is in use, the versions that are not compacted yet included. */
async function etcdBytes(cluster: RealCluster): Promise<number> {
  return Number(field(await etcdSays(cluster, "maintenance/status", {}), "dbSizeInUse"));
}

async function etcdSays({ access }: RealCluster, what: string, body: object): Promise<unknown> {
  const etcd = openHttp({ url: access.etcdUrl });
  try {
    return (await etcd.send("POST", `/v3/${what}`, { body })).body;
  } finally {
    await etcd.close();
  }
}

/** 50 sources for 2,000 namespaces, on a server that is fast enough for them. */
async function scripted(how: How): Promise<void> {
  const [sources, namespaces] = how.quick ? [5, 40] : [50, 2000];
  const bucket = new TokenBucket({ clock: systemClock, perSecond: 2000, burst: 200 });
  const refuse = (): Refusal | undefined =>
    bucket.tryTake() ? undefined : { status: 429, retryAfterS: RETRY_AFTER_S };
  how.say("at most 2,000 writes a second are taken");
  const { program, seen } = await fan(how, { sources, namespaces, limitMiB: LIMIT_MIB, refuse });
  how.count("written again", seen.again, { atMost: 0 });
  const cut = await program.metric("secretcast_write_failures_total", 'cause="deadline"');
  how.figure("writes cut off, because others waited", cut, "");
  how.figure("found made when tried again", seen.taken, "");
  const all = seen.refused + seen.made + seen.taken;
  how.figure("writes answered 429", seen.refused / all, "of all");
}

async function proxyBefore(how: How, cluster: RealCluster): Promise<FaultProxy> {
  const { access, kubeconfig } = cluster;
  const token = controllerToken({ ...access, controllerKubeconfig: kubeconfig });
  const ending = { after: (end: () => Promise<void>): void => how.after(end) };
  return startFaultProxy(ending, {
    url: access.url,
    ca: readFileSync(access.caFile, "utf8"),
    headers: { authorization: `Bearer ${token}` },
    keepAlive: true,
  });
}

const TOLD_EVERY_MS = 60_000;
const CALM_MS = 15_000;
const STALL_LOOK_MS = 50;
const STALL_TOLD_MS = 3000;

/** Resolves with how many right copies in team-* there are, when they are all there or it took too long. */
async function untilThere(
  how: How,
  cluster: RealCluster,
  wanted: number,
  { program, patienceMs }: { readonly program: Program; readonly patienceMs: number },
): Promise<number> {
  const deadline = performance.now() + patienceMs;
  for (let reported = performance.now(); ;) {
    if (program.ended !== undefined) throw new Error(`the controller ended: ${program.ended}`);
    const there = await copiesIn(cluster);
    if (there >= wanted || performance.now() > deadline) return there;
    if (performance.now() - reported > TOLD_EVERY_MS) {
      reported = performance.now();
      how.say(`${there} copies are there, ${Math.round(program.memory.peakMiB)} MiB at the peak`);
    }
    // The count itself is work for the server: it takes a twentieth of the time at most.
    await delay(Math.max(500, there / 5));
  }
}

/** Waits until the controller finds so many copies current, and counts its writes in the `calmMs` that follow. */
async function writesOnceCurrent(
  program: Program,
  wanted: number,
  calmMs: number,
): Promise<number> {
  const writes = (): Promise<number> => program.metric("secretcast_writes_total");
  const current = async (): Promise<boolean> =>
    (await program.metric("secretcast_copies", 'state="current"')) === wanted;
  await eventually("all copies are current", current, PATIENCE_MS);
  const before = await writes();
  await delay(calmMs);
  return (await writes()) - before;
}

const RIGHT = Buffer.from("one").toString("base64");

async function copiesIn(cluster: RealCluster): Promise<number> {
  let count = 0;
  for await (const { metadata, data } of cluster.copies())
    if (metadata.namespace.startsWith("team-") && data?.["value"] === RIGHT) count++;
  return count;
}
