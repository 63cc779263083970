// A controller of a resource of its own, with leader election and Events. An Icecream (icecream.yaml)
// names a Deployment and says how many replicas it has; the controller makes that Deployment and keeps
// it so, and writes into the Icecream's status how many of its Pods are available and on which nodes
// they are. A Deployment of that name that is not the Icecream's is left alone, and an Event says so.
//
// Arguments: the namespace of the Lease; "default" when there is none.
import { isDeepStrictEqual } from "node:util";
import {
  connectCluster,
  controllerOf,
  controllerReference,
  enqueueKeys,
  EventRecorder,
  Informer,
  LeaderElector,
  newIdentity,
  objectKey,
  resourcePath,
  runControlLoop,
  splitKey,
  terminationSignal,
  wholeObject,
  WorkQueue,
} from "secretcast/kube";
import type { KubeObject, WholeObject } from "secretcast/kube";

const API_VERSION = "example.com/v1alpha1";
const KIND = "Icecream";
const ICECREAMS = { group: "example.com", version: "v1alpha1", plural: "icecreams", kind: KIND };
const DEPLOYMENTS = { group: "apps", version: "v1", plural: "deployments", kind: "Deployment" };
const PODS = { group: "", version: "v1", plural: "pods", kind: "Pod" };
/** On the Pods: the name of their Icecream. */
const POD_LABEL = "example.com/icecream";

type Status = { readonly availableReplicas: number; readonly nodes: readonly string[] };
type Icecream = KubeObject & {
  readonly spec: { readonly deploymentName: string; readonly replicas: number };
  readonly status?: Status;
};
type Deployment = KubeObject & {
  readonly spec: { readonly replicas: number };
  readonly status?: { readonly availableReplicas?: number };
};
type Pod = KubeObject & { readonly spec: { readonly nodeName?: string } };

const end = terminationSignal();
const cluster = connectCluster({ userAgent: "icecream" });
const { client, clock, reachability } = cluster;
const common = { client, clock, onError: ({ message }: Error) => console.error(message) };
const icecreams = new Informer({
  ...common,
  resource: ICECREAMS,
  transform: wholeObject<Icecream>,
});
const deployments = new Informer({
  ...common,
  resource: DEPLOYMENTS,
  transform: wholeObject<Deployment>,
});
const pods = new Informer({
  ...common,
  resource: PODS,
  labelSelector: POD_LABEL,
  transform: wholeObject<Pod>,
});
const queue = new WorkQueue<string>({ clock });
const identity = newIdentity();
const events = new EventRecorder({
  client: cluster.events,
  clock,
  reachability,
  reporter: { controller: "example.com/icecream", instance: identity },
});

icecreams.store.addIndex("deployment", ({ namespace, object }) => [
  `${namespace}/${object.spec.deploymentName}`,
]);
pods.store.addIndex("icecream", (pod) => [icecreamOf(pod)]);
const enqueue = (key: string): void => queue.add(key);
icecreams.addHandler(enqueueKeys((icecream) => [objectKey(icecream)], enqueue));
// Also of Deployments that are not ours: when one goes that was in the way, its place is free.
deployments.addHandler(
  enqueueKeys(
    (deployment) =>
      [...icecreams.store.byIndex("deployment", objectKey(deployment))].map(objectKey),
    enqueue,
  ),
);
pods.addHandler(enqueueKeys((pod) => [icecreamOf(pod)], enqueue));

async function sync(key: string, signal: AbortSignal): Promise<void> {
  const icecream = icecreams.store.get(...splitKey(key));
  // When it is gone, so is its Deployment: the garbage collector sees to what it owned.
  if (icecream === undefined || icecream.object.metadata["deletionTimestamp"]) return;
  const { deploymentName } = icecream.object.spec;
  const deployment = deployments.store.get(icecream.namespace, deploymentName);
  if (deployment && controllerOf(deployment.object)?.uid !== icecream.uid) {
    const note = `Deployment ${deploymentName} exists and is not managed by ${key}`;
    return record(icecream, "Warning", "ErrResourceExists", note);
  }
  const made = await syncDeployment(icecream, deployment, signal);
  const told = await syncStatus(icecream, deployment, signal);
  if (!made && !told) return;
  record(icecream, "Normal", "Synced", "Icecream synced successfully");
  console.log(`Successfully synced '${key}'`);
}

