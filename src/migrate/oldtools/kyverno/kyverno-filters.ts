// What keeps namespaces out of Kyverno's rules besides the rules: resourceFilters of its ConfigMap, and
// PolicyExceptions.
import { glob } from "./kyverno-match.ts";
import { titleOfPolicy, type CloneRule } from "./kyverno-rules.ts";
import { fields, textsOf, type OldCustom, type OldObject } from "../old-objects.ts";
import type { PatternUse } from "../patterns/old-patterns.ts";
import { DATA_KEY_GLOBS, parseGlobList } from "../../../text/globs.ts";

/** An exception takes namespaces out of a rule, by conditions of its own. */
export function exceptionsOf(
  customs: readonly OldCustom[],
  rules: readonly CloneRule[],
): readonly string[] {
  return customs.flatMap((custom) => {
    if (custom.kind !== "PolicyException") return [];
    const { exceptions } = fields(custom.fields["spec"]);
    const list = Array.isArray(exceptions) ? exceptions.map(fields) : [];
    const named = rules.filter(({ policy, rule = "" }) =>
      list.some(({ policyName, ruleNames }) => {
        const own = textsOf(ruleNames) ?? [];
        return policyName === policy.name && own.some((one) => matchesName(one, rule));
      }),
    );
    return named.map(
      ({ title }) =>
        `${title}: the exception ${titleOfPolicy(custom)} takes objects out of it: exclude those namespaces by hand`,
    );
  });
}

function matchesName(glob: string, name: string): boolean {
  const list = parseGlobList(glob, DATA_KEY_GLOBS);
  return glob === name || (list.ok && list.value.matches(name));
}

/** Its ConfigMap may have another name, or be in no file. */
export function unfiltered(
  rules: readonly CloneRule[],
  others: readonly OldObject[],
): readonly string[] {
  if (rules.length === 0 || others.some(isConfig)) return [];
  return ["the ConfigMap of Kyverno was not found, so that its resourceFilters are not applied"];
}

function isConfig({ kind, name, labels, texts }: OldObject): boolean {
  const isPart = labels["app.kubernetes.io/part-of"]?.includes("kyverno") === true;
  return kind === "ConfigMap" && (name === "kyverno" || isPart) && "resourceFilters" in texts;
}

const FILTER = /\[([^[\]]*)\]/g;

/** The namespaces that Kyverno's ConfigMap keeps out. The second field is compared with their names. */
export function filtersOf(others: readonly OldObject[]): readonly PatternUse[] {
  const texts = others
    .filter(isConfig)
    .map(({ texts: { resourceFilters = "" } }) => resourceFilters);
  const patterns = texts.flatMap((text) =>
    [...text.matchAll(FILTER)].flatMap(([, inner = ""]) => {
      const [kind = "", namespace = "*", name = "*"] = inner.split(",").map((part) => part.trim());
      if (!/^(?:\*|\*\/\*|(?:(?:\*\/)?(?:v1|\*)\/)?Namespace)$/.test(kind)) return [];
      return [namespace === "" ? name : namespace];
    }),
  );
  return [...new Set(patterns)].map(glob);
}
