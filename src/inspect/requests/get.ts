// Reads one object, or the start of a list. Both reject with an ApiError.
import type { ApiClient, ApiRequest } from "../../../packages/kube/rest/api-client.ts";
import { resourcePath, type Resource } from "../../../packages/kube/rest/resource.ts";
import type { Ref } from "../../text/names.ts";
import { fieldsIn, recordsIn, type AnswerFields } from "./fields.ts";

/** An object without a namespace has "" as its namespace. */
export function getObject(
  client: ApiClient,
  resource: Resource,
  { namespace, name }: Ref,
  signal: AbortSignal,
  more: Partial<Pick<ApiRequest, "accept" | "mostBytes" | "what">> = {},
): Promise<unknown> {
  const place = namespace === "" ? undefined : namespace;
  return client.request<unknown>({
    method: "GET",
    path: resourcePath(resource, place, name),
    what: `get ${resource.kind.toLowerCase()} ${place === undefined ? "" : `${place}/`}${name}`,
    signal,
    ...more,
  });
}

/** One page. */
export async function listPage(
  client: ApiClient,
  resource: Resource,
  namespace: string | undefined,
  request: Pick<ApiRequest, "query" | "accept" | "what" | "signal">,
): Promise<readonly AnswerFields[]> {
  const path = resourcePath(resource, namespace);
  const list = await client.request<unknown>({ method: "GET", path, ...request });
  return recordsIn(fieldsIn(list)["items"]);
}