/** Whether something was written. */
async function syncDeployment(
  { namespace, object }: WholeObject<Icecream>,
  deployment: WholeObject<Deployment> | undefined,
  signal: AbortSignal,
): Promise<boolean> {
  const { deploymentName, replicas } = object.spec;
  const what = `write deployment ${namespace}/${deploymentName}`;
  if (deployment === undefined) {
    const path = resourcePath(DEPLOYMENTS, namespace);
    const body = newDeployment(object);
    const made = await client.request<Deployment>({ method: "POST", path, body, what, signal });
    deployments.store.recordWrite(wholeObject(made));
    return true;
  }
  if (deployment.object.spec.replicas === replicas) return false;
  const path = resourcePath(DEPLOYMENTS, namespace, deploymentName);
  const change = { spec: { replicas } };
  const scaled = await merge<Deployment>(path, deployment.resourceVersion, change, what, signal);
  deployments.store.recordWrite(wholeObject(scaled));
  return true;
}

/** Whether something was written. */
async function syncStatus(
  icecream: WholeObject<Icecream>,
  deployment: WholeObject<Deployment> | undefined,
  signal: AbortSignal,
): Promise<boolean> {
  const { namespace, name, resourceVersion, object } = icecream;
  const owned = [...pods.store.byIndex("icecream", objectKey(icecream))];
  const nodes = owned.flatMap((pod) => pod.object.spec.nodeName ?? []);
  const status: Status = {
    availableReplicas: deployment?.object.status?.availableReplicas ?? 0,
    nodes: [...new Set(nodes)].toSorted((a, b) => a.localeCompare(b)),
  };
  if (isDeepStrictEqual(status, object.status)) return false;
  const path = `${resourcePath(ICECREAMS, namespace, name)}/status`;
  const what = `write status of icecream ${name}`;
  const told = await merge<Icecream>(path, resourceVersion, { status }, what, signal);
  // The next sync reads it, whether or not the watch has brought it by then.
  icecreams.store.recordWrite(wholeObject(told));
  return true;
}

// With the version that was read: whoever changed it in between is seen first, and then it is tried again.
async function merge<O extends KubeObject>(
  path: string,
  resourceVersion: string,
  change: object,
  what: string,
  signal: AbortSignal,
): Promise<O> {
  const body = { metadata: { resourceVersion }, ...change };
  const contentType = "application/merge-patch+json";
  return client.request<O>({ method: "PATCH", path, body, contentType, what, signal });
}

function record(
  { namespace, name, uid }: WholeObject,
  type: "Normal" | "Warning",
  reason: string,
  note: string,
): void {
  const regarding = { apiVersion: API_VERSION, kind: KIND, namespace, name, uid };
  events.record({ regarding, type, reason, action: "Sync", note });
}

function icecreamOf({ namespace, object }: WholeObject): string {
  const labels = object.metadata["labels"] as Readonly<Record<string, string>> | undefined;
  return `${namespace}/${labels?.[POD_LABEL] ?? ""}`;
}

function newDeployment(icecream: Icecream): object {
  const { deploymentName, replicas } = icecream.spec;
  const labels = { [POD_LABEL]: icecream.metadata.name };
  const containers = [{ name: "icecream", image: "example.com/icecream" }];
  return {
    metadata: {
      name: deploymentName,
      ownerReferences: [controllerReference(icecream, API_VERSION, KIND)],
    },
    spec: {
      replicas,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers } },
    },
  };
}

const lease = { namespace: process.argv[2] ?? "default", name: "icecream-controller" };
try {
  await runControlLoop({
    name: "icecream",
    clock,
    informers: [icecreams, deployments, pods],
    queue,
    sync,
    workers: 2,
    elector: new LeaderElector({
      client: cluster.lease(lease.namespace, lease.name),
      clock,
      reachability,
      identity,
      ...lease,
      onError: (error) => console.error(String(error)),
    }),
    onFailure: ({ key, error }) => console.error(`${key}: ${String(error)}, again later`),
    onProgress: console.log,
    signal: end,
  });
} finally {
  await events.close();
  await cluster.close();
}
