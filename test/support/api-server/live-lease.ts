// A Lease as a replica that leads renews it, so that the commands find a controller that keeps copies current.
import type { ApiClient } from "../../../packages/kube/rest/api-client.ts";
import { createClient } from "../../../packages/kube/rest/client.ts";
import { LEASES, NAMESPACES, resourcePath } from "../../../packages/kube/rest/resource.ts";
import { loadKubeConfig } from "../../../packages/kube/kubeconfig/kubeconfig.ts";
import { systemClock } from "../../../packages/kube/time/clock.ts";
import { liveLease } from "../cli/sandbox-cluster.ts";

type Access = { readonly kubeconfig: string } | { readonly client: ApiClient };

/** In place of one that is there, and with its namespace. Resolves with what deletes it. */
export async function placeLiveLease(
  access: Access,
  namespace = "secretcast",
  name = "secretcast",
): Promise<() => Promise<void>> {
  const path = resourcePath(LEASES, namespace);
  const within = async (work: (client: ApiClient) => Promise<unknown>): Promise<void> => {
    if ("client" in access) return void (await work(access.client));
    const options = { clock: systemClock, userAgent: "secretcast-test" };
    const client = createClient(loadKubeConfig(access), options);
    try {
      await work(client);
    } finally {
      await client.close();
    }
  };
  const remove = (): Promise<void> =>
    within((client) =>
      client
        .request({ method: "DELETE", path: `${path}/${name}`, what: "delete the lease" })
        .catch(() => undefined),
    );
  await remove();
  const home = { apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } };
  const body = { ...liveLease(namespace), metadata: { namespace, name } };
  await within(async (client) => {
    await client
      .request({ method: "POST", path: resourcePath(NAMESPACES), body: home, what: "create it" })
      .catch(() => undefined);
    await client.request({ method: "POST", path, body, what: "create the lease" });
  });
  return remove;
}
