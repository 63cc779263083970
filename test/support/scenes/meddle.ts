// A client that lets a test act between the controller's decision and the arrival of its request: the
// one way to lose a race on purpose, on either server.
import type { ApiClient, ApiRequest } from "../../../packages/kube/rest/api-client.ts";

/** Awaited before each request is sent; throwing is answering in the server's place. */
export type Meddle = (request: ApiRequest) => Promise<void>;

export function meddled(client: ApiClient, meddle: Meddle): ApiClient {
  return {
    server: client.server,
    reachability: client.reachability,
    async request<T>(request: ApiRequest): Promise<T> {
      await meddle(request);
      return client.request<T>(request);
    },
    async open(request) {
      await meddle(request);
      return client.open(request);
    },
    close: () => client.close(),
  };
}
