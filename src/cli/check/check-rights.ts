// Asks the API server whether each right is granted, with one review per right and a few at a time.
import { ApiError } from "../../kube/rest/api-error.ts";
import { causeOf } from "../../kube/rest/error-text.ts";
import type { CheckFinding } from "./finding.ts";
import { rightText, type NeededRight } from "./needed-rights.ts";
import type { RightsOf } from "./whose-rights.ts";

const AT_A_TIME = 8;
const YOURS = new Map<boolean | string, "yes" | "no">([
  [true, "yes"],
  [false, "no"],
]);

export type Judged = {
  /** Whose rights are needed. */
  readonly rightsOf: RightsOf;
  /** The user's own rights. Undefined when they are not judged separately. */
  readonly yours: RightsOf | undefined;
  /** Advice for a right that no review could check. */
  readonly unasked: string;
  /** The settings may not be those of the controller. In this case no right is known to be needed. */
  readonly guessed: boolean;
};

/** Findings keep the order of `rights`. Rejects when the server does not answer or authentication fails. */
export async function checkRights(
  judged: Judged,
  rights: readonly NeededRight[],
  signal: AbortSignal,
): Promise<readonly CheckFinding[]> {
  const findings: CheckFinding[] = [];
  for (let from = 0; from < rights.length; from += AT_A_TIME) {
    const some = rights.slice(from, from + AT_A_TIME);
    findings.push(...(await Promise.all(some.map((right) => checkRight(judged, right, signal)))));
  }
  return findings;
}

async function checkRight(
  { rightsOf, yours, unasked, guessed }: Judged,
  right: NeededRight,
  signal: AbortSignal,
): Promise<CheckFinding> {
  const { why } = right;
  const [granted, own] = await Promise.all([
    answerOf(rightsOf, right, signal),
    yours && answerOf(yours, right, signal),
  ]);
  const about: Pick<CheckFinding, "area" | "check" | "yours"> = {
    area: "right",
    check: rightText(right),
    ...(own !== undefined && { yours: YOURS.get(own) ?? "unknown" }),
  };
  if (typeof granted === "string")
    return {
      ...about,
      state: "unknown",
      says: `it could not be asked: ${granted}`,
      advice: unasked,
    };
  if (granted) return { ...about, state: "ok", says: why, advice: undefined };
  if (!guessed)
    return { ...about, state: "missing", says: `no right to it: ${why}`, advice: adviceOf(right) };
  return {
    ...about,
    state: "unknown",
    says: `no right to it, and whether it is needed is not known: ${why}`,
    advice:
      "give the flags of the controller and its namespace (-n), or ask as a user who may read its Deployment",
  };
}

/** A text says why it is not known. */
async function answerOf(
  rightsOf: RightsOf,
  { verb, group, resource, namespace, name }: NeededRight,
  signal: AbortSignal,
): Promise<boolean | string> {
  try {
    return await rightsOf({ verb, group, resource, namespace, name }, signal);
  } catch (error) {
    if (!(error instanceof ApiError) || error.status < 400 || error.kind === "unauthorized")
      throw error;
    return causeOf(error).text;
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
