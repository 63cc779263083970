// How soon a fresh namespace has its copy, on a real API server: from the answer to the namespace's
// POST until our watch shows the copy, against the round trip of a bare POST of a Secret; and the
// same under a fan-out that keeps the pipe full.
import { setTimeout as delay } from "node:timers/promises";
import { field } from "../test/support/api-server/http.ts";
import { eventually } from "../test/support/time/eventually.ts";
import { calm, FLAGS, numbered, realCluster, type RealCluster } from "./cluster.ts";
import { Program } from "./program.ts";
import { median, quantile, type Bench, type How } from "./scorecard.ts";

const COPIES = "/api/v1/secrets?watch=true&fieldSelector=metadata.name%3Dfirst";

export const fresh: Bench = {
  name: "fresh",
  about: "a fresh namespace's copy, on a calm real API server and in the midst of a fan-out",
  async run(how) {
    const cluster = await realCluster(how);
    if (!cluster) return;
    const sourcesOfStorm = 20;
    const fanned = numbered("fan", how.quick ? 50 : 500);
    await cluster.createNamespaces(fanned);
    await cluster.publish("first", "fresh-*");
    await calm();
    const controller = new Program(how, cluster.kubeconfig, FLAGS);
    await controller.said("started worker");
    const seen = watchCopies(how, cluster);
    const [copied, posted]: [number[], number[]] = [[], []];
    for (const at of Array.from({ length: how.quick ? 5 : 60 }).keys()) {
      copied.push(await freshNamespace(cluster, seen, `fresh-${at}`));
      const began = performance.now();
      const body = { metadata: { name: `bare-${at}` }, stringData: { value: "one" } };
      await cluster.send("POST", "/api/v1/namespaces/shared/secrets", body);
      posted.push(performance.now() - began);
      await delay(50);
    }
    const [ours, bare] = [median(copied), median(posted)];
    how.figure("bare POST of a Secret, median", bare, "ms");
    how.figure("from namespace to copy, median", ours, "ms", { atMost: 1.5 * bare + 5 });
    how.figure("from namespace to copy, p99", quantile(copied, 0.99), "ms");
    const { mark } = controller;
    const storm = Promise.all(
      numbered("storm", sourcesOfStorm).map((name) => cluster.publish(name, "fan-*")),
    );
    await storm;
    const busy: number[] = [];
    const over = controller.said("synced", mark, 120_000).then(() => true);
    while (!(await Promise.race([over, delay(50, false)])))
      busy.push(await freshNamespace(cluster, seen, `fresh-busy-${busy.length}`));
    how.say(
      `${busy.length} namespaces while ${sourcesOfStorm * fanned.length} copies were written`,
    );
    how.figure("under a fan-out, median", median(busy), "ms");
    how.figure("under a fan-out, p99", quantile(busy, 0.99), "ms", { atMost: 1000 });
  },
};

/** When the copy in each namespace was seen. */
export function watchCopies(how: How, cluster: RealCluster): ReadonlyMap<string, number> {
  const seen = new Map<string, number>();
  const stop = new AbortController();
  how.after(() => stop.abort());
  // The server ends a watch after half an hour or a whole one, and the next begins with all there are.
  const read = async (): Promise<void> => {
    while (!stop.signal.aborted)
      for await (const event of cluster.http.lines(COPIES, stop.signal)) {
        const namespace = String(field(event, "object", "metadata", "namespace"));
        if (!seen.has(namespace)) seen.set(namespace, performance.now());
      }
  };
  read().catch(() => undefined);
  return seen;
}

export async function freshNamespace(
  cluster: RealCluster,
  seen: ReadonlyMap<string, number>,
  name: string,
  timeoutMs = 30_000,
): Promise<number> {
  await cluster.send("POST", "/api/v1/namespaces", { metadata: { name } });
  const began = performance.now();
  const at = await eventually(`a copy in ${name}`, () => seen.get(name), timeoutMs);
  return Math.max(0, at - began);
}
