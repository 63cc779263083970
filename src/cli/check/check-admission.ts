// Finds the installed admission components of secretcast and compares their version with this one. A policy
// of another version may refuse valid writes of this version, or allow writes that it should refuse. A guard
// that names another account does not limit this one, or refuses its writes.
import { ApiError } from "../../../packages/kube/rest/api-error.ts";
import { causeOf } from "../../../packages/kube/rest/error-text.ts";
import type { Resource } from "../../../packages/kube/rest/resource.ts";
import type { ApiClient } from "../../../packages/kube/rest/api-client.ts";
import { fieldsIn, recordsIn, type AnswerFields } from "../../inspect/requests/fields.ts";
import { listPage } from "../../inspect/requests/get.ts";
import { orRefusal } from "../../inspect/requests/refusal.ts";
import { stringOf } from "../../controller/model/unstructured.ts";
import { finding, type CheckFinding } from "./finding.ts";

const GROUP = { group: "admissionregistration.k8s.io", version: "v1" } as const;
const VALIDATING: Resource = {
  ...GROUP,
  plural: "validatingadmissionpolicies",
  kind: "ValidatingAdmissionPolicy",
};
const MUTATING: Resource = {
  ...GROUP,
  plural: "mutatingadmissionpolicies",
  kind: "MutatingAdmissionPolicy",
};
const VERSION_LABEL = "app.kubernetes.io/version";
// Upper limit for the policies in a list. Releases and overlays add prefixes and suffixes to the names of
// policies, or replace "secretcast" there, so a match condition tells them from those of other programs.
const MOST = 500;

export type AdmissionComponent = {
  /** The folder under manifests/components, and how the policy's name ends. */
  readonly name: string;
  /** How the names of its policies end, if it has several. A name that contains another one comes first. */
  readonly policies?: readonly string[];
  readonly resource: Resource;
  /** The name of a match condition of its policy. */
  readonly condition: string;
  /** The effect of a missing component. */
  readonly without: string;
  /** What follows if none of a guard's policies names the controller's account, or if one does not. */
  readonly unnamed?: { readonly by: "all" | "any"; readonly says?: string };
};

export const ADMISSION_COMPONENTS: readonly AdmissionComponent[] = [
  {
    name: "guardrail",
    policies: ["guardrail-create", "guardrail"],
    resource: VALIDATING,
    condition: "by-the-controller",
    without: "nothing but RBAC limits what the controller's account may write",
    unnamed: { by: "all" },
  },
  {
    name: "tenant-guard",
    resource: VALIDATING,
    condition: "not-by-the-controller",
    without: "tenants may forge marks of copies, at the price of a conflict",
    unnamed: { by: "any", says: "the API server refuses its changes of copies" },
  },
  {
    name: "early-check",
    resource: VALIDATING,
    condition: "changes-our-annotations",
    without: "what is wrong with a source is reported by Events, not at kubectl apply",
  },
  {
    name: "pull-secrets",
    resource: MUTATING,
    condition: "few-listed",
    without: "Pods name their registry credential themselves",
  },
];

type Policy = {
  readonly name: string;
  readonly version: string;
  readonly conditions: readonly string[];
  /** The expressions of these. */
  readonly judged: string;
};

// With rights by name, the guardrail closes the one way to other Secrets.
const WITHOUT_GUARDRAIL_BY_NAME =
  "the controller's account can create a Secret of the type kubernetes.io/service-account-token with a listed name, and read a token of any service account of that namespace";

export async function checkAdmission(
  client: ApiClient,
  version: string,
  signal: AbortSignal,
  {
    onlyNames,
    account,
  }: { onlyNames?: readonly string[] | undefined; account?: string | undefined } = {},
): Promise<readonly CheckFinding[]> {
  const [validating, mutating] = await Promise.all([
    policies(client, VALIDATING, signal),
    policies(client, MUTATING, signal),
  ]);
  return ADMISSION_COMPONENTS.map((component) => {
    const isNeeded = onlyNames !== undefined && component.name === "guardrail";
    const judged = isNeeded ? { ...component, without: WITHOUT_GUARDRAIL_BY_NAME } : component;
    const shown = component.resource === VALIDATING ? validating : mutating;
    return findingOf(judged, shown, { version, account, isNeeded });
  });
}

