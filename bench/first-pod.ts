// There before the first Pod: no Pod is admitted to a new namespace before kube-controller-manager has made its
// ServiceAccount `default`. Which was first, the copy or the account, is said by their resourceVersions, which are
// revisions of etcd. Clocks only say by how much. projection runs the same rows on the same API server.
import { setTimeout as delay } from "node:timers/promises";
import { field } from "../packages/sandbox/testing/http.ts";
import { eventually } from "../packages/kube/testing/eventually.ts";
import {
  calm,
  FLAGS,
  inParallel,
  LEADER_FLAGS,
  METADATA,
  numbered,
  realCluster,
  type RealCluster,
} from "./cluster.ts";
import { foreignBodies, load } from "./load.ts";
import { Program } from "./program.ts";
import { Projection } from "./projection.ts";
import {
  median,
  quantile,
  runParts,
  scoped,
  type Bench,
  type How,
  type Target,
} from "./scorecard.ts";

/** How namespaces are made. Resolves when the last one has been. */
type Pace = (
  names: readonly string[],
  make: (name: string) => Promise<void>,
  stage: Stage,
) => Promise<void>;
type Row = { readonly name: string; readonly count: number; readonly pace: Pace };
type Targets = { readonly late?: Target; readonly first?: Target };
type Seen = { readonly revision: number; readonly at: number };
type Race = {
  /** Of the answer to the namespace's POST. */
  readonly madeAt: number;
  readonly copy: Seen;
  readonly account: Seen;
};
type Stage = {
  readonly cluster: RealCluster;
  readonly projection: Projection | undefined;
  readonly copies: Arrivals;
  readonly accounts: Arrivals;
};
/** One tool, ready and with a source for the namespaces of `team`. */
type Tool = (how: How, stage: Stage, source: string, team: string) => Promise<void>;

const SOURCE = "pull";
const APART_MS = 30;
const AT_ONCE = 16;
const BURST = 50;
const ROUNDS = 5;
const PATIENCE_MS = 120_000;
/** Of the copy after its account, p99, where namespaces come one after the other. */
const LATE: Target = { atMost: 20 };
/** Copies before their account, in a burst. */
const FIRST: Target = { atLeast: 95 };

const oneByOne: Pace = async (names, make, stage) => {
  for (const name of names) {
    await make(name);
    await stage.copies.of(name);
    await stage.accounts.of(name);
  }
};
const spaced: Pace = async (names, make) => {
  const began = performance.now();
  const making = names.map(async (name, at) => {
    await delay(Math.max(0, began + at * APART_MS - performance.now()));
    await make(name);
  });
  await Promise.all(making);
};
const together: Pace = (names, make) => inParallel(names, AT_ONCE, make);
const bursts: Pace = async (names, make, stage) => {
  for (let at = 0; at < names.length; at += BURST) {
    const burst = names.slice(at, at + BURST);
    await Promise.all(burst.map(make));
    for (const name of burst) await stage.copies.of(name);
  }
};

const ours =
  (flags: Readonly<Record<string, string>>, replicas = 1): Tool =>
  async (how, stage, source, team) => {
    const { cluster } = stage;
    await cluster.publish(source, `${team}-*`);
    for (let at = 0; at < replicas; at++) {
      const program = new Program(how, cluster.kubeconfig, flags);
      await program.said(at === 0 ? "started worker" : "caches filled");
    }
    await warm(stage, team);
  };
const theirs: Tool = async (how, stage, source, team) => {
  const { projection } = stage;
  await projection?.publish(source, team);
  await projection?.start(how, source);
  await warm(stage, team);
};

