// Counts the objects of a kind with a page of one object, without reading values.
import { METADATA_LIST, resourcePath, type Resource } from "../../kube/rest/resource.ts";
import type { ApiClient } from "../../kube/rest/api-client.ts";
import { isRecord } from "../../kube/json.ts";

export async function countObjects(
  client: ApiClient,
  resource: Resource,
  signal: AbortSignal,
): Promise<number> {
  const page = await client.request<unknown>({
    method: "GET",
    path: resourcePath(resource),
    query: { limit: 1 },
    accept: METADATA_LIST,
    what: `count ${resource.plural}`,
    signal,
  });
  const list: Readonly<Record<string, unknown>> = isRecord(page) ? page : {};
  const items = Array.isArray(list["items"]) ? list["items"].length : 0;
  const metadata = isRecord(list["metadata"]) ? list["metadata"] : {};
  const rest = metadata["remainingItemCount"];
  return items + (typeof rest === "number" ? rest : 0);
}
