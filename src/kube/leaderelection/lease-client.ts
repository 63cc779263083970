// The requests of an election by the API client. Give it a client of its own: renewals must not wait
// behind bulk writes. Timeouts are the elector's; ApiError's `kind` is what it reads.
import type { ApiClient } from "../rest/client.ts";
import type { LeaseClient } from "./lease-lock.ts";
import type { Lease } from "./lease-record.ts";
import { LEASES, resourcePath } from "../rest/resource.ts";

export function createLeaseClient(api: ApiClient, namespace: string, name: string): LeaseClient {
  const collection = resourcePath(LEASES, namespace);
  const path = resourcePath(LEASES, namespace, name);
  const lease = `lease ${namespace}/${name}`;
  return {
    get: (signal) => api.request<Lease>({ method: "GET", path, signal, what: `get ${lease}` }),
    create(body, signal) {
      const what = `create ${lease}`;
      return api.request<Lease>({ method: "POST", path: collection, body, signal, what });
    },
    update(body, signal) {
      const what = `update ${lease}`;
      return api.request<Lease>({ method: "PUT", path, body, signal, what });
    },
  };
}
