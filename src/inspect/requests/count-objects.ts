// Counts the objects of a kind with a page of one object, without reading values.
import {
  METADATA_LIST,
  resourcePath,
  type Resource,
} from "../../../packages/kube/rest/resource.ts";
import type { ApiClient } from "../../../packages/kube/rest/api-client.ts";
import { fieldsIn } from "./fields.ts";

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
  const { items, metadata } = fieldsIn(page);
  const rest = fieldsIn(metadata)["remainingItemCount"];
  return (Array.isArray(items) ? items.length : 0) + (typeof rest === "number" ? rest : 0);
}
