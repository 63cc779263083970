// The smallest whole controller: it watches Pods and writes a line about each that came, changed or
// went. An event only says which Pod to look at; what is written is read from the cache, so a burst of
// changes to one Pod is one line, about its last state.
//
// Arguments: a namespace, or none for all.
import {
  connectCluster,
  enqueueKeys,
  Informer,
  objectKey,
  runControlLoop,
  splitKey,
  terminationSignal,
  wholeObject,
  WorkQueue,
} from "secretcast/kube";
import type { KubeObject } from "secretcast/kube";

type Pod = KubeObject & {
  readonly spec: { readonly nodeName?: string };
  readonly status: { readonly phase?: string };
};

const PODS = { group: "", version: "v1", plural: "pods", kind: "Pod" };

const signal = terminationSignal();
const cluster = connectCluster({ userAgent: "pod-logger" });
const { client, clock } = cluster;
const queue = new WorkQueue<string>({ clock });
const pods = new Informer({
  client,
  clock,
  resource: PODS,
  namespace: process.argv[2],
  transform: wholeObject<Pod>,
  onError: ({ message }) => console.error(message),
});
pods.addHandler(
  enqueueKeys(
    (pod) => [objectKey(pod)],
    (key) => queue.add(key),
  ),
);

async function sync(key: string): Promise<void> {
  const pod = pods.store.get(...splitKey(key))?.object;
  if (pod === undefined) console.log(`Pod ${key} is gone`);
  else
    console.log(`Pod ${key} is ${pod.status.phase ?? "new"} on ${pod.spec.nodeName ?? "no node"}`);
}

await runControlLoop({
  name: "pod-logger",
  clock,
  informers: [pods],
  queue,
  sync,
  onProgress: console.log,
  signal,
});
await cluster.close();
