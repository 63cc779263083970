// A controller of a resource of its own. An Icecream (icecream.yaml) names a Deployment and says how many
// replicas it has; the controller makes that Deployment and keeps it so, and writes into the Icecream's
// status how many of its Pods are available and on which nodes they are. A Deployment of that name that
// is not the Icecream's is left alone, and an Event says so.
import { isDeepStrictEqual } from "node:util";
import type { ApiClient } from "../../src/kube/rest/client.ts";
import type { Clock } from "../../src/kube/time/clock.ts";
import { EventRecorder } from "../../src/kube/events/event-recorder.ts";
import { WorkQueue } from "../../src/kube/workqueue/queue.ts";
import { resourcePath } from "../../src/kube/rest/resource.ts";
import type { KubeObject, Resource } from "../../src/kube/rest/resource.ts";
import { runLoop } from "./loop.ts";
import type { Log } from "./loop.ts";
import { controllerOf, DEPLOYMENTS, enqueues, informerOf, keyOf, ownedBy } from "./objects.ts";
import { parseKey, PODS } from "./objects.ts";
import type { Kept } from "./objects.ts";
import { createEventClient } from "../../src/kube/events/event-writer.ts";

const API_VERSION = "example.com/v1alpha1";
const KIND = "Icecream";
const ICECREAMS: Resource = {
  group: "example.com",
  version: "v1alpha1",
  plural: "icecreams",
  kind: KIND,
};
/** On the Pods: the name of their Icecream. */
const POD_LABEL = "example.com/icecream";

type Status = { readonly availableReplicas: number; readonly nodes: readonly string[] };
type Icecream = KubeObject & {
  readonly spec: { readonly deploymentName: string; readonly replicas: number };
  readonly status?: Status;
};
type Deployment = KubeObject & {
  readonly spec: { readonly replicas: number };
  readonly status: { readonly availableReplicas?: number };
};
type Pod = KubeObject & { readonly spec: { readonly nodeName?: string } };

type Options = {
  readonly client: ApiClient;
  readonly clock: Clock;
  readonly log: Log;
  readonly signal: AbortSignal;
};

export async function runIcecream(options: Options): Promise<void> {
  const { client, clock, log, signal } = options;
  const queue = new WorkQueue<string>({ name: "icecreams", clock });
  const reporter = { controller: "example.com/icecream", instance: "icecream-0" };
  const events = new EventRecorder({ client: createEventClient(client), clock, reporter });

  const icecreams = informerOf<Icecream>(options, ICECREAMS);
  const deployments = informerOf<Deployment>(options, DEPLOYMENTS);
  const pods = informerOf<Pod>(options, PODS, { labelSelector: POD_LABEL });
  icecreams.store.addIndex("deployment", ({ namespace, object }) => [
    `${namespace}/${object.spec.deploymentName}`,
  ]);
  pods.store.addIndex("icecream", (pod) => [icecreamOf(pod)]);
  const enqueue = (key: string): void => queue.add(key);
  icecreams.addHandler(enqueues((icecream) => [keyOf(icecream)], enqueue));
  // Also of Deployments that are not ours: when one goes that was in the way, its place is free.
  const wanting = (deployment: Kept<Deployment>): readonly string[] =>
    [...icecreams.store.byIndex("deployment", keyOf(deployment))].map((icecream) =>
      keyOf(icecream),
    );
  deployments.addHandler(enqueues(wanting, enqueue));
  pods.addHandler(enqueues((pod) => [icecreamOf(pod)], enqueue));

  const sync = async (key: string): Promise<void> => {
    const icecream = icecreams.store.get(...parseKey(key));
    // When it is gone, so is its Deployment: the garbage collector sees to what it owned.
    if (icecream === undefined || icecream.object.metadata["deletionTimestamp"]) return;
    const { spec } = icecream.object;
    const deployment = deployments.store.get(icecream.namespace, spec.deploymentName);
    if (deployment && controllerOf(deployment.object, KIND)?.uid !== icecream.uid) {
      const note = `Deployment ${spec.deploymentName} exists and is not managed by ${key}`;
      return record(icecream, "Warning", "ErrResourceExists", note);
    }
    const made = await syncDeployment(icecream, deployment);
    const told = await syncStatus(icecream, deployment);
    if (!made && !told) return;
    record(icecream, "Normal", "Synced", "Icecream synced successfully");
    log(`Successfully synced '${key}'`);
  };

  async function syncDeployment(
    { namespace, object }: Kept<Icecream>,
    deployment: Kept<Deployment> | undefined,
  ): Promise<boolean> {
    const { deploymentName, replicas } = object.spec;
    const what = `write deployment ${namespace}/${deploymentName}`;
    if (deployment === undefined) {
      const path = resourcePath(DEPLOYMENTS, namespace);
      const body = newDeployment(object);
      await client.request({ method: "POST", path, body, what, signal });
      return true;
    }
    if (deployment.object.spec.replicas === replicas) return false;
    const path = resourcePath(DEPLOYMENTS, namespace, deploymentName);
    await merge(path, deployment.resourceVersion, { spec: { replicas } }, what);
    return true;
  }

  async function syncStatus(
    icecream: Kept<Icecream>,
    deployment: Kept<Deployment> | undefined,
  ): Promise<boolean> {
    const { namespace, name, resourceVersion, object } = icecream;
    const owned = [...pods.store.byIndex("icecream", keyOf(icecream))];
    const nodes = owned.flatMap((pod) => pod.object.spec.nodeName ?? []);
    const status: Status = {
      availableReplicas: deployment?.object.status.availableReplicas ?? 0,
      nodes: [...new Set(nodes)].toSorted((a, b) => a.localeCompare(b)),
    };
    if (isDeepStrictEqual(status, object.status)) return false;
    const path = `${resourcePath(ICECREAMS, namespace, name)}/status`;
    await merge(path, resourceVersion, { status }, `write status of icecream ${name}`);
    return true;
  }

  // With the version that was read: whoever changed it in between is seen first, and then it is tried again.
  async function merge(
    path: string,
    resourceVersion: string,
    change: object,
    what: string,
  ): Promise<void> {
    const body = { metadata: { resourceVersion }, ...change };
    const contentType = "application/merge-patch+json";
    await client.request({ method: "PATCH", path, body, contentType, what, signal });
  }

  function record(
    { namespace, name, uid }: Kept<Icecream>,
    type: "Normal" | "Warning",
    reason: string,
    note: string,
  ): void {
    const regarding = { apiVersion: API_VERSION, kind: KIND, namespace, name, uid };
    events.record({ regarding, type, reason, action: "Sync", note });
  }

  const informers = [icecreams, deployments, pods];
  try {
    await runLoop({ name: "icecream", informers, queue, sync, log, signal });
  } finally {
    await events.close();
  }
}

const icecreamOf = ({ namespace, object }: Kept<Pod>): string =>
  `${namespace}/${labelsOf(object)[POD_LABEL] ?? ""}`;

function labelsOf(object: KubeObject): Readonly<Record<string, string>> {
  return (object.metadata["labels"] ?? {}) as Readonly<Record<string, string>>;
}

function newDeployment(icecream: Icecream): object {
  const { deploymentName, replicas } = icecream.spec;
  const labels = { [POD_LABEL]: icecream.metadata.name };
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: {
      name: deploymentName,
      ownerReferences: [ownedBy(icecream, API_VERSION, KIND)],
    },
    spec: {
      replicas,
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: { containers: [{ name: "icecream", image: "example.com/icecream" }] },
      },
    },
  };
}
