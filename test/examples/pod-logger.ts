// The smallest whole controller: it watches Pods and writes a line about each that came, changed or
// went. The event itself only says which Pod to look at; what is written is read from the cache, so a
// burst of changes to one Pod is one line, about its last state.
import type { ApiClient } from "../../src/kube/rest/client.ts";
import type { Clock } from "../../src/kube/time/clock.ts";
import { WorkQueue } from "../../src/kube/workqueue/queue.ts";
import type { KubeObject } from "../../src/kube/rest/resource.ts";
import { runLoop } from "./loop.ts";
import type { Log } from "./loop.ts";
import { enqueues, informerOf, keyOf, parseKey, PODS } from "./objects.ts";

type Pod = KubeObject & {
  readonly spec: { readonly nodeName?: string };
  readonly status: { readonly phase?: string };
};

export type PodLogger = {
  readonly client: ApiClient;
  readonly clock: Clock;
  /** All namespaces when absent. */
  readonly namespace?: string;
  readonly log: Log;
  readonly signal: AbortSignal;
};

export async function runPodLogger(options: PodLogger): Promise<void> {
  const { clock, log, signal } = options;
  const queue = new WorkQueue<string>({ name: "pods", clock });
  const pods = informerOf<Pod>(options, PODS, { namespace: options.namespace });
  pods.addHandler(
    enqueues(
      (pod) => [keyOf(pod)],
      (key) => queue.add(key),
    ),
  );

  const sync = async (key: string): Promise<void> => {
    const pod = pods.store.get(...parseKey(key))?.object;
    if (pod === undefined) log(`Pod ${key} is gone`);
    else log(`Pod ${key} is ${pod.status.phase ?? "new"} on ${pod.spec.nodeName ?? "no node"}`);
  };

  await runLoop({ name: "pod-logger", informers: [pods], queue, sync, log, signal });
}
