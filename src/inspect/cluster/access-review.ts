// Asks whether a user may do something, like `kubectl auth can-i`. The request is a review, which creates
// nothing.
import type { ApiClient } from "../../kube/rest/api-client.ts";
import { ApiError } from "../../kube/rest/api-error.ts";
import { isRecord } from "../../kube/json.ts";

const GROUP = "/apis/authorization.k8s.io/v1";

/** As the API calls them: resourceAttributes. */
export type AccessAttributes = {
  readonly verb: string;
  /** Absent: the core group. */
  readonly group?: string;
  readonly resource: string;
  readonly subresource?: string;
  readonly namespace?: string | undefined;
  readonly name?: string | undefined;
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
  const status = isRecord(answer) ? answer["status"] : undefined;
  return isRecord(status) && status["allowed"] === true;
}

/** A rule of RBAC that holds in a namespace. */
export type GrantedRule = {
  readonly verbs: readonly string[];
  readonly groups: readonly string[];
  readonly resources: readonly string[];
  /** Empty: every name. */
  readonly names: readonly string[];
};

/**
 * The rules of the client's user in a namespace, as the API server lists them. Undefined where it does not
 * tell: a review can be denied, and not every authorizer can list its rules.
 */
export async function grantedRules(
  client: ApiClient,
  namespace: string,
  what: string,
  signal: AbortSignal,
): Promise<readonly GrantedRule[] | undefined> {
  const kind = "SelfSubjectRulesReview";
  try {
    const answer = await client.request<unknown>({
      method: "POST",
      path: `${GROUP}/${kind.toLowerCase()}s`,
      body: { apiVersion: "authorization.k8s.io/v1", kind, spec: { namespace } },
      what,
      signal,
    });
    const status = isRecord(answer) && isRecord(answer["status"]) ? answer["status"] : {};
    const rules: unknown = status["resourceRules"];
    return Array.isArray(rules) ? rules.filter(isRecord).map(ruleOf) : undefined;
  } catch (error) {
    if (error instanceof ApiError && (error.kind === "forbidden" || error.kind === "notFound"))
      return undefined;
    throw error;
  }
}

function ruleOf(rule: Readonly<Record<string, unknown>>): GrantedRule {
  const texts = (value: unknown): readonly string[] =>
    Array.isArray(value) ? value.filter((each) => typeof each === "string") : [];
  return {
    verbs: texts(rule["verbs"]),
    groups: texts(rule["apiGroups"]),
    resources: texts(rule["resources"]),
    names: texts(rule["resourceNames"]),
  };
}
