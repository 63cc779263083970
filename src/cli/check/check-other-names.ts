// Finds rules that name objects other than those of --only-names and the source list. A review of one right
// cannot find them, because it has to name the object.
import { grantedRules, type GrantedRule } from "../../inspect/cluster/access-review.ts";
import type { ApiClient } from "../../kube/rest/api-client.ts";
import type { NeededRight } from "../rights/needed-rights.ts";
import { namespacesOf, tooWide } from "./check-width.ts";
import type { CheckFinding } from "./finding.ts";

const RESOURCES = ["secrets", "configmaps"];
const MOST_NAMES_SHOWN = 5;

/** `client` is the account. One line for each resource, with the names. */
export async function checkOtherNames(
  client: ApiClient,
  needed: readonly NeededRight[],
  signal: AbortSignal,
): Promise<readonly CheckFinding[]> {
  const found = new Map<string, Set<string>>(RESOURCES.map((resource) => [resource, new Set()]));
  for (const namespace of namespacesOf(needed)) {
    const rules = await grantedRules(client, namespace, "ask for the rights of an account", signal);
    for (const rule of rules ?? [])
      for (const [resource, names] of found)
        for (const name of otherNames(rule, resource, namespace, needed)) names.add(name);
  }
  return [...found].flatMap(([resource, names]) => {
    if (names.size === 0) return [];
    const [first, more] = [[...names].slice(0, MOST_NAMES_SHOWN), names.size - MOST_NAMES_SHOWN];
    const shown = `${resource}/${first.join(",")}${more > 0 ? ` and ${more} more` : ""}`;
    return [tooWide(shown, "objects that do not take part with these flags")];
  });
}

function otherNames(
  { groups, resources, names }: GrantedRule,
  resource: string,
  place: string,
  needed: readonly NeededRight[],
): readonly string[] {
  if (!groups.includes("") || !resources.includes(resource)) return [];
  const rights = needed.filter(
    (right) => right.resource === resource && (right.namespace ?? place) === place,
  );
  // Where every name is read, a rule for one of them adds nothing.
  if (rights.some((right) => right.verb === "get" && right.names === undefined)) return [];
  const expected = rights.flatMap((right) => right.names ?? []);
  return names.filter((name) => !expected.includes(name));
}
