// Groups rights into the rules of RBAC roles: the fewest rules that grant exactly these rights.
import type { NeededRight } from "./needed-rights.ts";

export type RightsRule = {
  /** One line for each purpose, with its verbs. */
  readonly reasons: readonly string[];
  readonly group: string;
  readonly resources: readonly string[];
  readonly names: readonly string[] | undefined;
  readonly verbs: readonly string[];
};

export type RightsScope = {
  /** Undefined: the whole cluster. */
  readonly namespace: string | undefined;
  readonly rules: readonly RightsRule[];
};

/** A role for each scope, the whole cluster first, in the order of `rights`. */
export function scopesOf(rights: readonly NeededRight[]): readonly RightsScope[] {
  const scopes = Map.groupBy(rights, ({ namespace }) => namespace ?? "");
  return [...scopes]
    .toSorted(([a], [b]) => Number(a !== "") - Number(b !== ""))
    .map(([namespace, ofScope]) => ({
      namespace: namespace || undefined,
      rules: fewestRules(ofScope),
    }));
}

/** Verbs on the same objects are one rule, and so are resources with the same verbs and names. */
export function fewestRules(rights: readonly NeededRight[]): readonly RightsRule[] {
  const ofObjects = Map.groupBy(rights, ({ group, resource, names }) =>
    JSON.stringify([group, resource, names]),
  );
  const rules = [...ofObjects.values()].flatMap((some) => ruleOf(some));
  const alike = Map.groupBy(rules, (rule) => JSON.stringify({ ...rule, resources: undefined }));
  return [...alike.values()].flatMap(([first, ...others]) => {
    if (!first) return [];
    return [{ ...first, resources: [first, ...others].flatMap(({ resources }) => resources) }];
  });
}

function ruleOf(rights: readonly NeededRight[]): readonly RightsRule[] {
  const [first] = rights;
  if (!first) return [];
  const { group, resource, names } = first;
  const reasons = [...Map.groupBy(rights, ({ why }) => why)].map(
    ([why, some]) => `${some.map(({ verb }) => verb).join(", ")}: ${why}.`,
  );
  const verbs = [...new Set(rights.map(({ verb }) => verb))];
  return [{ reasons, group, resources: [resource], names, verbs }];
}
