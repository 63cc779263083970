// A Service for each Deployment that asks for one by an annotation with its port. The Service selects
// the Deployment's Pods and is owned by it, so it goes with it; it goes as well when the annotation
// does. A Service of that name that is not the Deployment's is left alone.
import { isDeepStrictEqual } from "node:util";
import { ApiError } from "../../src/kube/rest/api-error.ts";
import type { ApiClient } from "../../src/kube/rest/client.ts";
import type { Clock } from "../../src/kube/time/clock.ts";
import { WorkQueue } from "../../src/kube/workqueue/queue.ts";
import { resourcePath } from "../../src/kube/rest/resource.ts";
import type { KubeObject } from "../../src/kube/rest/resource.ts";
import { runLoop } from "./loop.ts";
import type { Log } from "./loop.ts";
import { controllerOf, DEPLOYMENTS, enqueues, informerOf, keyOf, ownedBy } from "./objects.ts";
import { parseKey, SERVICES } from "./objects.ts";
import type { Kept } from "./objects.ts";

/** Its value is the port, as in `example.com/service-port: "8080"`. */
export const SERVICE_PORT = "example.com/service-port";

type Labels = Readonly<Record<string, string>>;
type Deployment = KubeObject & {
  readonly spec: { readonly selector: { readonly matchLabels?: Labels } };
};
type ServiceSpec = {
  readonly selector?: Labels;
  readonly ports?: readonly { readonly port: number }[];
};
type Service = KubeObject & { readonly spec: ServiceSpec };

type Options = {
  readonly client: ApiClient;
  readonly clock: Clock;
  readonly log: Log;
  readonly signal: AbortSignal;
};

export async function runServicePerDeployment(options: Options): Promise<void> {
  const { client, clock, log, signal } = options;
  const queue = new WorkQueue<string>({ name: "services", clock });
  const deployments = informerOf<Deployment>(options, DEPLOYMENTS);
  const services = informerOf<Service>(options, SERVICES);
  const enqueue = (key: string): void => queue.add(key);
  deployments.addHandler(enqueues((deployment) => [keyOf(deployment)], enqueue));
  // A Service bears its Deployment's name, so the key is the same: whoever edits it is corrected.
  services.addHandler(enqueues((service) => [keyOf(service)], enqueue));

  const sync = async (key: string): Promise<void> => {
    const [namespace, name] = parseKey(key);
    const deployment = deployments.store.get(namespace, name)?.object;
    const service = services.store.get(namespace, name);
    const wanted = deployment && wantedSpec(deployment);
    const ours = service && isOurs(service.object, deployment);
    if (wanted && !service) {
      await write("POST", namespace, undefined, bodyFor(deployment, wanted));
      log(`created service ${key}`);
    } else if (wanted && ours && !serves(service.object.spec, wanted)) {
      const metadata = { resourceVersion: service.resourceVersion };
      await write("PATCH", namespace, name, { metadata, spec: wanted });
      log(`updated service ${key}`);
    } else if (deployment && !wanted && ours) {
      await remove(service);
      log(`deleted service ${key}`);
    }
  };

  async function write(
    method: "POST" | "PATCH",
    namespace: string,
    name: string | undefined,
    body: unknown,
  ): Promise<void> {
    const path = resourcePath(SERVICES, namespace, name);
    const what = `${method} service in ${namespace}`;
    const contentType = method === "POST" ? "application/json" : "application/merge-patch+json";
    await client.request({ method, path, body, contentType, what, signal });
  }

  async function remove({ namespace, name, uid, resourceVersion }: Kept<Service>): Promise<void> {
    const path = resourcePath(SERVICES, namespace, name);
    const body = { preconditions: { uid, resourceVersion } };
    try {
      await client.request({
        method: "DELETE",
        path,
        body,
        what: `delete service ${name}`,
        signal,
      });
    } catch (error) {
      if (!(error instanceof ApiError && error.kind === "notFound")) throw error;
    }
  }

  const informers = [deployments, services];
  await runLoop({ name: "service-per-deployment", informers, queue, sync, log, signal });
}

function wantedSpec(deployment: Deployment): Required<ServiceSpec> | undefined {
  const port = Number(deployment.metadata.annotations?.[SERVICE_PORT]);
  const selector = deployment.spec.selector.matchLabels;
  if (!Number.isInteger(port) || selector === undefined) return undefined;
  return { selector, ports: [{ port }] };
}

function bodyFor(deployment: Deployment, spec: ServiceSpec): object {
  const { name } = deployment.metadata;
  const ownerReferences = [ownedBy(deployment, "apps/v1", "Deployment")];
  return { apiVersion: "v1", kind: "Service", metadata: { name, ownerReferences }, spec };
}

// By UID: a Deployment made again under its old name owns nothing of the former one.
function isOurs(service: Service, deployment: Deployment | undefined): boolean {
  return (
    deployment !== undefined && controllerOf(service, "Deployment")?.uid === deployment.metadata.uid
  );
}

function serves({ selector, ports = [] }: ServiceSpec, wanted: Required<ServiceSpec>): boolean {
  const numbers = ports.map(({ port }) => ({ port }));
  return isDeepStrictEqual({ selector, ports: numbers }, wanted);
}
