// Asks the API server whether each right is granted, with one review per right and a few at a time.
import { listed } from "../../text/listed.ts";
import type { ObjectKind } from "../../controller/model/kinds.ts";
import { kindOfResource } from "../../inspect/kubectl/kind-words.ts";
import { finding, type CheckFinding } from "./finding.ts";
import { rightText, SOURCE_LIST, type NeededRight } from "../rights/needed-rights.ts";
import { orUnasked, type RightsOf } from "./whose-rights.ts";

const AT_A_TIME = 8;
const NO_RIGHT = "no right to it";

export type CheckedAccount = {
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
  judged: CheckedAccount,
  rights: readonly NeededRight[],
  signal: AbortSignal,
): Promise<readonly CheckFinding[]> {
  const findings: CheckFinding[] = [];
  for (let from = 0; from < rights.length; from += AT_A_TIME) {
    const some = rights.slice(from, from + AT_A_TIME);
    findings.push(...(await Promise.all(some.map((right) => checkRight(judged, right, signal)))));
  }
  return withoutRepeats(findings);
}

// What the controller does without is one line, in however many namespaces the right is missing.
function withoutRepeats(findings: readonly CheckFinding[]): readonly CheckFinding[] {
  const warnings = new Map<string, string[]>();
  for (const { state, says, check } of findings)
    if (state === "warning") warnings.set(says, [...(warnings.get(says) ?? []), check]);
  return findings.flatMap((each) => {
    const checks = each.state === "warning" ? warnings.get(each.says) : undefined;
    if (!checks) return [each];
    if (checks[0] !== each.check) return [];
    return [{ ...each, check: listed(checks, 1) }];
  });
}

async function checkRight(
  { rightsOf, yours, unasked, guessed }: CheckedAccount,
  right: NeededRight,
  signal: AbortSignal,
): Promise<CheckFinding> {
  const { why } = right;
  const [granted, own] = await Promise.all([
    answerOf(rightsOf, right, signal),
    yours && answerOf(yours, right, signal),
  ]);
  const denied = typeof granted === "object" ? granted.name : undefined;
  const lacking = denied === undefined ? NO_RIGHT : `no right to the name ${denied}`;
  const about: Pick<CheckFinding, "area" | "check" | "yours"> = {
    area: "right",
    check: rightText(right),
    ...(own !== undefined && { yours: yoursText(own) }),
  };
  if (typeof granted === "string")
    return finding(about, "unknown", `it could not be asked: ${granted}`, unasked);
  if (granted === true) return finding(about, "ok", why);
  const { without } = right;
  if (without !== undefined) return finding(about, "warning", `${lacking}: ${without}`);
  if (!guessed) return finding(about, "missing", `${lacking}: ${why}`, adviceOf(right));
  return finding(
    about,
    "unknown",
    `${lacking}, and whether it is needed is not known: ${why}`,
    "give the flags of the controller and its namespace (-n), or ask as a user who may read its Deployment",
  );
}

/** Denied: for this name, or as a whole. */
type Denied = { readonly name: string | undefined };

function yoursText(answer: true | Denied | string): "yes" | "no" | "unknown" {
  if (answer === true) return "yes";
  return typeof answer === "string" ? "unknown" : "no";
}

/**
 * Whether it is granted for all of its names. A text says why that is not known. It asks for one name after
 * the other, up to the first that is denied.
 */
async function answerOf(
  rightsOf: RightsOf,
  { verb, group, resource, namespace, names }: NeededRight,
  signal: AbortSignal,
): Promise<true | Denied | string> {
  const right = { verb, group, resource, namespace };
  for (const name of names ?? [undefined]) {
    const answer = await orUnasked(rightsOf({ ...right, name }, signal));
    if (answer === false) return { name };
    if (answer !== true) return answer;
  }
  return true;
}

/** The manifests with the rights on a kind: in one namespace, and everywhere. */
const APPLIED: Readonly<
  Record<ObjectKind, { readonly folder: string; readonly everywhere: string }>
> = {
  Secret: {
    folder: "manifests/namespace-rights",
    everywhere:
      "apply the ClusterRole and its binding: manifests/clusterrole.yaml, manifests/clusterrolebinding.yaml",
  },
  ConfigMap: {
    folder: "manifests/namespace-rights/config-maps",
    everywhere: "add the component manifests/components/config-maps, or configMaps in the chart",
  },
};

function adviceOf({ resource, namespace, names, why }: NeededRight): string {
  const name = names?.join(", ");
  if (resource === "leases" || why === SOURCE_LIST)
    return `apply the Role of manifests/role.yaml in ${namespace ?? "its namespace"}${name === undefined ? "" : `, with ${name} among its resourceNames`}`;
  if (names !== undefined)
    return "apply what `secretcast rights` prints for the flags of the controller";
  const { folder, everywhere } = APPLIED[kindOfResource(resource)];
  return namespace === undefined ? everywhere : `kubectl apply -n ${namespace} -k ${folder}`;
}
