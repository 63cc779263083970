// A leader told to end, or killed: how long nobody leads. Once by the election alone, thousands of times on
// a clock of its own, which no busy machine disturbs; and once by processes on a real API server, one
// after the other, while users go on changing sources and namespaces: until the next one's first write,
// and that nobody's own Secret is touched, no copy is wrong and the Lease changes hands once each time.
// Several Leases at once, because most of it is waiting.
import { setTimeout as delay } from "node:timers/promises";
import { LEASE_TIMES } from "../src/controller/settings/config.ts";
import { candidate } from "../packages/kube/testing/candidate.ts";
import { LeaseServer } from "../packages/kube/testing/lease-server.ts";
import { FakeClock } from "../packages/kube/testing/fake-clock.ts";
import { allowLeases, LeadStage } from "../test/support/scenes/lead-stage.ts";
import type { WiredReplica } from "../test/support/programs/wired-replica.ts";
import { eventually } from "../packages/kube/testing/eventually.ts";
import { numbered, realCluster, type RealCluster } from "./cluster.ts";
import { imageCommand } from "./image.ts";
import { quantile, runParts, sum, type Bench, type How, type Part } from "./scorecard.ts";

const SIGNALS = ["SIGTERM", "SIGKILL"] as const;
type Ending = (typeof SIGNALS)[number];
type HandOver = { readonly by: Ending; readonly tookMs: number };

/** A stand-by looks every 1.5 to 3.3 s: it sees the last renewal so late, waits 15 s, and looks once more. */
const MOST_S = { SIGTERM: 5, SIGKILL: 22 } as const;

const PARTS: Readonly<Record<string, Part>> = { election: elections, processes };

export const failover: Bench = {
  name: "failover",
  about:
    "leaders told to end and killed, one after the other under load: until the next one writes",
  parts: Object.keys(PARTS),
  run: (how) => runParts(how, PARTS),
};

async function elections(how: How): Promise<void> {
  for (const by of SIGNALS) {
    const took: number[] = [];
    for (let at = 0; at < (how.quick ? 100 : 5000); at++) took.push((await election(by)) / 1000);
    tell(how, `nobody leads after ${by}, by the election alone`, took, MOST_S[by]);
  }
}

/** Milliseconds from the end of a leader, at a random moment, to the next. */
async function election(by: Ending): Promise<number> {
  const clock = new FakeClock();
  clock.chance = () => Math.random();
  const server = new LeaseServer();
  const leader = candidate(clock, server, "leader", LEASE_TIMES);
  await clock.advance(1000 * Math.random());
  const next = candidate(clock, server, "next", LEASE_TIMES);
  await clock.advance(5000 + 5000 * Math.random());
  const began = clock.monotonic();
  if (by === "SIGTERM") leader.cancel();
  else leader.client.hang = true;
  while (!next.elector.isLeader) await clock.advance(clock.untilNext ?? 1);
  return clock.monotonic() - began;
}

function tell(how: How, name: string, seconds: readonly number[], atMost: number): void {
  for (const [word, q] of [
    ["p50", 0.5],
    ["p99", 0.99],
    ["max", 1],
  ] as const)
    how.figure(`${name}, ${word}`, quantile(seconds, q), "s", { atMost });
}

async function processes(how: How): Promise<void> {
  const cluster = await realCluster(how);
  if (!cluster) return;
  const [groups, each] = how.quick ? [1, 2] : [3, 20];
  const names = numbered("failover", groups);
  await allowLeases(cluster.http, names);
  const runs = await Promise.all(names.map((name, at) => handOvers(how, cluster, name, at, each)));
  for (const by of SIGNALS) {
    const took = runs.flat().flatMap((one) => (one.by === by ? [one.tookMs / 1000] : []));
    how.say(`${by}, ${took.length} times: ${took.map((s) => s.toFixed(2)).join(", ")} s`);
    tell(how, `first write after ${by}`, took, MOST_S[by]);
  }
}

async function handOvers(
  how: How,
  { access, http, kubeconfig }: RealCluster,
  name: string,
  at: number,
  count: number,
): Promise<readonly HandOver[]> {
  const spawning = { command: imageCommand() };
  const own = { name, subnet: at + 1, places: 5, sources: 3, spawning };
  const stage = new LeadStage({ t: how, access, http, kubeconfig, ...own });
  await stage.prepare();
  const replicas = [await stage.startReplica(), await stage.startReplica()];
  await eventually("one leads", () => replicas.some(({ leading }) => leading));
  await stage.allRight();
  const load = stage.startLoad();
  const found: HandOver[] = [];
  for (let turn = 0; turn < count; turn++) {
    await delay(500);
    const by = SIGNALS[turn % SIGNALS.length] ?? "SIGTERM";
    found.push({ by, tookMs: await handOver(replicas, by) });
  }
  await load.end();
  await stage.allRight();
  const { transitions } = await stage.lease();
  const { strays, leaders, writes } = stage.judge();
  how.figure(`${name}: writes carried out`, sum([...writes.values()]), "");
  how.count(`${name}: hand-overs`, transitions, { atMost: count, atLeast: count });
  how.count(`${name}: leaders seen`, leaders.length - 1, { atMost: count });
  how.count(`${name}: writes by who led no more`, strays.length, { atMost: 0 });
  for (const desiredCopy of replicas) await desiredCopy.process.stop();
  await stage.nothingIsLeft();
  how.say(`${name}: all copies right, strangers untouched, a further pass wrote nothing`);
  return found;
}

async function handOver(replicas: readonly WiredReplica[], by: Ending): Promise<number> {
  const old = await eventually("one leads", () => replicas.find(({ leading }) => leading));
  const next = replicas.find((desiredCopy) => desiredCopy !== old);
  if (!next) throw new Error("there is no stand-by");
  await eventually("the other waits", () => next.says("waiting for the lease"));
  const began = performance.now();
  process.kill(old.process.pid, by);
  await eventually("the other leads", () => next.leading);
  await eventually(
    "the other writes",
    async () => (await next.process.metric("secretcast_writes_total", 'result="ok"')) > 0,
  );
  const took = performance.now() - began;
  await old.process.ended;
  old.startAgain();
  return took;
}
