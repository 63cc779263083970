// One source to 500 namespaces on the real API server, against a bare loop that posts the same bodies
// at the same concurrency, in turns. The controller's time runs from the source's POST to the log
// line that says all is done, its last look at the plan included.
import { readFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { eventually } from "../packages/kube/testing/eventually.ts";
import { field } from "../packages/sandbox/testing/http.ts";
import { postLoop, type Post, type Batch, type Took } from "./post-loop.ts";
import { calm, FLAGS, numbered, realCluster, type RealCluster } from "./cluster.ts";
import { Program } from "./program.ts";
import { median, scoped, sum, type Bench, type How } from "./scorecard.ts";

const CONCURRENCY = 32;

/**
 * What the first fan-out of a process costs of what its second costs. Other flags of Node are tried with
 * BENCH_NODE_FLAGS: the code cache of the bundle is then made with them too.
 */
export const cold: Bench = {
  name: "cold",
  about: "the first fan-out of a process to 500 namespaces, compared with its second",
  alone: true,
  async run(how) {
    const cluster = await realCluster(how);
    if (!cluster) return;
    const namespaces = numbered("fan", how.quick ? 50 : 500);
    await cluster.createNamespaces(namespaces);
    await calm();
    const took: { readonly first: Took; readonly second: Took }[] = [];
    for (let round = 0; round < (how.quick ? 1 : 5); round++)
      await scoped(how, async (own) => {
        const controller = new Program(own, cluster.access.kubeconfig, FLAGS);
        await controller.said("started worker");
        await calm();
        const first = await fanOut(cluster, controller, `cold-${round}`);
        await calm();
        const second = await fanOut(cluster, controller, `warm-${round}`);
        took.push({ first, second });
      });
    const middle = (read: (one: (typeof took)[number]) => number): number => median(took.map(read));
    how.figure(
      "first fan-out: CPU",
      middle(({ first }) => first.cpuMs),
      "ms",
    );
    how.figure(
      "second fan-out: CPU",
      middle(({ second }) => second.cpuMs),
      "ms",
    );
    const [first, second] = [middle((one) => one.first.ms), middle((one) => one.second.ms)];
    how.figure("first fan-out: copies/s", (1000 * namespaces.length) / first, "1/s");
    how.figure("second fan-out: copies/s", (1000 * namespaces.length) / second, "1/s");
    how.figure(
      "CPU of the first, of the second's",
      middle(({ first, second }) => first.cpuMs / second.cpuMs),
      "x",
      { atMost: 1.2 },
    );
    how.figure(
      "time of the first, of the second's",
      middle(({ first, second }) => first.ms / second.ms),
      "x",
    );
  },
};

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
