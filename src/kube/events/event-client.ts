// The recorder's requests by the API client.
import type { ApiClient } from "../rest/client.ts";
import type { EventClient } from "./event-writer.ts";
import { EVENTS, resourcePath } from "../rest/resource.ts";

export function createEventClient(api: ApiClient): EventClient {
  return {
    create(body, signal) {
      const { namespace, name } = body.metadata;
      const what = `create event ${namespace}/${name}`;
      const path = resourcePath(EVENTS, namespace);
      return api.request({ method: "POST", path, body, signal, what });
    },
    patchSeries(event, series, signal) {
      const { namespace, name } = event.metadata;
      return api.request({
        method: "PATCH",
        path: resourcePath(EVENTS, namespace, name),
        contentType: "application/merge-patch+json",
        body: { series },
        signal,
        what: `patch event ${namespace}/${name}`,
      });
    },
  };
}
