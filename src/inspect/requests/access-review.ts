// Asks whether a user may do something, like `kubectl auth can-i`. The request is a review, which creates
// nothing.
import type { V1ResourceAttributes } from "@kubernetes/client-node";
import type { ApiClient } from "../../../packages/kube/rest/api-client.ts";
import { fieldsIn } from "./fields.ts";

const GROUP = "/apis/authorization.k8s.io/v1";

/** Those that say what is asked. An absent group is the core group. */
export type AccessAttributes = Readonly<
  Required<Pick<V1ResourceAttributes, "verb" | "resource">>
> & {
  readonly [Name in "group" | "subresource" | "namespace" | "name"]?:
    | V1ResourceAttributes[Name]
    | undefined;
};

/** Whether the client's own user may, or the user in --as. `what` is for error messages. */
export function isAllowed(
  client: ApiClient,
  resourceAttributes: AccessAttributes,
  what: string,
  signal: AbortSignal,
): Promise<boolean> {
  return review(client, "SelfSubjectAccessReview", { resourceAttributes }, what, signal);
}

/** Whether `user` may, in the groups of a service account or of any user who is logged in. */
export function isAllowedTo(
  client: ApiClient,
  { user, groups }: { readonly user: string; readonly groups: readonly string[] },
  resourceAttributes: AccessAttributes,
  what: string,
  signal: AbortSignal,
): Promise<boolean> {
  const [, namespace] = /^system:serviceaccount:([^:]+):[^:]+$/.exec(user) ?? [];
  const implied =
    namespace === undefined || groups.length > 0
      ? groups
      : ["system:serviceaccounts", `system:serviceaccounts:${namespace}`];
  const spec = { user, groups: [...implied, "system:authenticated"], resourceAttributes };
  return review(client, "SubjectAccessReview", spec, what, signal);
}

async function review(
  client: ApiClient,
  kind: "SelfSubjectAccessReview" | "SubjectAccessReview",
  spec: Readonly<Record<string, unknown>>,
  what: string,
  signal: AbortSignal,
): Promise<boolean> {
  const answer = await client.request<unknown>({
    method: "POST",
    path: `${GROUP}/${kind.toLowerCase()}s`,
    body: { apiVersion: "authorization.k8s.io/v1", kind, spec },
    what,
    signal,
  });
  return fieldsIn(fieldsIn(answer)["status"])["allowed"] === true;
}
