// Asks the API server whether each right is granted, with one review per right and a few at a time.
import { ApiError } from "../../kube/rest/api-error.ts";
import { causeOf } from "../../kube/rest/error-text.ts";
import type { CheckFinding } from "./finding.ts";
import { rightText, SOURCE_LIST, type NeededRight } from "../rights/needed-rights.ts";
import type { RightsOf } from "./whose-rights.ts";

const AT_A_TIME = 8;
const MOST_DENIED_SHOWN = 5;
/** Each takes about a millisecond of the API server. */
const MOST_REVIEWS = 10_000;

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
  const asked = rights.slice(0, countWithin(MOST_REVIEWS, rights));
  const findings: CheckFinding[] = [];
  for (let from = 0; from < asked.length; from += AT_A_TIME) {
    const some = asked.slice(from, from + AT_A_TIME);
    findings.push(
      ...(await Promise.all(
        some.map((right) => checkRight(judged, right, isWritten(right, rights), signal)),
      )),
    );
  }
  const unasked = rights.length - asked.length;
  return [...withoutRepeats(findings), ...(unasked > 0 ? [tooMany(unasked)] : [])];
}

/** How many of them take at most `most` reviews. */
function countWithin(most: number, rights: readonly NeededRight[]): number {
  let left = most;
  const end = rights.findIndex(({ names }) => (left -= names?.length ?? 1) < 0);
  return end < 0 ? rights.length : end;
}

function tooMany(count: number): CheckFinding {
  return {
    area: "right",
    check: `${count} more rights`,
    state: "unknown",
    says: `not asked: they take more than ${MOST_REVIEWS} reviews`,
    advice: "check a part of the namespaces at a time: --namespaces",
  };
}

// What the controller does without is one line, in however many namespaces the right is missing.
function withoutRepeats(findings: readonly CheckFinding[]): readonly CheckFinding[] {
  const warnings = new Map<string, string[]>();
  for (const { state, says, check } of findings) {
    if (state !== "warning") continue;
    const checks = warnings.get(says);
    if (checks) checks.push(check);
    else warnings.set(says, [check]);
  }
  return findings.flatMap((finding) => {
    const checks = finding.state === "warning" ? warnings.get(finding.says) : undefined;
    if (!checks) return [finding];
    if (checks[0] !== finding.check) return [];
    const more = checks.length - 1;
    return [
      { ...finding, check: more === 0 ? finding.check : `${finding.check} and ${more} more` },
    ];
  });
}

async function checkRight(
  { rightsOf, yours, unasked, guessed }: Judged,
  right: NeededRight,
  writes: boolean,
  signal: AbortSignal,
): Promise<CheckFinding> {
  const { why } = right;
  const [denied, own] = await Promise.all([
    deniedOf(rightsOf, right, signal),
    yours && deniedOf(yours, right, signal),
  ]);
  const about: Pick<CheckFinding, "area" | "check" | "yours"> = {
    area: "right",
    check: rightText(right),
    ...(own !== undefined && { yours: yesOrNo(own) }),
  };
  if (typeof denied === "string")
    return {
      ...about,
      state: "unknown",
      says: `it could not be asked: ${denied}`,
      advice: unasked,
    };
  const no = noRight(denied, right);
  if (denied.length === 0) return { ...about, state: "ok", says: why, advice: undefined };
  const { without } = right;
  if (without !== undefined)
    return { ...about, state: "warning", says: `${no}: ${without}`, advice: undefined };
  if (!guessed)
    return { ...about, state: "missing", says: `${no}: ${why}`, advice: adviceOf(right, writes) };
  return {
    ...about,
    state: "unknown",
    says: `${no}, and whether it is needed is not known: ${why}`,
    advice:
      "give the flags of the controller and its namespace (-n), or ask as a user who may read its Deployment",
  };
}

/** The names that are denied: [undefined] where the right has no names. A text says why that is not known. */
type Denied = readonly (string | undefined)[] | string;

async function deniedOf(
  rightsOf: RightsOf,
  { verb, group, resource, namespace, names }: NeededRight,
  signal: AbortSignal,
): Promise<Denied> {
  const denied: (string | undefined)[] = [];
  try {
    for (const name of names ?? [undefined])
      if (!(await rightsOf({ verb, group, resource, namespace, name }, signal))) denied.push(name);
    return denied;
  } catch (error) {
    if (!(error instanceof ApiError) || error.status < 400 || error.kind === "unauthorized")
      throw error;
    return causeOf(error).text;
  }
}

function yesOrNo(denied: Denied): "yes" | "no" | "unknown" {
  if (typeof denied === "string") return "unknown";
  return denied.length === 0 ? "yes" : "no";
}

/** Names the denied ones where others are granted. */
function noRight(denied: readonly (string | undefined)[], { names }: NeededRight): string {
  if (names === undefined || denied.length === names.length) return "no right to it";
  const more = denied.length - MOST_DENIED_SHOWN;
  const shown = denied.slice(0, MOST_DENIED_SHOWN).join(", ");
  return `no right to ${shown}${more > 0 ? ` and ${more} more` : ""}`;
}

/** Whether copies are written there. The folders of manifests/ have no Role that only reads. */
function isWritten({ resource, namespace }: NeededRight, rights: readonly NeededRight[]): boolean {
  return rights.some(
    (right) =>
      right.verb === "create" && right.resource === resource && right.namespace === namespace,
  );
}

function adviceOf({ resource, namespace, names, why }: NeededRight, writes: boolean): string {
  const name = names?.join(", ");
  if (resource === "leases" || why === SOURCE_LIST)
    return `apply the Role of manifests/role.yaml in ${namespace ?? "its namespace"}${name === undefined ? "" : `, with ${name} among its resourceNames`}`;
  if (names !== undefined || (namespace !== undefined && !writes))
    return "apply what `secretcast rights` prints for the flags of the controller";
  const ofMaps = resource === "configmaps";
  const folder = `manifests/namespace-rights${ofMaps ? "/config-maps" : ""}`;
  if (namespace !== undefined) return `kubectl apply -n ${namespace} -k ${folder}`;
  if (ofMaps)
    return "add the component manifests/components/config-maps, or configMaps in the chart";
  return "apply the ClusterRole and its binding: manifests/clusterrole.yaml, manifests/clusterrolebinding.yaml";
}
