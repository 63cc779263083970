// What keeps namespaces out of Kyverno's rules besides the rules: resourceFilters of its ConfigMap, and
// PolicyExceptions.
import { coversNamespaces, wildcardMatches } from "./kyverno-kinds.ts";
import { glob } from "./kyverno-match.ts";
import { titleOfPolicy, type CloneRule } from "./kyverno-rules.ts";
import { NAME_LABEL, readLabelSelector } from "../label-selectors.ts";
import {
  customPlace,
  fields,
  objectsIn,
  textsOf,
  type OldCustom,
  type OldObject,
  type RawFields,
} from "../old-objects.ts";
import type { PatternUse } from "../patterns/old-patterns.ts";
import { stringOf } from "../../../controller/model/unstructured.ts";
import { NAMESPACE_GLOBS } from "../../../text/globs.ts";
import { refText } from "../../../text/names.ts";

/** An exception takes namespaces out of a rule, by conditions of its own. */
export function exceptionsOf(
  customs: readonly OldCustom[],
  rules: readonly CloneRule[],
): readonly string[] {
  return customs.flatMap((custom) => {
    if (custom.kind !== "PolicyException") return [];
    const { exceptions, policyRefs } = fields(custom.fields["spec"]);
    const named = rules.filter(
      (rule) =>
        objectsIn(exceptions).some((one) => namesRule(one, rule)) ||
        objectsIn(policyRefs).some(({ kind, name }) => {
          const { policy } = rule;
          return kind === policy.kind && name === policy.name;
        }),
    );
    return named.map(
      ({ title }) =>
        `${title}: the exception ${titleOfPolicy(custom)} takes objects out of it: exclude those namespaces by hand`,
    );
  });
}

/** A policy of a namespace is named with it. */
function namesRule(
  { policyName, ruleNames }: RawFields,
  { policy, rule = "" }: CloneRule,
): boolean {
  const own = customPlace(policy);
  return policyName === own && (textsOf(ruleNames) ?? []).some((one) => wildcardMatches(one, rule));
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
      const [kind = "", namespace = "", name = ""] = inner.split(",");
      return coversNamespaces(kind) ? [namespace === "" ? name : namespace] : [];
    }),
  );
  // Kyverno compares spaces too, and no namespace has one.
  const named = patterns.filter((pattern) => NAMESPACE_GLOBS.allowed.test(pattern));
  return [...new Set(named)].map(glob);
}

/** What its ConfigMap keeps from its webhooks, beside what its filters keep out of rules as well. */
export function webhookLimits(
  rules: readonly CloneRule[],
  others: readonly OldObject[],
): readonly string[] {
  if (rules.length === 0) return [];
  const filters = filtersOf(others).map(({ pattern }) => pattern);
  return others.filter(isConfig).flatMap((config) => {
    const limits = [
      ...listIn(config.texts["webhooks"])
        .flatMap((one) => [one["namespaceSelector"], one["objectSelector"]])
        .filter((selector) => !isFiltered(selector, filters))
        .map((selector) => `webhooks: ${JSON.stringify(selector)}`),
      ...listIn(config.texts["matchConditions"]).map(
        ({ name }) => `matchConditions: ${stringOf(name)}`,
      ),
    ];
    return limits.map(
      (limit) =>
        `ConfigMap ${refText(config)} keeps namespaces out of all rules (${limit}): exclude those namespaces by hand`,
    );
  });
}

/** The objects of a JSON text, which may be one or a list. */
function listIn(text: string | undefined): readonly RawFields[] {
  try {
    const value: unknown = JSON.parse(text ?? "[]");
    return objectsIn(Array.isArray(value) ? value : [value]);
  } catch {
    return [];
  }
}

/** It leaves out only namespaces that the filters keep out of every rule. */
function isFiltered(raw: unknown, filters: readonly string[]): boolean {
  const selector = readLabelSelector(raw);
  if (typeof selector === "string") return false;
  return selector.every(
    ({ key, operator, values }) =>
      key === NAME_LABEL &&
      operator === "NotIn" &&
      values.every((name) => filters.some((pattern) => wildcardMatches(pattern, name))),
  );
}
