// `--only-names` beside the usual mode, in one run on one real API server with 100,000 foreign Secrets: what a
// start receives, memory, repairs, fan-outs, requests at rest, and what changes of foreign Secrets cost the API
// server. Both modes run under one account, so that admission and RBAC cost the same.
import { readdirSync, readlinkSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { field } from "../test/support/api-server/http.ts";
import { eventually } from "../test/support/time/eventually.ts";
import { auditMark, requestsSince, shown, sumOf, type Requests } from "./audit.ts";
import { relayed } from "./byte-relay.ts";
import {
  apiServerPid,
  calm,
  FLAGS,
  inParallel,
  numbered,
  realCluster,
  type RealCluster,
} from "./cluster.ts";
import { foreignBodies, load } from "./load.ts";
import { fineCpuMs } from "./proc.ts";
import { Program } from "./program.ts";
import { median, quantile, scoped, sum, type Bench, type How } from "./scorecard.ts";

type Mode = "wide" | "names";
const MODES = ["wide", "names"] as const;
type ByMode<T> = Readonly<Record<Mode, T>>;

const NAME = "registry";
const MODE_FLAGS: ByMode<Readonly<Record<string, string>>> = {
  wide: FLAGS,
  names: { ...FLAGS, "only-names": NAME },
};
const FIFTY = numbered("name", 50);
const MIB = 2 ** 20;
/** At most. A slower machine changes fewer. */
const CHANGES_A_SECOND = 1000;
const CHANGERS = 16;
/** A place is written at most once in this time. */
const A_PLACE_MS = 1000;
/** Fewer than 16 syncs a second, which is the limit for long. */
const BETWEEN_REPAIRS_MS = 100;
const REST_S = 30;

type Stage = {
  readonly cluster: RealCluster;
  readonly teams: readonly string[];
  /** Where the foreign Secrets are. */
  readonly homes: readonly string[];
  readonly foreign: number;
};

export const names: Bench = {
  name: "names",
  about: "--only-names beside the usual mode, with 100,000 foreign Secrets on a real API server",
  alone: true,
  parts: ["starts", "work", "fifty", "changes"],
  async run(how) {
    const cluster = await realCluster(how);
    if (!cluster) return;
    const given = Number(process.env["BENCH_FOREIGN_SECRETS"] ?? 100_000);
    const foreign = how.quick ? 2000 : given;
    const stage = {
      cluster,
      teams: numbered("team", how.quick ? 10 : 100),
      homes: numbered("home", 20),
      foreign,
    };
    await cluster.createNamespaces([...stage.teams, ...stage.homes]);
    const idle = await scoped(how, (own) => idleMemory(own, cluster));
    const seconds = await load(cluster, foreignBodies(stage.homes, foreign));
    how.say(`${foreign} foreign Secrets of 2 KB, made in ${seconds.toFixed(0)} s`);
    await calm();
    const wants = (part: string): boolean => how.parts.length === 0 || how.parts.includes(part);
    if (wants("starts")) await starts(how, stage, idle);
    await cluster.publish(NAME, "team-*");
    if (wants("work")) await work(how, stage);
    if (wants("fifty")) await fifty(how, stage);
    if (wants("changes")) await changes(how, stage);
  },
};

/** What the program takes with an empty cluster. */
async function idleMemory(how: How, cluster: RealCluster): Promise<number> {
  const program = new Program(how, cluster.kubeconfig, MODE_FLAGS.names);
  return settledRss(how, program);
}

async function settledRss(how: How, program: Program): Promise<number> {
  await settled(program);
  await delay(how.quick ? 1000 : 20_000);
  return program.memory.rssMiB;
}

/** Until the first sync has left nothing to do. */
async function settled(program: Program): Promise<void> {
  const converged = (): Promise<number> =>
    program.metric("secretcast_last_converged_timestamp_seconds");
  await eventually("the first sync is over", async () => (await converged()) > 0, 120_000);
}

async function starts(how: How, { cluster }: Stage, idle: number): Promise<void> {
  const received: Record<Mode, number> = { wide: 0, names: 0 };
  for (const mode of MODES)
    await scoped(how, async (own) => {
      const relay = await relayed(own, cluster.kubeconfig, cluster.access.url);
      const program = new Program(own, relay.kubeconfig, MODE_FLAGS[mode]);
      const readyMs = await program.readyMs();
      received[mode] = relay.bytes();
      const rss = await settledRss(how, program);
      how.figure(`${mode}: from start to ready`, readyMs / 1000, "s");
      how.figure(`${mode}: received until then`, received[mode] / MIB, "MiB");
      const most = mode === "names" ? { atMost: idle + 5 } : {};
      how.figure(`${mode}: RSS`, rss, "MiB", most);
      how.figure(`${mode}: RSS at the peak`, program.memory.peakMiB, "MiB");
    });
  how.figure("RSS with an empty cluster", idle, "MiB");
  how.figure(
    "names: received at the start, of the usual mode's",
    (100 * received.names) / received.wide,
    "%",
    how.quick ? {} : { atMost: 1 },
  );
}

type Worked = { readonly fanOuts: number[]; readonly edited: number[]; readonly deleted: number[] };

/** Fan-outs, repairs and rest, the modes in turns. */
async function work(how: How, stage: Stage): Promise<void> {
  const worked: ByMode<Worked> = {
    wide: { fanOuts: [], edited: [], deleted: [] },
    names: { fanOuts: [], edited: [], deleted: [] },
  };
  const rest: Record<Mode, Requests> = { wide: new Map(), names: new Map() };
  const turns = how.quick ? MODES : [...MODES, ...MODES];
  for (const [turn, mode] of turns.entries())
    await scoped(how, async (own) => {
      const program = new Program(own, stage.cluster.kubeconfig, MODE_FLAGS[mode]);
      await settled(program);
      await calm();
      for (let round = 0; round < (how.quick ? 2 : 7); round++)
        worked[mode].fanOuts.push(await fanOut(stage.cluster, program, `${turn}-${round}`));
      await repairs(stage, worked[mode]);
      await calm();
      const from = auditMark(stage.cluster);
      await delay(how.quick ? 2000 : REST_S * 1000);
      rest[mode] = requestsSince(stage.cluster, from);
    });
  for (const mode of MODES) {
    const { fanOuts, edited, deleted } = worked[mode];
    const target = mode === "names" ? { atMost: 20 } : {};
    how.figure(`${mode}: fan-out to ${stage.teams.length}`, median(fanOuts), "ms");
    for (const [kind, times] of Object.entries({ edited, deleted })) {
      const name = `${mode}: ${kind} copy right again`;
      how.figure(`${name}, p50`, median(times), "ms", target);
      how.figure(`${name}, p99`, quantile(times, 0.99), "ms");
    }
    how.say(`${mode}: at rest: ${shown(rest[mode])}`);
    const asked = sumOf(rest[mode], (verb) => verb !== "watch");
    how.count(`${mode}: requests at rest, watches aside`, asked, { atMost: 0 });
  }
  how.figure(
    "names: fan-out, of the usual mode's time",
    median(worked.names.fanOuts) / median(worked.wide.fanOuts),
    "x",
    { atMost: 1.1 },
  );
}

async function fanOut(cluster: RealCluster, program: Program, text: string): Promise<number> {
  const { mark } = program;
  const data = { value: Buffer.from(text).toString("base64") };
  const began = performance.now();
  await cluster.send("PATCH", `/api/v1/namespaces/shared/secrets/${NAME}`, { data });
  const { at } = await program.said("synced", mark);
  await delay(A_PLACE_MS);
  return at - began;
}

/** Each copy is edited once and deleted once, which is no fight. */
async function repairs({ cluster, teams }: Stage, { edited, deleted }: Worked): Promise<void> {
  const source = `/api/v1/namespaces/shared/secrets/${NAME}`;
  const wanted = field(await cluster.send("GET", source), "data", "value");
  const watch = new CopyWatch(cluster);
  try {
    for (const [times, method, body] of [
      [edited, "PATCH", { data: { value: "d3Jvbmc=" } }],
      [deleted, "DELETE", undefined],
    ] as const) {
      for (const team of teams) {
        const right = watch.next(team, (copy) => field(copy, "data", "value") === wanted);
        const before = performance.now();
        await cluster.send(method, `/api/v1/namespaces/${team}/secrets/${NAME}`, body);
        times.push((await right) - before);
        await delay(BETWEEN_REPAIRS_MS);
      }
      await delay(A_PLACE_MS);
    }
  } finally {
    await watch.stop();
  }
}

type Awaited = { readonly fits: (copy: unknown) => boolean; readonly found: (at: number) => void };

/** Our own watch of all copies. */
class CopyWatch {
  readonly #awaited = new Map<string, Awaited>();
  readonly #stop = new AbortController();
  readonly #running: Promise<void>;

  constructor(cluster: RealCluster) {
    this.#running = this.#run(cluster).catch(() => undefined);
  }

  /** When the copy in `namespace` was changed, and then fits again. */
  next(namespace: string, fits: Awaited["fits"]): Promise<number> {
    let changed = false;
    return new Promise((found) => {
      const after = (copy: unknown): boolean => {
        changed ||= copy === undefined || !fits(copy);
        return changed && fits(copy);
      };
      this.#awaited.set(namespace, { fits: after, found });
    });
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  async #run({ http }: RealCluster): Promise<void> {
    const path = `/api/v1/secrets?watch=true&fieldSelector=metadata.name%3D${NAME}`;
    for await (const event of http.lines(path, this.#stop.signal)) {
      const copy = field(event, "object");
      const gone = field(event, "type") === "DELETED";
      const namespace = String(field(copy, "metadata", "namespace"));
      const awaited = this.#awaited.get(namespace);
      if (!awaited?.fits(gone ? undefined : copy)) continue;
      this.#awaited.delete(namespace);
      awaited.found(performance.now());
    }
  }
}

/** As many names as there may be, of both kinds. */
async function fifty(how: How, { cluster }: Stage): Promise<void> {
  const both = { ...FLAGS, "config-maps": "true" };
  const given = { wide: both, names: { ...both, "only-names": [NAME, ...FIFTY.slice(1)].join() } };
  for (const mode of MODES)
    await scoped(how, async (own) => {
      const from = auditMark(cluster);
      const program = new Program(own, cluster.kubeconfig, given[mode]);
      const readyMs = await program.readyMs();
      const rss = await settledRss(how, program);
      const what = mode === "names" ? "50 names of 2 kinds" : "all names of 2 kinds";
      how.figure(`${what}: from start to ready`, readyMs / 1000, "s");
      how.figure(`${what}: RSS`, rss, "MiB");
      how.figure(`${what}: connections`, sockets(program.pid), "");
      how.say(`${what}: ${shown(requestsSince(cluster, from))}`);
    });
}

/** Open sockets of a process. */
function sockets(pid: number): number {
  const folder = `/proc/${pid}/fd`;
  const targets = readdirSync(folder).map((fd) => {
    try {
      return readlinkSync(`${folder}/${fd}`);
    } catch {
      return "";
    }
  });
  return targets.filter((target) => target.startsWith("socket:")).length;
}

/** CPU of the API server and the controller while foreign Secrets change, in turns. */
async function changes(how: How, stage: Stage): Promise<void> {
  const server = apiServerPid(stage.cluster);
  const seconds = how.quick ? 2 : 20;
  const cpu: Record<Mode, number[]> = { wide: [], names: [] };
  const own: Record<Mode, number[]> = { wide: [], names: [] };
  const rates: number[] = [];
  for (const mode of how.quick ? MODES : [...MODES, ...MODES, ...MODES])
    await scoped(how, async (scope) => {
      const program = new Program(scope, stage.cluster.kubeconfig, MODE_FLAGS[mode]);
      await settled(program);
      await calm();
      const [before, ownBefore] = [fineCpuMs(server), fineCpuMs(program.pid)];
      const count = await change(stage, seconds);
      await calm();
      cpu[mode].push((fineCpuMs(server) - before) / count);
      own[mode].push((fineCpuMs(program.pid) - ownBefore) / count);
      rates.push(count / seconds);
    });
  how.figure("changes of foreign Secrets", sum(rates) / rates.length, "1/s");
  for (const mode of MODES) {
    how.figure(`${mode}: CPU of the API server a change`, median(cpu[mode]), "ms");
    how.figure(`${mode}: CPU of the controller a change`, median(own[mode]), "ms");
  }
  how.figure(
    "names: CPU of the API server, of the usual mode's",
    median(cpu.names) / median(cpu.wide),
    "x",
    { atMost: 1 },
  );
}

/** Changes foreign Secrets for a time. Returns how many were changed. */
async function change({ cluster, homes, foreign }: Stage, seconds: number): Promise<number> {
  const began = performance.now();
  let count = 0;
  function* left(): Iterable<number> {
    while (performance.now() - began < seconds * 1000) yield count++;
  }
  await inParallel(left(), CHANGERS, async (at) => {
    const early = (1000 * at) / CHANGES_A_SECOND - (performance.now() - began);
    if (early > 0) await delay(early);
    const which = at % foreign;
    const path = `/api/v1/namespaces/${homes[which % homes.length]}/secrets/foreign-${which}`;
    await cluster.send("PATCH", path, { metadata: { annotations: { changed: String(at) } } });
  });
  return count;
}
