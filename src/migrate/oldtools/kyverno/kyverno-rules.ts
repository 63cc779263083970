// The generate rules of ClusterPolicy and Policy that clone Secrets and ConfigMaps, and what else such a policy does. A
// rule with variables or templates in the places that decide is named and not guessed.
import {
  fixedPlace,
  listedPlace,
  NAMED_BY_TRIGGER,
  OTHER_TRIGGER,
  requirementsOf,
  scopeOf,
  type RulePlace,
  type KyvernoScope,
} from "./kyverno-match.ts";
import { matchesLabels } from "../label-selectors.ts";
import {
  customPlace,
  fields,
  objectsIn,
  textsOf,
  type OldCustom,
  type OldObject,
  type RawFields,
} from "../old-objects.ts";
import { OBJECT_KINDS, type ObjectKind } from "../../../controller/model/kinds.ts";
import { stringOf } from "../../../controller/model/unstructured.ts";
import { refText, type Ref } from "../../../text/names.ts";

/** A rule that clones one object or those that a selector chooses. */
export type CloneRule = RulePlace & {
  /** "ClusterPolicy app-defaults/settings". */
  readonly title: string;
  readonly policy: OldCustom;
  /** The kinds of what it clones, of those that move. */
  readonly kinds: readonly ObjectKind[];
  /** Undefined for a GeneratingPolicy, whose copies name no rule. */
  readonly rule: string | undefined;
  readonly from:
    | (Ref & { readonly kind: "one" })
    | { readonly kind: "list"; readonly namespace: string; readonly selector: string };
  /** Undefined: the name of the source. */
  readonly copyName: string | undefined;
  /** `once`: copies are made once and then belong to their namespaces. `disarmed`: it did synchronize. */
  readonly sync: "follows" | "disarmed" | "once";
  readonly existing: boolean;
  /** It copies nothing but such kinds. */
  readonly isWhole: boolean;
  /** JSON patch operations that make it harmless, and that take those kinds out of it. */
  readonly disarming: readonly unknown[];
  readonly deleting: readonly unknown[];
};

/** Whether the rule clones an object, or would. */
export function clones({ from, kinds }: CloneRule, object: OldObject): boolean {
  if (object.namespace !== from.namespace || !kinds.some((kind) => kind === object.kind))
    return false;
  return from.kind === "one"
    ? object.name === from.name
    : matchesLabels(from.selector, object.labels);
}

export type PolicyReading = {
  readonly rules: readonly CloneRule[];
  /** What does not move, with its reason. */
  readonly problems: readonly string[];
  /** Everything that the policy does is in `rules`. */
  readonly isOnlyClones: boolean;
};

