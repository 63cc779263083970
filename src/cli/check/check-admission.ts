// Finds the installed admission components of secretcast and compares their version with this one. A policy
// of another version may refuse valid writes of this version, or allow writes that it should refuse.
import { ApiError } from "../../kube/rest/api-error.ts";
import { causeOf } from "../../kube/rest/error-text.ts";
import { resourcePath, type Resource } from "../../kube/rest/resource.ts";
import type { ApiClient } from "../../kube/rest/api-client.ts";
import { isRecord } from "../../kube/json.ts";
import type { CheckFinding } from "./finding.ts";

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
// Upper limit for the policies in a list. Policies are found by the end of their names, because a chart
// release adds its own prefix.
const MOST = 500;

export type AdmissionComponent = {
  /** The folder under manifests/components, and how the policy's name ends. */
  readonly name: string;
  readonly resource: Resource;
  /** The effect of a missing component. */
  readonly without: string;
};

export const ADMISSION_COMPONENTS: readonly AdmissionComponent[] = [
  {
    name: "guardrail",
    resource: VALIDATING,
    without: "nothing but RBAC limits what the controller's account may write",
  },
  {
    name: "tenant-guard",
    resource: VALIDATING,
    without: "tenants may forge marks of copies, at the price of a conflict",
  },
  {
    name: "early-check",
    resource: VALIDATING,
    without: "what is wrong with a source is reported by Events, not at kubectl apply",
  },
  {
    name: "pull-secrets",
    resource: MUTATING,
    without: "Pods name their registry credential themselves",
  },
];

type Policy = { readonly name: string; readonly version: string };

// With rights by name, the guardrail closes the one way to other Secrets.
const WITHOUT_GUARDRAIL_BY_NAME =
  "the controller's account can create a Secret of the type kubernetes.io/service-account-token with a listed name, and read a token of any service account of that namespace";

export async function checkAdmission(
  client: ApiClient,
  version: string,
  signal: AbortSignal,
  onlyNames?: readonly string[],
): Promise<readonly CheckFinding[]> {
  const [validating, mutating] = await Promise.all([
    policies(client, VALIDATING, signal),
    policies(client, MUTATING, signal),
  ]);
  return ADMISSION_COMPONENTS.map((component) => {
    const isNeeded = onlyNames !== undefined && component.name === "guardrail";
    const judged = isNeeded ? { ...component, without: WITHOUT_GUARDRAIL_BY_NAME } : component;
    const shown = component.resource === VALIDATING ? validating : mutating;
    return findingOf(judged, shown, version, isNeeded);
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
  try {
    const list = await client.request<unknown>({
      method: "GET",
      path: resourcePath(resource),
      query: { labelSelector: "app.kubernetes.io/name", limit: MOST },
      what: `list ${resource.plural}`,
      signal,
    });
    const items = isRecord(list) && Array.isArray(list["items"]) ? list["items"] : [];
    return { policies: items.flatMap((item: unknown) => policyOf(item)) };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    if (error.kind === "notFound")
      return { why: `this API server has no ${resource.kind}`, served: false };
    if (error.kind === "forbidden") return { why: causeOf(error).text, served: true };
    throw error;
  }
}

function policyOf(item: unknown): readonly Policy[] {
  const metadata = isRecord(item) && isRecord(item["metadata"]) ? item["metadata"] : {};
  const labels = isRecord(metadata["labels"]) ? metadata["labels"] : {};
  const { name } = metadata;
  const version = labels[VERSION_LABEL];
  if (typeof name !== "string") return [];
  return [{ name, version: typeof version === "string" ? version : "" }];
}

function findingOf(
  { name, without }: AdmissionComponent,
  shown: Shown,
  version: string,
  isNeeded: boolean,
): CheckFinding {
  const about = { area: "admission", check: name } as const;
  const install = `kubectl apply -k an overlay with manifests/components/${name}, or the chart's value for it`;
  const absent = isNeeded ? "warning" : "ok";
  if ("why" in shown) {
    const says = `${shown.served ? "it could not be seen" : "not installed"}: ${shown.why}`;
    return {
      ...about,
      state: shown.served ? "unknown" : absent,
      says: isNeeded ? `${says}; without it, ${without}` : says,
      advice: undefined,
    };
  }
  const found = shown.policies.filter((policy) => policy.name.endsWith(`secretcast-${name}`));
  const [first] = found;
  if (!first)
    return {
      ...about,
      state: absent,
      says: `not installed: ${without}`,
      advice: isNeeded ? install : undefined,
    };
  const other = found.find((policy) => policy.version !== version);
  if (!other)
    return {
      ...about,
      state: "ok",
      says: `${first.name} is of this version, ${version}`,
      advice: undefined,
    };
  const its = other.version === "" ? "of a version that it does not name" : `of ${other.version}`;
  return {
    ...about,
    state: "warning",
    says: `${other.name} is ${its}, this program of ${version}`,
    advice: `install it together with the controller: ${install}`,
  };
}