type Shown =
  | { readonly policies: readonly Policy[] }
  | { readonly why: string; readonly served: boolean };

async function policies(
  client: ApiClient,
  resource: Resource,
  signal: AbortSignal,
): Promise<Shown> {
  const what = `list ${resource.plural}`;
  const query = { labelSelector: "app.kubernetes.io/name", limit: MOST };
  const found = await orRefusal(listPage(client, resource, undefined, { query, what, signal }));
  if (!(found instanceof ApiError)) return { policies: found.flatMap(policyOf) };
  return found.kind === "notFound"
    ? { why: `this API server has no ${resource.kind}`, served: false }
    : { why: causeOf(found).text, served: true };
}

function policyOf({ metadata, spec }: AnswerFields): readonly Policy[] {
  const { name, labels } = fieldsIn(metadata);
  if (typeof name !== "string") return [];
  const conditions = recordsIn(fieldsIn(spec)["matchConditions"]);
  return [
    {
      name,
      version: stringOf(fieldsIn(labels)[VERSION_LABEL]),
      conditions: conditions.map((one) => stringOf(one["name"])),
      judged: conditions.map(({ expression }) => stringOf(expression)).join("\n"),
    },
  ];
}

type Judged = {
  readonly version: string;
  /** The controller's, if it is known. */
  readonly account: string | undefined;
  readonly isNeeded: boolean;
};

function findingOf(
  { name, policies: parts = [name], condition, without, unnamed }: AdmissionComponent,
  shown: Shown,
  { version, account, isNeeded }: Judged,
): CheckFinding {
  const about = { area: "admission", check: name } as const;
  const install = `kubectl apply -k an overlay with manifests/components/${name}, or the chart's value for it`;
  const absent = isNeeded ? "warning" : "ok";
  if ("why" in shown) {
    const says = `${shown.served ? "it could not be seen" : "not installed"}: ${shown.why}`;
    const state = shown.served ? "unknown" : absent;
    return finding(about, state, isNeeded ? `${says}; without it, ${without}` : says);
  }
  const found = shown.policies.filter(
    (policy) =>
      parts.some((part) => policy.name.endsWith(`secretcast-${part}`)) ||
      (policy.name.includes(name) && policy.conditions.includes(condition)),
  );
  const [first] = found;
  if (!first)
    return finding(about, absent, `not installed: ${without}`, isNeeded ? install : undefined);
  const others = account === undefined ? [] : found.filter((policy) => !names(policy, account));
  const [another] = others;
  if (unnamed && another && (unnamed.by === "any" || others.length === found.length)) {
    const says = `${another.name} does not name ${account}: ${unnamed.says ?? without}`;
    const advice = `write ${account} into its matchConditions by a patch of your overlay, or use the chart`;
    return finding(about, "warning", says, advice);
  }
  const own = found.filter((policy) => !others.includes(policy) || others.length === found.length);
  const partOf = (policy: Policy): string | undefined =>
    parts.find((part) => policy.name.includes(part));
  const missing = parts.find((part) => !own.some((policy) => partOf(policy) === part));
  if (parts.length > 1 && missing !== undefined) {
    const says = `there is no policy secretcast-${missing} beside ${own[0]?.name}: ${without}`;
    return finding(about, "warning", says, `install all of it: ${install}`);
  }
  const other = found.find((policy) => policy.version !== version);
  if (!other) return finding(about, "ok", `${first.name} is of this version, ${version}`);
  const its = other.version === "" ? "of a version that it does not name" : `of ${other.version}`;
  const says = `${other.name} is ${its}, this program of ${version}`;
  return finding(about, "warning", says, `install it together with the controller: ${install}`);
}

const names = ({ judged }: Policy, account: string): boolean =>
  judged.includes(`'${account}'`) || judged.includes(`"${account}"`);
