// Answers access reviews. Everything is allowed in the sandbox, so the answer is that of a real server with
// the right granted. Nothing is stored.
import { readBody } from "./body.ts";
import { badRequest } from "../storage/status.ts";
import { isObject, type JsonObject } from "../storage/object.ts";

const PATH = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";

export function isAccessReview(method: string, path: string): boolean {
  return method === "POST" && path === PATH;
}

/** Throws a 400 for a `body` without a question. */
export async function reviewAccess(body: Buffer, contentType: string): Promise<JsonObject> {
  const unasked = (): Error => badRequest("the body is no SelfSubjectAccessReview");
  const asked = await readBody(body, contentType, unasked);
  if (!isObject(asked) || !isObject(asked["spec"])) throw unasked();
  return {
    kind: "SelfSubjectAccessReview",
    apiVersion: "authorization.k8s.io/v1",
    metadata: {},
    spec: asked["spec"],
    status: { allowed: true, reason: "the sandbox has no authorization" },
  };
}
