// Short words for the requests that are put to both servers.
import type { Request } from "./request.ts";

export const NAMESPACE = "/api/v1/namespaces/replay";
export const SECRETS = `${NAMESPACE}/secrets`;
export const A = `${SECRETS}/a`;
export const merge = "application/merge-patch+json";
export const strategic = "application/strategic-merge-patch+json";
export const jsonPatch = "application/json-patch+json";
export const applyPatch = "application/apply-patch+yaml";
export const UID = "11111111-1111-1111-1111-111111111111";

export const OTHER_UID = "22222222-2222-2222-2222-222222222222";

export const post = (body: unknown, path = SECRETS): Request => ({ method: "POST", path, body });
export const put = (body: unknown, path = A): Request => ({ method: "PUT", path, body });
export const patch = (contentType: string, body: unknown, path = A): Request => ({
  method: "PATCH",
  path,
  contentType,
  body,
});
export const remove = (path: string, body?: unknown): Request => ({
  method: "DELETE",
  path,
  ...(body !== undefined && { body }),
});
export const get = (path: string, accept?: string): Request => ({
  method: "GET",
  path,
  ...(accept !== undefined && { accept }),
});
export const named = (metadata: object, rest: object = {}): object => ({
  metadata: { name: "odd", ...metadata },
  ...rest,
});
export const data = { k: "dg==" };
