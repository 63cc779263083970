// GeneratingPolicy. Its expressions are CEL. Those of the documented forms are read by their shape, and
// nothing is evaluated. All others are named.
import {
  AT_CREATION,
  combined,
  factorsOf,
  fixedPlace,
  glob,
  listedPlace,
  NAMED_BY_TRIGGER,
  OTHER_TRIGGER,
  requirementsOf,
  type RulePlace,
  type KyvernoScope,
} from "./kyverno-match.ts";
import { syncOf, titleOfPolicy, type CloneRule, type PolicyReading } from "./kyverno-rules.ts";
import { fields, objectsIn, textsOf, type OldCustom, type RawFields } from "../old-objects.ts";
import { KINDS, OBJECT_KINDS } from "../../../controller/model/kinds.ts";
import { stringOf } from "../../../controller/model/unstructured.ts";
import { isNamespaceName } from "../../../text/names.ts";

type Expressions = ReadonlyMap<string, string>;

const APPLY = "generator.Apply(";
const GET = /^resource\.Get\(\s*"v1"\s*,\s*"(\w+)"\s*,\s*"([^"]*)"\s*,\s*"([^"]*)"\s*\)$/;
const LIST = /^resource\.List\(\s*"v1"\s*,\s*"(\w+)"\s*,\s*"([^"]*)"\s*(?:,\s*\{([^{}]*)\}\s*)?\)$/;
const PLURAL = /["'](?:secrets|configmaps)["']/;
/** Limits for variables that refer to variables, and for the length of an expression. */
const MOST_STEPS = 16;
const LONGEST = 2048;

export function rulesOfGeneratingPolicy(policy: OldCustom): PolicyReading {
  const spec = fields(policy.fields["spec"]);
  const expressions = new Map(
    objectsIn(spec["variables"]).map(({ name, expression }): readonly [string, string] => {
      return [stringOf(name), stringOf(expression).trim()];
    }),
  );
  const rules: CloneRule[] = [];
  const problems: string[] = [];
  let others = 0;
  for (const { expression, template } of objectsIn(spec["generate"])) {
    const text = resolved(stringOf(expression), expressions);
    const read =
      template === undefined
        ? cloneOf(policy, spec, text, expressions)
        : templateProblem(stringOf(fields(template)["value"]));
    if (typeof read === "string") problems.push(`${titleOfPolicy(policy)}: ${read}`);
    else if (read) rules.push(read);
    else others++;
  }
  if (rules.length > 0 && others > 0)
    problems.push(
      `${titleOfPolicy(policy)}: ${others} of its expressions copy no Secret or ConfigMap and stay with Kyverno: keep the policy for them`,
    );
  return { rules, problems, isOnlyClones: rules.length > 0 && others + problems.length === 0 };
}

/** A template that reads other objects may copy one of them. */
function templateProblem(text: string): string | undefined {
  return /\bresource\.(?:Get|List)\(|\bvariables\./.test(text) &&
    /\b(?:Secret|ConfigMap)\b/.test(text)
    ? "its template is made out of other objects, which cannot be read"
    : undefined;
}

function resolved(expression: string, expressions: Expressions): string {
  let text = expression.trim();
  for (let left = MOST_STEPS; left > 0; left--) {
    const name = /^variables\.(\w+)$/.exec(text)?.[1];
    const value = name === undefined ? undefined : expressions.get(name);
    if (value === undefined) break;
    text = value;
  }
  return text;
}

function mentionsKinds(text: string, expressions: Expressions): boolean {
  const named = [...text.matchAll(/\bvariables\.(\w+)/g)].map(([, name = ""]) => name);
  const texts = [text, ...named.map((name) => resolved(`variables.${name}`, expressions))];
  return texts.some((each) => PLURAL.test(each));
}

/** The parts of `generator.Apply(INTO, [WHAT])`. Empty for another form. */
function partsOfApply(text: string): { readonly into: string; readonly what: string } {
  const inner = text.slice(APPLY.length, -1).trim();
  const list = /,\s*\[/.exec(inner);
  if (!text.startsWith(APPLY) || !text.endsWith(")") || !list || !inner.endsWith("]"))
    return { into: "", what: "" };
  const what = inner.slice(list.index + list[0].length, -1).trim();
  return { into: inner.slice(0, list.index).trim(), what };
}

/** Undefined: it copies nothing that moves. A text says why it does not move. */
function cloneOf(
  policy: OldCustom,
  spec: RawFields,
  text: string,
  expressions: Expressions,
): CloneRule | string | undefined {
  if (text.length > LONGEST) return "its expression is too long to be read";
  const { into, what } = partsOfApply(text);
  const source = resolved(what, expressions);
  const [, oneKind, oneNamespace = "", oneName = ""] = GET.exec(source) ?? [];
  const [, listKind, listNamespace = "", labels = ""] = LIST.exec(source) ?? [];
  const plural = oneKind ?? listKind;
  if (plural === undefined) {
    return mentionsKinds(text, expressions)
      ? "its expression is of no form that can be read"
      : undefined;
  }
  const kind = OBJECT_KINDS.find((one) => KINDS[one].resource.plural === plural);
  if (kind === undefined) return undefined;
  if (policy.namespace !== undefined)
    return "it clones inside its own namespace, which is the source's: secretcast makes no copy there";
  const selector = selectorOf(labels);
  if (selector === undefined) return "the labels of its resource.List cannot be read";
  const { scope, byNamespace } = scopeOfPolicy(spec, resolved(into, expressions));
  const { synchronize, generateExisting, orphanDownstreamOnPolicyDelete } = fields(
    spec["evaluation"],
  );
  const isOn = (setting: unknown): boolean => fields(setting)["enabled"] === true;
  const orphans = isOn(orphanDownstreamOnPolicyDelete);
  const on = (word: string, enabled: boolean): unknown => ({
    op: "add",
    path: `/spec/evaluation/${word}`,
    value: { enabled },
  });
  return {
    title: titleOfPolicy(policy),
    policy,
    kinds: [kind],
    rule: undefined,
    from:
      oneKind === undefined
        ? { kind: "list", namespace: listNamespace, selector }
        : { kind: "one", namespace: oneNamespace, name: oneName },
    copyName: oneKind === undefined ? undefined : oneName,
    scope,
    byNamespace,
    // With generateExisting, each restart resets the copies, whether or not it synchronizes.
    sync: syncOf(isOn(synchronize) || (orphans && isOn(generateExisting)), orphans),
    existing: isOn(generateExisting) || orphans,
    disarming: [
      on("synchronize", false),
      on("generateExisting", false),
      on("orphanDownstreamOnPolicyDelete", true),
    ],
    isWhole: true,
    deleting: [],
  };
}

/** `"key": "value", …` of a CEL map. Undefined when it has another form. */
function selectorOf(labels: string): string | undefined {
  const pairs = labels
    .split(",")
    .map((pair) => pair.trim())
    .filter((pair) => pair !== "")
    .map((pair) => /^["']([^"']+)["']\s*:\s*["']([^"']*)["']$/.exec(pair));
  if (pairs.includes(null)) return undefined;
  return pairs.map((pair) => `${pair?.[1]}=${pair?.[2]}`).join(",");
}

function scopeOfPolicy(spec: RawFields, into: string): RulePlace {
  const fixed = /^"([^"]+)"$/.exec(into)?.[1];
  if (fixed !== undefined) return fixedPlace(fixed);
  const scope = into === "object.metadata.name" ? matchedBy(spec) : NAMED_BY_TRIGGER;
  return typeof scope === "string" ? listedPlace(scope) : { scope, byNamespace: true };
}

function matchedBy(spec: RawFields): KyvernoScope | string {
  if (objectsIn(spec["matchConditions"]).length > 0)
    return "its rule asks by CEL (matchConditions)";
  if (fields(fields(spec["evaluation"])["admission"])["enabled"] === false)
    return "its policy does not act on requests (admission), so that later namespaces get no copy";
  const constraints = fields(spec["matchConstraints"]);
  const rules = objectsIn(constraints["resourceRules"]);
  if (rules.length === 0 || !rules.every(isOfNamespaces)) return OTHER_TRIGGER;
  const operations = rules.map(operationsOf);
  const unsaid = operations.find((some) => !some.includes("CREATE") && !some.includes("*"));
  if (unsaid !== undefined) return `its rule asks for the operation (${unsaid.join(", ")})`;
  const named = namesIn(rules);
  if (named?.length === 0) return "its resourceNames are names of no Namespace";
  const excluding = objectsIn(constraints["excludeResourceRules"])
    .filter(mayExclude)
    .map((rule) => namesIn([rule]));
  if (excluding.includes(undefined)) return "its excludeResourceRules name every Namespace";
  const except = excluding.flatMap((some) => some ?? []);
  const requirements: string[] = [];
  for (const word of ["objectSelector", "namespaceSelector"]) {
    const some = requirementsOf(constraints[word] ?? {});
    if (typeof some === "string") return `its ${word} ${some}`;
    requirements.push(...some);
  }
  const lists = named === undefined ? [] : [named];
  const matches = combined(factorsOf({ lists, requirements }));
  const isOnce = operations.some((some) => !some.includes("UPDATE") && !some.includes("*"));
  const later = isOnce && requirements.length > 0 ? AT_CREATION : undefined;
  return { kind: "said", targets: { matches, except: except.map(glob) }, later };
}

function operationsOf(rule: RawFields): readonly string[] {
  return textsOf(rule["operations"]) ?? [];
}

/** The names of any of the rules, without wildcards. Undefined when one of them has no names. */
function namesIn(rules: readonly RawFields[]): readonly string[] | undefined {
  const lists = rules.map((rule) => textsOf(rule["resourceNames"]) ?? []);
  if (lists.some((names) => names.length === 0)) return undefined;
  return lists.flat().filter(isNamespaceName);
}

function isOfNamespaces(rule: RawFields): boolean {
  const groups = textsOf(rule["apiGroups"]) ?? [];
  const resources = textsOf(rule["resources"]) ?? [];
  const isCore = groups.length === 1 && groups[0] === "";
  const isNamespaced = rule["scope"] === "Namespaced";
  return isCore && !isNamespaced && resources.length === 1 && resources[0] === "namespaces";
}

/** Wildcards count here, and what acts on no creation excludes nothing. */
function mayExclude(rule: RawFields): boolean {
  const hasOne = (word: string, ...values: readonly string[]): boolean =>
    (textsOf(rule[word]) ?? []).some((one) => values.includes(one));
  return (
    rule["scope"] !== "Namespaced" &&
    hasOne("apiGroups", "", "*") &&
    hasOne("resources", "namespaces", "*", "*/*") &&
    hasOne("operations", "CREATE", "*")
  );
}
