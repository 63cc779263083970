// Asks the API server of each right whether it is there: a SelfSubjectAccessReview each, a few at a
// time.
import { ApiError } from "../../kube/rest/api-error.ts";
import { causeOf } from "../../kube/rest/error-text.ts";
import type { ApiClient } from "../../kube/rest/api-client.ts";
import { isAllowed } from "../world/access-review.ts";
import type { CheckFinding } from "./finding.ts";
import { rightText, type NeededRight } from "./needed-rights.ts";

const AT_A_TIME = 8;

/** In the order of `rights`. Rejects where the server does not answer, or does not know who asks. */
export async function checkRights(
  client: ApiClient,
  rights: readonly NeededRight[],
  signal: AbortSignal,
): Promise<readonly CheckFinding[]> {
  const findings: CheckFinding[] = [];
  for (let from = 0; from < rights.length; from += AT_A_TIME) {
    const some = rights.slice(from, from + AT_A_TIME);
    findings.push(...(await Promise.all(some.map((right) => checkRight(client, right, signal)))));
  }
  return findings;
}

async function checkRight(
  client: ApiClient,
  right: NeededRight,
  signal: AbortSignal,
): Promise<CheckFinding> {
  const { verb, group, resource, namespace, name, why } = right;
  const about = { area: "right", check: rightText(right) } as const;
  try {
    const attributes = { verb, group, resource, namespace, name };
    if (await isAllowed(client, attributes, "ask for a right", signal))
      return { ...about, state: "ok", says: why, advice: undefined };
    return { ...about, state: "missing", says: `no right to it: ${why}`, advice: adviceOf(right) };
  } catch (error) {
    if (!(error instanceof ApiError) || error.status < 400 || error.kind === "unauthorized")
      throw error;
    return {
      ...about,
      state: "unknown",
      says: `it could not be asked: ${causeOf(error).text}`,
      advice: "let this user create selfsubjectaccessreviews, as system:basic-user does",
    };
  }
}

function adviceOf({ resource, namespace, name }: NeededRight): string {
  if (resource === "leases" || (resource === "configmaps" && name !== undefined))
    return `apply the Role of manifests/role.yaml in ${namespace ?? "its namespace"}${name === undefined ? "" : `, with ${name} among its resourceNames`}`;
  const ofMaps = resource === "configmaps";
  const folder = `manifests/namespace-rights${ofMaps ? "/config-maps" : ""}`;
  if (namespace !== undefined) return `kubectl apply -n ${namespace} -k ${folder}`;
  if (name !== undefined)
    return `name ${name} in the ClusterRole, as manifests/components/listed-namespaces does`;
  if (ofMaps)
    return "add the component manifests/components/config-maps, or configMaps in the chart";
  return "apply the ClusterRole and its binding: manifests/clusterrole.yaml, manifests/clusterrolebinding.yaml";
}
