// One source to 500 namespaces on the real API server, against a bare loop that posts the same bodies
// at the same concurrency, in turns. The controller's time runs from the source's POST to the log
// line that says all is done, its last look at the plan included.
import { readFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { eventually } from "../packages/kube/testing/eventually.ts";
import { field } from "../packages/sandbox/testing/http.ts";
import { postLoop, type Post, type Batch, type Took } from "./post-loop.ts";
import {
  calm,
  FLAGS,
  inParallel,
  METADATA,
  numbered,
  realCluster,
  SETUP_CONCURRENCY,
  type RealCluster,
} from "./cluster.ts";
import { Program } from "./program.ts";
import { Projection } from "./projection.ts";
import { median, scoped, sum, type Bench, type How } from "./scorecard.ts";

const CONCURRENCY = 32;
const PATIENCE_MS = 120_000;

/**
 * What the first fan-out of a process costs of what its second costs, and how its rate compares with projection's.
 * Other flags of Node are tried with BENCH_NODE_FLAGS: the code cache of the bundle is then made with them too.
 */
export const cold: Bench = {
  name: "cold",
  about:
    "the first fan-out of a process to 500 namespaces, compared with its second and with projection's",
  alone: true,
  async run(how) {
    const copies = how.quick ? 50 : 500;
    const took: Cold[] = [];
    for (let round = 0; round < (how.quick ? 1 : 5); round++) {
      const one = await scoped(how, (own) => coldRound(own, copies));
      if (!one) return;
      took.push(one);
    }
    const middle = (read: (one: Cold) => number): number => median(took.map(read));
    const rate = (read: (one: Cold) => number): number =>
      middle((one) => (1000 * copies) / read(one));
    const first = ({ ours }: Cold): Took => ours[0];
    const second = ({ ours }: Cold): Took => ours[1];
    const figure = how.figure.bind(how);
    figure(
      "first fan-out: CPU",
      middle((one) => first(one).cpuMs),
      "ms",
    );
    figure(
      "second fan-out: CPU",
      middle((one) => second(one).cpuMs),
      "ms",
    );
    figure(
      "first fan-out: copies/s",
      rate((one) => first(one).ms),
      "1/s",
    );
    figure(
      "second fan-out: copies/s",
      rate((one) => second(one).ms),
      "1/s",
    );
    const cost = middle((one) => first(one).cpuMs / second(one).cpuMs);
    figure("CPU of the first, of the second's", cost, "x", { atMost: 1.2 });
    figure(
      "time of the first, of the second's",
      middle((one) => first(one).ms / second(one).ms),
      "x",
    );
    const beside = took.flatMap((one) => one.projectionMs ?? []);
    if (beside.length === 0) return;
    figure("projection's first fan-out: copies/s", (1000 * copies) / median(beside), "1/s");
    const ratio = middle((one) => (one.projectionMs ?? 0) / first(one).ms);
    figure("copies/s of the first, of projection's", ratio, "x", { atLeast: 1.5 });
  },
};

type Cold = {
  readonly ours: readonly [Took, Took];
  readonly projectionMs: number | undefined;
};

/** On an API server of its own: what projection projected before, it would do again in its first seconds. */
async function coldRound(how: How, copies: number): Promise<Cold | undefined> {
  const cluster = await realCluster(how);
  if (!cluster) return undefined;
  const namespaces = numbered("fan", copies);
  await inParallel(namespaces, SETUP_CONCURRENCY, async (name) => {
    await cluster.send("POST", "/api/v1/namespaces", {
      metadata: { name, labels: { team: "fan" } },
    });
  });
  // The API server's own first writes belong to nobody.
  await inParallel(namespaces, CONCURRENCY, async (namespace) => {
    const body = { metadata: { name: "before" }, stringData: { value: "one" } };
    await cluster.send("POST", `/api/v1/namespaces/${namespace}/secrets`, body);
  });
  await calm();
  const ours = await scoped(how, async (own): Promise<readonly [Took, Took]> => {
    const controller = new Program(own, cluster.access.kubeconfig, FLAGS);
    await controller.said("started worker");
    await calm();
    const fan = async (name: string): Promise<Took> => {
      const before = controller.cpuMs;
      const { mark } = controller;
      const ms = await untilCopied(own, cluster, name, copies, () =>
        cluster.publish(name, "fan-*"),
      );
      await controller.said("synced", mark);
      return { ms, cpuMs: controller.cpuMs - before };
    };
    const first = await fan("cold");
    await calm();
    return [first, await fan("warm")];
  });
  const projection = await Projection.installed(cluster);
  if (!projection) {
    how.say("projection is not measured: BENCH_PROJECTION is not set");
    return { ours, projectionMs: undefined };
  }
  const projectionMs = await scoped(how, async (own) => {
    await projection.publish("nothing", "none");
    await projection.start(own, "nothing");
    await calm();
    return untilCopied(own, cluster, "theirs", copies, () => projection.publish("theirs", "fan"));
  });
  return { ours, projectionMs };
}

/** Milliseconds from `publish` until a watch has shown `copies` objects of that name beside the source. */
async function untilCopied(
  how: How,
  cluster: RealCluster,
  name: string,
  copies: number,
  publish: () => Promise<void>,
): Promise<number> {
  const stop = new AbortController();
  how.after(() => stop.abort());
  const namespaces = new Set<string>();
  let lastMs: number | undefined;
  const path = `/api/v1/secrets?watch=true&fieldSelector=metadata.name%3D${name}`;
  const read = async (): Promise<void> => {
    for await (const event of cluster.http.lines(path, stop.signal, METADATA)) {
      namespaces.add(String(field(event, "object", "metadata", "namespace")));
      if (namespaces.size === copies + 1) lastMs = performance.now();
    }
  };
  read().catch(() => undefined);
  const began = performance.now();
  await publish();
  const ms = await eventually(`${name} is copied`, () => lastMs && lastMs - began, PATIENCE_MS);
  stop.abort();
  return ms;
}

export const fanout: Bench = {
  name: "fanout",
  about: "one source to 500 namespaces on a real API server, against a bare undici loop",
  async run(how) {
    const cluster = await realCluster(how);
    if (!cluster) return;
    await firstFanOuts(how, cluster);
    const copies = how.quick ? 100 : 500;
    const rounds = how.quick ? 2 : 9;
    const namespaces = numbered("fan", copies);
    await cluster.createNamespaces(namespaces);
    await calm();
    // Both as the administrator: the controller's own account may write nothing but copies, by an
    // admission policy that takes the server's time, and what the bare loop posts must not be copies.
    const controller = new Program(how, cluster.access.kubeconfig, {
      ...FLAGS,
      concurrency: String(CONCURRENCY),
      "delete-grace": "100ms",
      "delete-hold": "0",
    });
    await controller.said("started worker");
    const bare = postLoop(how);
    const batch = batchFor(cluster);
    const ours: Took[] = [];
    const theirs: Took[] = [];
    for (const round of Array.from({ length: rounds + 2 }).keys()) {
      const name = `round-${round}`;
      ours.push(await fanOut(cluster, controller, name));
      const posts = await bodiesLike(cluster, name, namespaces);
      controller.freeze();
      theirs.push(await bare.post({ ...batch, posts }));
      controller.thaw();
      await delay(300);
      const [mine, other] = [ours.at(-1), theirs.at(-1)];
      how.say(
        `round ${round}: controller ${mine?.ms.toFixed(0)} ms, CPU ${mine?.cpuMs} ms; bare ${other?.ms.toFixed(0)} ms, CPU ${other?.cpuMs} ms`,
      );
    }
    // Two rounds warm up.
    const [a, b] = [ours.slice(2), theirs.slice(2)];
    const rate = (took: Took): number => (1000 * copies) / took.ms;
    const cpu = (all: readonly Took[]): number => sum(all.map((took) => took.cpuMs)) / all.length;
    how.figure("copies/s", median(a.map(rate)), "1/s");
    how.figure("copies/s, bare loop", median(b.map(rate)), "1/s");
    // Of each round by itself: what else the machine does changes from round to round.
    const ratio = median(ours.slice(2).map((took, at) => (b[at]?.ms ?? 0) / took.ms));
    how.figure("copies/s, of the bare loop's", ratio, "x", { atLeast: 0.85 });
    how.figure("CPU a copy", cpu(a) / copies, "ms");
    how.figure("CPU a copy, bare loop", cpu(b) / copies, "ms");
    how.figure("CPU a copy, of the bare loop's", cpu(a) / cpu(b), "x", { atMost: 2.5 });
    const ends: number[] = [];
    for (const round of ours.keys())
      ends.push(await endCopies(cluster, controller, `round-${round}`));
    how.figure(
      `CPU an ended copy, of ${ends.length * copies}`,
      sum(ends) / ends.length / copies,
      "ms",
      { atMost: 0.6 },
    );
  },
};

/** Deletes a source, and the CPU that it took until its copies were gone, in ms. */
async function endCopies(cluster: RealCluster, controller: Program, name: string): Promise<number> {
  const before = controller.cpuMs;
  await cluster.send("DELETE", `/api/v1/namespaces/shared/secrets/${name}`);
  const copies = `/api/v1/secrets?limit=1&fieldSelector=metadata.name%3D${name}`;
  await eventually(`the copies ${name} are gone`, async () => {
    const items = field(await cluster.send("GET", copies), "items");
    return Array.isArray(items) && items.length === 0;
  });
  // Until the last deletion has come back by the watch.
  await delay(300);
  return controller.cpuMs - before;
}

/** The first fan-out of a fresh process, of the bare loop's, which has its connections. */
async function firstFanOuts(how: How, cluster: RealCluster): Promise<void> {
  for (const copies of how.quick ? [50] : [50, 200, 500]) {
    const namespaces = numbered(`first${copies}`, copies);
    await cluster.createNamespaces(namespaces);
    await calm();
    const bare = postLoop(how);
    const took: { readonly ours: number; readonly theirs: number }[] = [];
    for (let round = 0; round < (how.quick ? 2 : 5); round++) {
      const name = `first-${copies}-${round}`;
      const ours = await scoped(how, async (own) => {
        const controller = new Program(own, cluster.access.kubeconfig, FLAGS);
        await controller.said("started worker");
        await calm();
        return fanOut(cluster, controller, name, `first${copies}-*`);
      });
      const posts = await bodiesLike(cluster, name, namespaces);
      const theirs = await bare.post({ ...batchFor(cluster), posts });
      took.push({ ours: ours.ms, theirs: theirs.ms });
      how.say(
        `first fan-out to ${copies}: controller ${ours.ms.toFixed(0)} ms, bare ${theirs.ms.toFixed(0)} ms`,
      );
    }
    // The bare loop's first round opens its connections.
    const ratios = took.slice(1).map(({ ours, theirs }) => theirs / ours);
    how.figure(`first fan-out of a process, to ${copies}, of the bare loop's`, median(ratios), "x");
  }
}

function batchFor({ access }: RealCluster): Omit<Batch, "posts"> {
  const { url, token } = access;
  return { url, token, ca: readFileSync(access.caFile, "utf8"), concurrency: CONCURRENCY };
}

async function fanOut(
  cluster: RealCluster,
  controller: Program,
  name: string,
  to = "fan-*",
): Promise<Took> {
  const { mark } = controller;
  const before = controller.cpuMs;
  const began = performance.now();
  await cluster.publish(name, to);
  const { at } = await controller.said("synced", mark);
  return { ms: at - began, cpuMs: controller.cpuMs - before };
}

/** What the controller posted in the round `name`, for other names. */
async function bodiesLike(
  cluster: RealCluster,
  name: string,
  namespaces: readonly string[],
): Promise<readonly Post[]> {
  const copy = await cluster.send("GET", `/api/v1/namespaces/${namespaces[0]}/secrets/${name}`);
  const bare = `bare-${name}`;
  return namespaces.map((namespace) => ({
    path: `/api/v1/namespaces/${namespace}/secrets`,
    body: {
      apiVersion: "v1",
      kind: "Secret",
      metadata: {
        name: bare,
        namespace,
        labels: field(copy, "metadata", "labels"),
        // Its own place makes a copy of it; this one is to be left alone.
        annotations: field(copy, "metadata", "annotations"),
      },
      type: field(copy, "type"),
      data: field(copy, "data"),
    },
  }));
}
