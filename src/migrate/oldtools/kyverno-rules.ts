// The generate rules of ClusterPolicy and Policy that clone Secrets, and what else such a policy does. A
// rule with variables or templates in the places that decide is named and not guessed.
import {
  factorsOf,
  OTHER_TRIGGER,
  requirementsOf,
  scopeOf,
  type KyvernoScope,
} from "./kyverno-match.ts";
import { fields, textsOf, type OldCustom, type RawFields } from "./old-objects.ts";
import { stringOf } from "../../controller/model/unstructured.ts";
import { refText, type Ref } from "../../text/names.ts";

/** A rule that clones one Secret or those that a selector chooses. */
export type CloneRule = {
  /** "ClusterPolicy app-defaults/settings". */
  readonly title: string;
  readonly policy: OldCustom;
  /** Undefined for a GeneratingPolicy, whose copies name no rule. */
  readonly rule: string | undefined;
  readonly from:
    | (Ref & { readonly kind: "one" })
    | { readonly kind: "list"; readonly namespace: string; readonly selector: string };
  /** Undefined: the name of the source. */
  readonly copyName: string | undefined;
  readonly scope: KyvernoScope;
  /** Its copies name the Namespace that they are in as their trigger. */
  readonly byNamespace: boolean;
  /** `once`: copies are made once and then belong to their namespaces. `disarmed`: it did synchronize. */
  readonly sync: "follows" | "disarmed" | "once";
  readonly existing: boolean;
  /** It copies nothing but Secrets. */
  readonly isWhole: boolean;
  /** JSON patch operations that make it harmless, and that take the copies of Secrets out of it. */
  readonly disarming: readonly unknown[];
  readonly deleting: readonly unknown[];
};

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
const SECRET_KINDS = new Set(["Secret", "v1/Secret"]);

export function rulesOfPolicy(policy: OldCustom): PolicyReading {
  const rules: CloneRule[] = [];
  const problems: string[] = [];
  const others: string[] = [];
  const spec = fields(policy.fields["spec"]);
  const list = Array.isArray(spec["rules"]) ? spec["rules"] : [];
  for (const [at, raw] of list.entries()) {
    const rule = fields(raw);
    const read = ruleOf(policy, spec, rule, at);
    if (typeof read === "string") problems.push(`${titleOfRule(policy, rule)}: ${read}`);
    else if (read) rules.push(read);
    else others.push(stringOf(rule["name"]));
  }
  if (rules.length > 0 && others.length > 0) {
    problems.push(
      `${titleOfPolicy(policy)}: its rules ${others.join(", ")} copy no Secret and stay with Kyverno: keep the policy for them`,
    );
  }
  const isOnlyClones = rules.length === list.length && rules.every(({ isWhole }) => isWhole);
  return { rules, problems, isOnlyClones };
}

export function titleOfPolicy({ kind, namespace, name }: OldCustom): string {
  return `${kind} ${namespace === undefined ? name : refText({ namespace, name })}`;
}

function titleOfRule(policy: OldCustom, rule: RawFields): string {
  return `${titleOfPolicy(policy)}/${stringOf(rule["name"])}`;
}

/** Undefined: it clones no Secret. A text says why it does not move. */
function ruleOf(
  policy: OldCustom,
  spec: RawFields,
  rule: RawFields,
  at: number,
): CloneRule | string | undefined {
  const generate = fields(rule["generate"]);
  if (Array.isArray(generate["foreach"])) {
    const some = generate["foreach"].some((one) => clonesSecrets(fields(one)));
    return some
      ? "it clones for each entry of a list (foreach), which has no counterpart"
      : undefined;
  }
  const isMap = clonesKind(generate, "ConfigMap");
  if (!clonesSecrets(generate)) {
    return isMap
      ? "it clones ConfigMaps, which migrate does not move: annotate them by hand, and run with --config-maps"
      : undefined;
  }
  if (HELM.test(JSON.stringify(rule)))
    return "it is a template of Helm and cannot be read: run migrate on what it renders";
  const from = fromOf(generate);
  if (typeof from === "string") return from;
  if (policy.namespace !== undefined && policy.namespace === from.namespace)
    return "a Policy clones inside its own namespace, which is the source's: secretcast makes no copy there";
  const title = titleOfRule(policy, rule);
  const name = stringOf(generate["name"]);
  if (name.includes("{{"))
    return `its copies are called ${name}: a source has one name for all copies`;
  const place = placeOf(stringOf(generate["namespace"]), scopeOf(rule));
  if (typeof place === "string") return place;
  const existing = generate["generateExisting"] ?? spec["generateExisting"];
  const path = `/spec/rules/${at}`;
  const test = { op: "test", path: `${path}/name`, value: stringOf(rule["name"]) };
  const kinds = textsOf(fields(generate["cloneList"])["kinds"]) ?? [];
  const others = kinds.filter((kind) => !SECRET_KINDS.has(kind));
  const kindsPath = `${path}/generate/cloneList/kinds`;
  return {
    title,
    policy,
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

/** An edit of both fields shows that the rule did synchronize before the move. */
export function syncOf(synchronizes: boolean, orphans: boolean): CloneRule["sync"] {
  if (synchronizes) return "follows";
  return orphans ? "disarmed" : "once";
}

function clonesSecrets(generate: RawFields): boolean {
  return clonesKind(generate, "Secret");
}

function clonesKind(generate: RawFields, kind: "Secret" | "ConfigMap"): boolean {
  const clone = fields(generate["clone"]);
  const isOne = Object.keys(clone).length > 0 && stringOf(generate["kind"]) === kind;
  const kinds = textsOf(fields(generate["cloneList"])["kinds"]) ?? [];
  return isOne || kinds.some((one) => one === kind || one === `v1/${kind}`);
}

function fromOf(generate: RawFields): CloneRule["from"] | string {
  const clone = fields(generate["clone"]);
  const list = fields(generate["cloneList"]);
  const isList = textsOf(list["kinds"])?.some((kind) => SECRET_KINDS.has(kind)) === true;
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
function placeOf(
  namespace: string,
  scope: KyvernoScope,
): Pick<CloneRule, "scope" | "byNamespace"> | string {
  const isOther = scope.kind === "listed" && scope.why === OTHER_TRIGGER;
  if (!isOther && NAMESPACE_NAME.test(namespace)) return { scope, byNamespace: true };
  if (ITS_NAMESPACE.test(namespace)) {
    const why = isOther ? OTHER_TRIGGER : "its copies are in a namespace that the trigger names";
    return { scope: { kind: "listed", why }, byNamespace: false };
  }
  if (namespace.includes("{{")) {
    const why = `its copies are in ${namespace}, which depends on the trigger`;
    return { scope: { kind: "listed", why }, byNamespace: false };
  }
  if (namespace === "") return "it names no namespace for its copies";
  const targets = {
    matches: [...factorsOf({ lists: [[namespace]], requirements: [] })],
    except: [],
  };
  return { scope: { kind: "said", targets, later: undefined }, byNamespace: false };
}
