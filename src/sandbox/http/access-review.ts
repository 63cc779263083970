// The question of whether one may do something. In the sandbox everybody may do everything, and it is
// answered as a real server would who grants that; nothing is stored.
import { badRequest } from "../storage/status.ts";
import { isObject, type JsonObject } from "../storage/object.ts";

const PATH = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";

export function isAccessReview(method: string, path: string): boolean {
  return method === "POST" && path === PATH;
}

/** Throws a 400 where `body` asks nothing. */
export function reviewAccess(body: Buffer): JsonObject {
  const asked = parse(body);
  if (!asked || !isObject(asked["spec"]))
    throw badRequest("the body is no SelfSubjectAccessReview");
  return {
    kind: "SelfSubjectAccessReview",
    apiVersion: "authorization.k8s.io/v1",
    metadata: {},
    spec: asked["spec"],
    status: { allowed: true, reason: "the sandbox has no authorization" },
  };
}

function parse(body: Buffer): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(body.toString());
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