export const firstPod: Bench = {
  name: "first-pod",
  about:
    "whether a new namespace has its copy before it can start a Pod, with projection beside it",
  parts: ["rows", "thousand", "writes", "secrets", "only-names", "replicas"],
  async run(how) {
    const size = (count: number): number => (how.quick ? Math.ceil(count / 15) : count);
    const each = (beside: string): Row => ({
      name: `${beside}, one each 30 ms`,
      count: size(150),
      pace: spaced,
    });
    const thousand = { name: "1,000 in bursts of 50", count: size(1000), pace: bursts };
    const named = { ...FLAGS, "only-names": SOURCE };
    // The rows are enough for a quick run.
    const isSmoke = how.quick && how.parts.length === 0;
    await runParts(isSmoke ? { ...how, parts: ["rows"] } : how, {
      rows: (own) => rows(own, size),
      thousand: (own) => alone(own, thousand, ours(FLAGS), { first: FIRST }),
      writes: (own) => alone(own, each("beside 10,000 writes"), besideWrites(size(500))),
      secrets: (own) => alone(own, each("beside 30,000 Secrets"), besideSecrets(size(30_000))),
      "only-names": (own) => alone(own, each("--only-names"), ours(named)),
      replicas: (own) => alone(own, each("two replicas"), ours(LEADER_FLAGS, 2)),
    });
  },
};

async function openStage(how: How, isBeside: boolean): Promise<Stage | undefined> {
  const cluster = await realCluster(how);
  if (!cluster) return undefined;
  const projection = isBeside ? await Projection.installed(cluster) : undefined;
  if (isBeside && !projection) how.say("projection is not measured: BENCH_PROJECTION is not set");
  // The sources are in `shared`, so that the first Secret of another namespace that begins so is its copy.
  const copies = new Arrivals(how, cluster, "secrets", (name) => name.startsWith(SOURCE));
  const accounts = new Arrivals(how, cluster, "serviceaccounts", (name) => name === "default");
  await calm();
  return { cluster, projection, copies, accounts };
}

/** Five rounds, each on an API server of its own and with each tool in turn. The figures are medians of the rounds. */
async function rows(how: How, size: (count: number) => number): Promise<void> {
  const tools = { ours: ours(FLAGS), projection: theirs };
  const all: readonly (Row & Targets)[] = [
    { name: "one by one", count: size(20), pace: oneByOne, late: LATE },
    { name: "one each 30 ms", count: size(150), pace: spaced, late: LATE },
    { name: "sixteen at a time", count: size(300), pace: together, first: FIRST },
  ];
  const results = new Map<string, Race[][]>();
  for (let round = 0; round < (how.quick ? 1 : ROUNDS); round++)
    await scoped(how, async (stageHow) => {
      const stage = await openStage(stageHow, true);
      if (!stage) return;
      for (const [tool, start] of Object.entries(tools)) {
        if (start === theirs && !stage.projection) continue;
        await scoped(how, async (own) => {
          await start(own, stage, `${SOURCE}-${tool}`, tool);
          for (const row of all) {
            const races = await race(stage, tool, row);
            const key = `${tool}, ${row.name}`;
            results.set(key, [...(results.get(key) ?? []), races]);
          }
        });
      }
    });
  for (const { name, ...targets } of all)
    for (const tool of Object.keys(tools)) {
      const rounds = results.get(`${tool}, ${name}`);
      if (rounds) figures(how, `${tool}, ${name}`, rounds, tool === "ours" ? targets : {});
    }
}

/** secretcast alone, once. */
async function alone(
  how: How,
  row: Row,
  tool: Tool,
  targets: Targets = { late: LATE },
): Promise<void> {
  const stage = await openStage(how, false);
  if (!stage) return;
  await tool(how, stage, SOURCE, "team");
  figures(how, row.name, [await race(stage, "team", row)], targets);
}

/** 20 sources for `fanned` namespaces are published at once, and the race begins before the copies are written. */
function besideWrites(fanned: number): Tool {
  return async (how, stage, source, team) => {
    await stage.cluster.createNamespaces(numbered("fan", fanned));
    await ours(FLAGS)(how, stage, source, team);
    await Promise.all(numbered("storm", 20).map((name) => stage.cluster.publish(name, "fan-*")));
  };
}

