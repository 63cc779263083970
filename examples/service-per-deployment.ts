// A Service for each Deployment that asks for one by an annotation with its port. The Service selects
// the Deployment's Pods and is owned by it, so the garbage collector takes it with the Deployment; it
// goes as well when the annotation does. A Service of that name that is not the Deployment's is left
// alone: ownership goes by UID, and every write carries the version that was read.
import { isDeepStrictEqual } from "node:util";
import {
  ApiError,
  connectCluster,
  controllerOf,
  controllerReference,
  enqueueKeys,
  Informer,
  objectKey,
  resourcePath,
  runControlLoop,
  splitKey,
  terminationSignal,
  wholeObject,
  WorkQueue,
} from "secretcast/kube";
import type { KubeObject, WholeObject } from "secretcast/kube";

/** Its value is the port, as in `example.com/service-port: "8080"`. */
const SERVICE_PORT = "example.com/service-port";

type Labels = Readonly<Record<string, string>>;
type Deployment = KubeObject & {
  readonly spec: { readonly selector: { readonly matchLabels?: Labels } };
};
type ServiceSpec = {
  readonly selector?: Labels;
  readonly ports?: readonly { readonly port: number }[];
};
type Service = KubeObject & { readonly spec: ServiceSpec };

const DEPLOYMENTS = { group: "apps", version: "v1", plural: "deployments", kind: "Deployment" };
const SERVICES = { group: "", version: "v1", plural: "services", kind: "Service" };

const end = terminationSignal();
const cluster = connectCluster({ userAgent: "service-per-deployment" });
const { client, clock } = cluster;
const onError = ({ message }: Error): void => console.error(message);
const common = { client, clock, onError };
const deployments = new Informer({
  ...common,
  resource: DEPLOYMENTS,
  transform: wholeObject<Deployment>,
});
const services = new Informer({ ...common, resource: SERVICES, transform: wholeObject<Service> });
const queue = new WorkQueue<string>({ clock });
// A Service bears its Deployment's name, so the key is the same: whoever edits it is corrected.
for (const informer of [deployments, services])
  informer.addHandler(
    enqueueKeys(
      (object: WholeObject) => [objectKey(object)],
      (key) => queue.add(key),
    ),
  );

async function sync(key: string, signal: AbortSignal): Promise<void> {
  const [namespace, name] = splitKey(key);
  const deployment = deployments.store.get(namespace, name)?.object;
  const service = services.store.get(namespace, name);
  if (deployment === undefined) return;
  const wanted = wantedSpec(deployment);
  const ours = service && controllerOf(service.object)?.uid === deployment.metadata.uid;
  if (wanted && !service) {
    const ownerReferences = [controllerReference(deployment, "apps/v1", "Deployment")];
    const body = { metadata: { name, ownerReferences }, spec: wanted };
    const path = resourcePath(SERVICES, namespace);
    await client.request({ method: "POST", path, body, what: `create service ${key}`, signal });
    console.log(`created service ${key}`);
  } else if (wanted && service && ours && !serves(service.object.spec, wanted)) {
    await client.request({
      method: "PATCH",
      path: resourcePath(SERVICES, namespace, name),
      contentType: "application/merge-patch+json",
      body: { metadata: { resourceVersion: service.resourceVersion }, spec: wanted },
      what: `update service ${key}`,
      signal,
    });
    console.log(`updated service ${key}`);
  } else if (!wanted && service && ours) await remove(service, signal);
}

async function remove(service: WholeObject<Service>, signal: AbortSignal): Promise<void> {
  const { namespace, name, uid, resourceVersion } = service;
  const path = resourcePath(SERVICES, namespace, name);
  const body = { preconditions: { uid, resourceVersion } };
  const what = `delete service ${namespace}/${name}`;
  try {
    await client.request({ method: "DELETE", path, body, what, signal });
    console.log(`deleted service ${namespace}/${name}`);
  } catch (error) {
    if (!(error instanceof ApiError && error.kind === "notFound")) throw error;
  }
}

function wantedSpec(deployment: Deployment): Required<ServiceSpec> | undefined {
  const port = Number(deployment.metadata.annotations?.[SERVICE_PORT]);
  const selector = deployment.spec.selector.matchLabels;
  if (!Number.isInteger(port) || selector === undefined) return undefined;
  return { selector, ports: [{ port }] };
}

function serves({ selector, ports = [] }: ServiceSpec, wanted: Required<ServiceSpec>): boolean {
  const numbers = ports.map(({ port }) => ({ port }));
  return isDeepStrictEqual({ selector, ports: numbers }, wanted);
}

await runControlLoop({
  name: "service-per-deployment",
  clock,
  informers: [deployments, services],
  queue,
  sync,
  workers: 2,
  onFailure: ({ key, error }) => console.error(`${key}: ${String(error)}, again later`),
  onProgress: console.log,
  signal: end,
});
await cluster.close();
