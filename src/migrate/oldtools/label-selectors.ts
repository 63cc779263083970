// Label selectors of rules in other tools' resources, in the form of Kubernetes (matchLabels and
// matchExpressions): read, joined, and written as the text that secretcast takes.
import { fields, objectsIn, textsOf } from "./old-objects.ts";
import { parseSelector } from "../../text/label-selector.ts";
import type { StringMap } from "../../text/string-map.ts";
import { stringOf, stringsOf } from "../../controller/model/unstructured.ts";

type Requirement = {
  readonly key: string;
  readonly operator: "In" | "NotIn" | "Exists" | "DoesNotExist";
  readonly values: readonly string[];
};

/** All requirements must hold. Without any, it matches everything. */
export type LabelSelector = readonly Requirement[];

/** The label that each namespace has, with its name. */
export const NAME_LABEL = "kubernetes.io/metadata.name";
const OPERATORS = ["In", "NotIn", "Exists", "DoesNotExist"] as const;

/** A text says why the selector cannot be read. */
export function readLabelSelector(raw: unknown): LabelSelector | string {
  const { matchLabels, matchExpressions } = fields(raw);
  const requirements: Requirement[] = Object.entries(stringsOf(matchLabels))
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, value]) => ({ key, operator: "In", values: [value] }));
  for (const { key, operator, values } of objectsIn(matchExpressions)) {
    const known = OPERATORS.find((one) => one === operator);
    if (known === undefined) return `it has the operator ${JSON.stringify(operator)}`;
    const texts = [...new Set(textsOf(values) ?? [])].toSorted();
    const needsValues = known === "In" || known === "NotIn";
    if (needsValues === (texts.length === 0)) return `${known} has the wrong number of values`;
    requirements.push({ key: stringOf(key), operator: known, values: texts });
  }
  const text = selectorText(requirements);
  if (text === "") return requirements;
  const parsed = parseSelector(text);
  if (parsed.ok) return requirements;
  const { part, expected } = parsed.fault;
  return `${JSON.stringify(part)}: expected ${expected}`;
}

/** `text`: an empty selector matches everything. */
export function matchesLabels(text: string, labels: StringMap): boolean {
  if (text === "") return true;
  const parsed = parseSelector(text);
  return parsed.ok && parsed.value.matches(labels);
}

export function selectorText(selector: LabelSelector): string {
  return selector.map(requirementText).join(",");
}

export function requirementText({ key, operator, values }: Requirement): string {
  const [first = ""] = values;
  switch (operator) {
    case "Exists":
      return key;
    case "DoesNotExist":
      return `!${key}`;
    case "In":
      return values.length === 1 ? `${key}=${first}` : `${key} in (${values.join(",")})`;
    case "NotIn":
      return `${key} notin (${values.join(",")})`;
  }
}

/** The names of the namespaces that it selects by their names. Undefined when it selects by other labels. */
export function namesIn(selector: LabelSelector): readonly string[] | undefined {
  const [first, ...others] = selector;
  if (!first || others.length > 0) return undefined;
  return first.key === NAME_LABEL && first.operator === "In" ? first.values : undefined;
}

/** One selector that matches what any of `selectors` matches. Undefined when no selector does. */
export function unionOf(selectors: readonly LabelSelector[]): LabelSelector | undefined {
  const left = [...new Map(selectors.map((one) => [selectorText(one), one])).values()];
  const [first, ...others] = left;
  if (!first || others.length === 0) return first;
  for (const [at, other] of others.entries()) {
    const joined = joinedOf(first, other);
    if (joined) return unionOf([joined, ...others.toSpliced(at, 1)]);
  }
  return undefined;
}

// Two selectors that are equal except for the values of one key.
function joinedOf(a: LabelSelector, b: LabelSelector): LabelSelector | undefined {
  if (a.length !== b.length) return undefined;
  const texts = new Set(b.map(requirementText));
  const [own, ...more] = a.filter((one) => !texts.has(requirementText(one)));
  if (!own || more.length > 0) return undefined;
  const same = new Set(a.map(requirementText));
  const [theirs] = b.filter((one) => !same.has(requirementText(one)));
  if (theirs?.key !== own.key) return undefined;
  const joined = requirementUnion(own, theirs);
  return joined && a.map((one) => (one === own ? joined : one));
}

function requirementUnion(a: Requirement, b: Requirement): Requirement | undefined {
  if (a.operator === "In" && b.operator === "In") {
    return { ...a, values: [...new Set([...a.values, ...b.values])].toSorted() };
  }
  const wide = [a, b].find(({ operator }) => operator === "Exists");
  const narrow = [a, b].find(({ operator }) => operator === "In");
  return wide && narrow ? wide : undefined;
}