function besideSecrets(count: number): Tool {
  return async (how, stage, source, team) => {
    const homes = numbered("home", 20);
    await stage.cluster.createNamespaces(homes);
    await load(stage.cluster, foreignBodies(homes, count));
    await ours(FLAGS)(how, stage, source, team);
  };
}

/** What any tool does for the first time, it does not in the race. */
async function warm(stage: Stage, team: string): Promise<void> {
  await race(stage, team, { name: "warm", count: 5, pace: oneByOne });
  await calm();
}

async function race(stage: Stage, team: string, { name, count, pace }: Row): Promise<Race[]> {
  const { cluster, copies, accounts } = stage;
  const names = numbered(`${team}-${name.toLowerCase().replaceAll(/\W+/g, "-")}`, count);
  const madeAt = new Map<string, number>();
  await pace(
    names,
    async (each) => {
      await cluster.send("POST", "/api/v1/namespaces", {
        metadata: { name: each, labels: { team } },
      });
      madeAt.set(each, performance.now());
    },
    stage,
  );
  return Promise.all(
    names.map(async (each) => ({
      madeAt: madeAt.get(each) ?? Number.NaN,
      copy: await copies.of(each),
      account: await accounts.of(each),
    })),
  );
}

/** Medians over the rounds. */
function figures(
  how: How,
  name: string,
  rounds: readonly (readonly Race[])[],
  {
    first = {},
    late = {},
  }: { readonly first?: Target | undefined; readonly late?: Target | undefined },
): void {
  const of = (read: (races: readonly Race[]) => number): number => median(rounds.map(read));
  const ms = (q: number, read: (race: Race) => number): number =>
    of((races) => quantile(races.map(read), q));
  const isFirst = ({ copy, account }: Race): boolean => copy.revision < account.revision;
  how.figure(
    `${name}: copy before the account`,
    of((races) => (100 * races.filter(isFirst).length) / races.length),
    "%",
    first,
  );
  how.figure(
    `${name}: copy, p50`,
    ms(0.5, ({ copy, madeAt }) => copy.at - madeAt),
    "ms",
  );
  how.figure(
    `${name}: copy, p99`,
    ms(0.99, ({ copy, madeAt }) => copy.at - madeAt),
    "ms",
  );
  how.figure(
    `${name}: account, p50`,
    ms(0.5, ({ account, madeAt }) => account.at - madeAt),
    "ms",
  );
  const after = ({ copy, account }: Race): number => copy.at - account.at;
  how.figure(`${name}: copy after account, p50`, ms(0.5, after), "ms");
  how.figure(`${name}: copy after account, p99`, ms(0.99, after), "ms", late);
}

/** When and at which revision an object of each namespace was made, as a watch of metadata shows it. */
class Arrivals {
  readonly #seen = new Map<string, Seen>();

  constructor(how: How, cluster: RealCluster, plural: string, counts: (name: string) => boolean) {
    const stop = new AbortController();
    how.after(() => stop.abort());
    const read = async (): Promise<void> => {
      // The server ends a watch after half an hour or more. The next one begins with all that there are.
      while (!stop.signal.aborted)
        for await (const event of cluster.http.lines(
          `/api/v1/${plural}?watch=true`,
          stop.signal,
          METADATA,
        )) {
          const name = String(field(event, "object", "metadata", "name"));
          const namespace = String(field(event, "object", "metadata", "namespace"));
          if (!counts(name) || this.#seen.has(namespace)) continue;
          const revision = Number(field(event, "object", "metadata", "resourceVersion"));
          this.#seen.set(namespace, { revision, at: performance.now() });
        }
    };
    read().catch(() => undefined);
  }

  of(namespace: string): Promise<Seen> {
    return eventually(`${namespace} has its object`, () => this.#seen.get(namespace), PATIENCE_MS);
  }
}