const HELM =
  /\{\{-?\s*(?:\.|\$|`|"|(?:include|template|tpl|if|else|end|range|with|toYaml|default|quote)\b)/;
const NAMESPACE_NAME = /^\{\{\s*(?:request\.object\.metadata\.name|request\.namespace)\s*\}\}$/;
const ITS_NAMESPACE = /^\{\{\s*request\.(?:object\.metadata\.namespace|namespace)\s*\}\}$/;

/** The kind that a cloneList names, if it moves. */
function movedKind(text: string): ObjectKind | undefined {
  return OBJECT_KINDS.find((kind) => text === kind || text === `v1/${kind}`);
}

export function rulesOfPolicy(policy: OldCustom): PolicyReading {
  const rules: CloneRule[] = [];
  const problems: string[] = [];
  const others: string[] = [];
  const spec = fields(policy.fields["spec"]);
  const list = objectsIn(spec["rules"]);
  for (const [at, rule] of list.entries()) {
    const read = ruleOf(policy, spec, rule, at);
    if (typeof read === "string") problems.push(`${titleOfRule(policy, rule)}: ${read}`);
    else if (read) rules.push(read);
    else others.push(stringOf(rule["name"]));
  }
  if (rules.length > 0 && others.length > 0) {
    problems.push(
      `${titleOfPolicy(policy)}: its rules ${others.join(", ")} copy no Secret or ConfigMap and stay with Kyverno: keep the policy for them`,
    );
  }
  const isOnlyClones = rules.length === list.length && rules.every(({ isWhole }) => isWhole);
  return { rules, problems, isOnlyClones };
}

export function titleOfPolicy(policy: OldCustom): string {
  return `${policy.kind} ${customPlace(policy)}`;
}

function titleOfRule(policy: OldCustom, rule: RawFields): string {
  return `${titleOfPolicy(policy)}/${stringOf(rule["name"])}`;
}

/** Undefined: it clones nothing that moves. A text says why it does not move. */
function ruleOf(
  policy: OldCustom,
  spec: RawFields,
  rule: RawFields,
  at: number,
): CloneRule | string | undefined {
  const generate = fields(rule["generate"]);
  if (Array.isArray(generate["foreach"])) {
    const some = objectsIn(generate["foreach"]).some((one) => kindsOf(one).length > 0);
    return some
      ? "it clones for each entry of a list (foreach), which has no counterpart"
      : undefined;
  }
  const kinds = kindsOf(generate);
  const kind = stringOf(generate["kind"]);
  if (
    kinds.length === 0 &&
    Object.keys(fields(generate["clone"])).length > 0 &&
    kind.includes("{{")
  )
    return `it clones a ${kind}, whose kind depends on the trigger`;
  if (kinds.length === 0) return undefined;
  if (HELM.test(JSON.stringify(rule)))
    return "it is a template of Helm and cannot be read: run migrate on what it renders";
  const from = fromOf(generate);
  if (typeof from === "string") return from;
  // Kyverno refuses a Policy that clones from elsewhere, by a webhook that may have been down.
  if (policy.namespace !== undefined)
    return policy.namespace === from.namespace
      ? "a Policy clones inside its own namespace, which is the source's: secretcast makes no copy there"
      : `a Policy may clone inside its own namespace only, so that Kyverno does not carry out this rule, whose source is in ${from.namespace}`;
  const title = titleOfRule(policy, rule);
  const name = stringOf(generate["name"]);
  if (name.includes("{{"))
    return `its copies are called ${name}: a source has one name for all copies`;
  const limit = limitOf(spec);
  const scope: KyvernoScope = limit === undefined ? scopeOf(rule) : { kind: "listed", why: limit };
  const place = placeOf(stringOf(generate["namespace"]), scope);
  if (typeof place === "string") return place;
  const existing = generate["generateExisting"] ?? spec["generateExisting"];
  const path = `/spec/rules/${at}`;
  const test = { op: "test", path: `${path}/name`, value: stringOf(rule["name"]) };
  const others = listedKinds(generate).filter((kind) => movedKind(kind) === undefined);
  const kindsPath = `${path}/generate/cloneList/kinds`;
  return {
    title,
    policy,
    kinds,
    rule: stringOf(rule["name"]),
    from,
    copyName: from.kind === "one" ? name || from.name : undefined,
    ...place,
    sync: syncOf(
      generate["synchronize"] === true,
      generate["orphanDownstreamOnPolicyDelete"] === true,
    ),
    existing: existing === true || spec["generateExistingOnPolicyUpdate"] === true,
    disarming: [
      test,
      { op: "add", path: `${path}/generate/synchronize`, value: false },
      { op: "add", path: `${path}/generate/orphanDownstreamOnPolicyDelete`, value: true },
    ],
    isWhole: others.length === 0,
    // Other kinds of the list stay with Kyverno.
    deleting: [
      test,
      others.length === 0
        ? { op: "remove", path }
        : { op: "replace", path: kindsPath, value: others },
    ],
  };
}

/** Why the rules of a policy serve fewer namespaces than they match. */
function limitOf(spec: RawFields): string | undefined {
  if (spec["admission"] === false)
    return "its policy does not act on requests (admission: false), so that later namespaces get no copy";
  const { matchConditions } = fields(spec["webhookConfiguration"]);
  return objectsIn(matchConditions).length > 0
    ? "its policy asks by CEL (matchConditions)"
    : undefined;
}

/** An edit of both fields shows that the rule did synchronize before the move. */
export function syncOf(synchronizes: boolean, orphans: boolean): CloneRule["sync"] {
  if (synchronizes) return "follows";
  return orphans ? "disarmed" : "once";
}

/** The kinds that move, of those that it clones. */
function kindsOf(generate: RawFields): readonly ObjectKind[] {
  const isOne = Object.keys(fields(generate["clone"])).length > 0;
  const named = new Set(listedKinds(generate).map(movedKind));
  // Other groups have kinds of the same names.
  const isCore = ["", "v1"].includes(stringOf(generate["apiVersion"]));
  const one = isOne && isCore && named.size === 0 ? stringOf(generate["kind"]) : undefined;
  return OBJECT_KINDS.filter((kind) => kind === one || named.has(kind));
}

function listedKinds(generate: RawFields): readonly string[] {
  return textsOf(fields(generate["cloneList"])["kinds"]) ?? [];
}

function fromOf(generate: RawFields): CloneRule["from"] | string {
  const clone = fields(generate["clone"]);
  const list = fields(generate["cloneList"]);
  const isList = listedKinds(generate).some((kind) => movedKind(kind) !== undefined);
  const [namespace, name] = [
    stringOf((isList ? list : clone)["namespace"]),
    stringOf(clone["name"]),
  ];
  if (`${namespace}${name}`.includes("{{"))
    return `its source ${refText({ namespace, name })} depends on the trigger: annotate each source by hand`;
  if (!isList) return { kind: "one", namespace, name };
  const selector = requirementsText(list["selector"]);
  return selector === undefined
    ? "the selector of its cloneList cannot be read"
    : { kind: "list", namespace, selector };
}

function requirementsText(selector: unknown): string | undefined {
  const requirements = requirementsOf(selector ?? {});
  return typeof requirements === "string" ? undefined : requirements.join(",");
}

/** Where the copies are. A text says why that cannot be expressed. */
function placeOf(namespace: string, scope: KyvernoScope): RulePlace | string {
  if (scope.kind === "never") return { scope, byNamespace: false };
  const isOther = scope.kind === "listed" && scope.why === OTHER_TRIGGER;
  if (!isOther && NAMESPACE_NAME.test(namespace)) return { scope, byNamespace: true };
  if (ITS_NAMESPACE.test(namespace)) return listedPlace(isOther ? OTHER_TRIGGER : NAMED_BY_TRIGGER);
  if (namespace.includes("{{"))
    return listedPlace(`its copies are in ${namespace}, which depends on the trigger`);
  return namespace === "" ? "it names no namespace for its copies" : fixedPlace(namespace);
}
