// Finds rights of the controller's account that these settings do not need. It asks for each verb on Secrets
// and ConfigMaps, and for the rights that lead to Secrets.
import { KINDS, OBJECT_KINDS } from "../../controller/model/kinds.ts";
import { listed } from "../../text/listed.ts";
import type { AccessAttributes } from "../../inspect/requests/access-review.ts";
import type { NeededRight } from "../rights/needed-rights.ts";
import { finding, type CheckFinding } from "./finding.ts";
import { orUnasked, type RightsOf } from "./whose-rights.ts";

// Each namespace costs 25 reviews at most.
const MOST_NAMESPACES = 100;
const VERBS = ["get", "list", "watch", "create", "update", "patch", "delete", "deletecollection"];
const RESOURCES = OBJECT_KINDS.map((kind) => {
  const { group, plural: resource } = KINDS[kind].resource;
  return { group, resource };
});
const RBAC = "rbac.authorization.k8s.io";

/** Rights with which the account can get others. */
const DETOURS: readonly AccessAttributes[] = [
  { verb: "create", resource: "pods" },
  { verb: "create", resource: "pods", subresource: "exec" },
  { verb: "create", resource: "serviceaccounts", subresource: "token" },
  { verb: "impersonate", resource: "serviceaccounts" },
  { verb: "impersonate", resource: "users" },
  { verb: "create", group: RBAC, resource: "rolebindings" },
  { verb: "create", group: RBAC, resource: "clusterrolebindings" },
  { verb: "escalate", group: RBAC, resource: "clusterroles" },
  { verb: "bind", group: RBAC, resource: "clusterroles" },
];

const ADVICE =
  "apply what `secretcast rights` prints for these flags, and remove the other roles of the account";

/** Rights that are too wide, one line for each resource. The wildcard is one line for all. */
export async function checkWidth(
  rightsOf: RightsOf,
  needed: readonly NeededRight[],
  signal: AbortSignal,
): Promise<readonly CheckFinding[]> {
  // The line of a needed right says why a review fails.
  const ask = async (right: AccessAttributes): Promise<boolean> =>
    (await orUnasked(rightsOf(right, signal))) === true;
  if (await ask({ verb: "*", group: "*", resource: "*" }))
    return [tooWide("every right in the cluster", "these flags need a few rights only")];
  const wide = new Set(
    needed
      .filter(({ names }) => names === undefined)
      .map(({ verb, group, resource, namespace }) => textOf({ verb, group, resource }, namespace)),
  );
  const inCluster = await excessIn(undefined, wide, ask);
  const everywhere = new Set(inCluster.map((right) => textOf(right, undefined)));
  const found = new Map<string, { says: string; namespaces: string[] }>();
  for (const namespace of namespacesOf(needed)) {
    const more = (await excessIn(namespace, wide, ask, everywhere)) ?? [];
    for (const [what, says] of linesOf(more)) {
      const line = found.get(what);
      if (line) line.namespaces.push(namespace);
      else found.set(what, { says, namespaces: [namespace] });
    }
  }
  return [
    ...linesOf(inCluster).map(([what, says]) => tooWide(`${what} in all namespaces`, says)),
    ...[...found].map(([what, { says, namespaces }]) =>
      tooWide(`${what} in ${listed(namespaces, 1)}`, says),
    ),
  ];
}

function namespacesOf(needed: readonly NeededRight[]): readonly string[] {
  const all = needed.flatMap(({ namespace }) => (namespace === undefined ? [] : [namespace]));
  return [...new Set(all)].slice(0, MOST_NAMESPACES);
}

/** What is granted in `namespace` and not needed. `everywhere` is granted in each namespace and left out. */
async function excessIn(
  namespace: string | undefined,
  needed: ReadonlySet<string>,
  ask: (right: AccessAttributes) => Promise<boolean>,
  everywhere: ReadonlySet<string> = new Set(),
): Promise<readonly AccessAttributes[]> {
  const objects = RESOURCES.flatMap((one) => VERBS.map((verb) => ({ verb, ...one })));
  const asked = [...objects, ...DETOURS].filter(
    (right) =>
      !needed.has(textOf(right, undefined)) &&
      !needed.has(textOf(right, namespace)) &&
      !everywhere.has(textOf(right, undefined)),
  );
  const answers = await Promise.all(asked.map((right) => ask({ ...right, namespace })));
  return asked.filter((_, at) => answers[at]);
}

function linesOf(rights: readonly AccessAttributes[]): readonly (readonly [string, string])[] {
  const verbs = new Map<string, string[]>();
  for (const right of rights) {
    const resource = resourceText(right);
    verbs.set(resource, [...(verbs.get(resource) ?? []), right.verb]);
  }
  return [...verbs].map(([resource, of]) => [
    `${of.join(", ")} ${resource}`,
    RESOURCES.some((one) => resourceText(one) === resource)
      ? "not needed with these flags, or only by name"
      : "not needed, and it leads to other rights",
  ]);
}

function resourceText({
  group = "",
  resource,
  subresource,
}: Omit<AccessAttributes, "verb">): string {
  const path = subresource === undefined ? resource : `${resource}/${subresource}`;
  return group === "" ? path : `${path}.${group}`;
}

function textOf(right: AccessAttributes, namespace: string | undefined): string {
  return `${right.verb} ${resourceText(right)} ${namespace ?? ""}`;
}

function tooWide(what: string, says: string): CheckFinding {
  return finding({ area: "right", check: `too wide: ${what}` }, "warning", says, ADVICE);
}
