// One source to 500 namespaces on the real API server, against a bare loop that posts the same bodies
// at the same concurrency, in turns. The controller's time runs from the source's POST to the log
// line that says all is done, its last look at the plan included.
import { readFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { field } from "../test/support/http.ts";
import { postLoop, type Took } from "./post-loop.ts";
import { calm, FLAGS, numbered, realCluster, type RealCluster } from "./cluster.ts";
import { Program } from "./program.ts";
import { median, sum, type Bench } from "./scorecard.ts";
import type { Post } from "./transports.ts";

const CONCURRENCY = 32;

export const fanout: Bench = {
  name: "fanout",
  about: "one source to 500 namespaces on a real API server, against a bare undici loop",
  async run(how) {
    const cluster = await realCluster(how);
    if (!cluster) return;
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
    });
    await controller.said("started worker");
    const bare = postLoop(how, "bare");
    const batch = {
      url: cluster.access.url,
      token: cluster.access.token,
      ca: readFileSync(cluster.access.caFile, "utf8"),
      concurrency: CONCURRENCY,
    };
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
    how.figure({ name: "copies/s", value: median(a.map(rate)), unit: "1/s" });
    how.figure({ name: "copies/s, bare loop", value: median(b.map(rate)), unit: "1/s" });
    // Of each round by itself: what else the machine does changes from round to round.
    const ratio = median(ours.slice(2).map((took, at) => (b[at]?.ms ?? 0) / took.ms));
    how.figure({ name: "copies/s, of the bare loop's", value: ratio, unit: "x", atLeast: 0.85 });
    how.figure({ name: "CPU a copy", value: cpu(a) / copies, unit: "ms" });
    how.figure({ name: "CPU a copy, bare loop", value: cpu(b) / copies, unit: "ms" });
    how.figure({
      name: "CPU a copy, of the bare loop's",
      value: cpu(a) / cpu(b),
      unit: "x",
      atMost: 2.5,
    });
  },
};

async function fanOut(cluster: RealCluster, controller: Program, name: string): Promise<Took> {
  const { mark } = controller;
  const before = controller.cpuMs;
  const began = performance.now();
  await cluster.publish(name, "fan-*");
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
