// kyverno/kyverno, by its documents and its source, versions 1.16 to 1.19. Its relevant behaviour:
//   generate rules with clone or cloneList copy an object. Labels of a copy name the policy, the rule, and the
//   UIDs of the source and the trigger, never the name of the source
//   a copy of a GeneratingPolicy names no rule, and up to 1.18 perhaps the policy of another copy
//   while a rule synchronizes, marks on its copies are reverted, and annotations of its source are copied
//   resourceFilters in its ConfigMap keep namespaces out of every rule
import { rulesOfGeneratingPolicy } from "./kyverno-generating.ts";
import { exceptionsOf, filtersOf, unfiltered, webhookLimits } from "./kyverno-filters.ts";
import { rulesOfPolicy, type CloneRule, type PolicyReading } from "./kyverno-rules.ts";
import {
  BEING_DELETED,
  KYVERNO_PREFIX,
  kyvernoSources,
  type RuleSource,
} from "./kyverno-sources.ts";
import { armedRules, deletionsOf, leftoversOf, preparationsOf } from "./kyverno-steps.ts";
import {
  copyableObjects,
  objectTitle,
  type OldCluster,
  type OldCustom,
  type OldObject,
  type OldResource,
} from "../old-objects.ts";
import type { OldMark, OldReading, OldSource, OldTool } from "../old-tool.ts";
import { markOfOne, secretSource } from "../secret-source.ts";
import { OBJECT_KINDS } from "../../../controller/model/kinds.ts";

// The API server serves the policies as v1. Files may have the other version.
const GROUP = { group: "kyverno.io", versions: ["v1", "v2beta1"] } as const;
const POLICIES = { group: "policies.kyverno.io", versions: ["v1", "v1beta1", "v1alpha1"] } as const;
const RULES: readonly OldResource[] = [
  { ...GROUP, kind: "ClusterPolicy", namespaced: false },
  { ...GROUP, kind: "Policy", namespaced: true },
  { ...POLICIES, kind: "GeneratingPolicy", namespaced: false },
  { ...POLICIES, kind: "NamespacedGeneratingPolicy", namespaced: true },
  { ...GROUP, versions: ["v2", "v2beta1"], kind: "PolicyException", namespaced: true },
  { ...POLICIES, kind: "PolicyException", namespaced: true },
  { ...GROUP, versions: ["v2"], kind: "UpdateRequest", namespaced: true },
];
const HOOKS = {
  group: "admissionregistration.k8s.io",
  versions: ["v1"],
  namespaced: false,
} as const;
const TRACES: readonly OldResource[] = [
  { ...HOOKS, kind: "ValidatingWebhookConfiguration" },
  { ...HOOKS, kind: "MutatingWebhookConfiguration" },
  { group: "apps", versions: ["v1"], kind: "Deployment", namespaced: true },
];

/** On each source of a ClusterPolicy, and with its other labels on each copy. */
const CLONE_SOURCE = `${KYVERNO_PREFIX}clone-source`;
const IMAGES = /(^|\/)(kyverno|(kyverno[/-])background-controller)([:@]|$)/;

export const kyverno: OldTool = {
  name: "kyverno",
  kinds: OBJECT_KINDS,
  images: IMAGES,
  settings: [],
  prefixes: [KYVERNO_PREFIX],
  resources: RULES,
  traces: TRACES,
  copies: (custom) =>
    policyReadingsOf([custom]).some(
      ({ rules, problems }) => rules.length > 0 || problems.length > 0,
    ),
  copyingText: /\bclone(?:List)?\b|\bgenerator\.Apply\b/,
  rulesNeedMore: true,
  armed: (customs, step, moving) =>
    armedRules({ policyReadings: policyReadingsOf(customs), moving }, customs, step),
  read: readKyverno,
};

function policyReadingsOf(customs: readonly OldCustom[]): readonly PolicyReading[] {
  return customs.flatMap((custom) => {
    if (custom.kind === "ClusterPolicy" || custom.kind === "Policy") return [rulesOfPolicy(custom)];
    return custom.kind.endsWith("GeneratingPolicy") ? [rulesOfGeneratingPolicy(custom)] : [];
  });
}

function readKyverno(cluster: OldCluster): OldReading {
  const { customs, others } = cluster;
  const objects = copyableObjects(cluster);
  const policyReadings = policyReadingsOf(customs);
  const rules = policyReadings.flatMap((reading) => reading.rules);
  const copies = objects.filter(isMarked);
  const found = kyvernoSources(rules, objects, copies, filtersOf(others));
  const attribute = attribution(cluster, rules, found.sources);
  const marks = copies.map(attribute);
  const ofRules = found.sources.map(({ source }) => source);
  const titles = new Set(ofRules.map(({ title }) => title));
  const labelled = objects.filter((one) => !isMarked(one) && CLONE_SOURCE in one.labels);
  const ruled = new Set(found.sources.map(({ source }) => source.object));
  const alone = [
    ...marks.flatMap(({ sources }) => sources.filter(({ title }) => !titles.has(title))),
    ...labelled.filter((one) => !ruled.has(one)).map(rulelessSource),
  ];
  const moving = found.sources.filter(({ source }) => source.problems.length === 0);
  const never = rules.filter(({ scope }) => scope.kind === "never");
  const besides = never.map(
    ({ title }) => `${title}: its preconditions never hold: it copies nothing`,
  );
  const leftovers = leftoversOf(policyReadings, cluster, IMAGES);
  const steps = { policyReadings, moving: moving.map(({ source }) => source) };
  return {
    sources: [...ofRules, ...new Map(alone.map((one) => [one.title, one])).values()],
    marks,
    unmoved: others.filter((one) => isMarked(one) && !objects.includes(one)),
    besides: [...besides, ...leftovers.besides, ...unfiltered(rules, others)],
    problems: [
      ...policyReadings.flatMap(({ problems }) => problems),
      ...found.problems,
      ...exceptionsOf(customs, rules),
      ...webhookLimits(rules, others),
    ],
    preparations: preparationsOf(steps),
    deletionsFor: (moved) => deletionsOf({ policyReadings, moving: moved }),
    leftovers: () => leftovers.steps,
  };
}

/** A source has one label of Kyverno too. */
function isMarked({ labels }: OldObject): boolean {
  return ["policy-name", "trigger-uid", "source-uid"].some((word) =>
    Object.hasOwn(labels, KYVERNO_PREFIX + word),
  );
}

function label({ labels }: OldObject, word: string): string | undefined {
  return labels[KYVERNO_PREFIX + word] || undefined;
}

/** The source of a marked object, with what speaks against it. */
function attribution(
  cluster: OldCluster,
  rules: readonly CloneRule[],
  sources: readonly RuleSource[],
): (object: OldObject) => OldMark {
  const uids = new Map(cluster.namespaces.map(({ name, uid }) => [name, uid]));
  const byUid = new Map(copyableObjects(cluster).map((object) => [object.uid, object]));
  return (object) => {
    const uid = label(object, "source-uid");
    const named = label(object, "rule-name") === undefined ? undefined : ruleOf(object, rules);
    const candidates = sources.filter((one) => isCandidate(one, object, named));
    const best =
      candidates.find(
        ({ source }) => source.object?.uid === uid && source.copyName === object.name,
      ) ??
      candidates.find(({ source }) => source.object?.uid === uid) ??
      candidates.find(({ source }) => named && source.copyName === object.name);
    if (best && uid !== undefined)
      return markOfOne(object, inPlace(object, best.source), {
        doubt: named?.policy.deleting ? BEING_DELETED : doubtOf(object, best, uids),
      });
    const original = uid === undefined ? undefined : byUid.get(uid);
    const source = original?.kind === object.kind ? original : undefined;
    const other = sources.find((one) => source !== undefined && one.source.object === source);
    if (other) return markOfOne(object, inPlace(object, other.source), { doubt: NO_RULE });
    const policy = label(object, "policy-name");
    const isGone =
      policy !== undefined && !cluster.customs.some((one) => isPolicyOf(one, object, policy));
    if (!source || !isGone) return markOfOne(object, source && rulelessSource(source));
    const ways = { named: objectTitle(source), unclaimed: policyGone(policy) };
    return markOfOne(object, rulelessSource(source), ways);
  };
}

function rulelessSource(object: OldObject): OldSource {
  return {
    ...secretSource(object, {
      push: undefined,
      labels: object.labels,
      annotations: object.annotations,
    }),
    title: `${objectTitle(object)} without a rule`,
    isRuleless: true,
    sharing: "refused",
  };
}

function isPolicyOf({ kind, name, namespace = "" }: OldCustom, object: OldObject, policy: string) {
  const home = object.labels[`${KYVERNO_PREFIX}policy-namespace`] ?? "";
  return kind.endsWith("Policy") && name === policy && namespace === home;
}

function policyGone(policy: string): string {
  return `its policy ${policy} is deleted, so that no rule says where it is wanted: nothing keeps it current; to keep it so, name this namespace in secretcast.io/to of its source and set secretcast.io/adopt on it; its labels generate.kyverno.io/* make Kyverno update no other copy of the source`;
}

const NO_RULE = "its rule no longer exists, or is not one of its source";

/** Nothing of the source is wanted under another name. */
function inPlace({ name }: OldObject, source: OldSource): OldSource {
  return name === source.copyName ? source : { ...source, push: undefined };
}

function ruleOf(object: OldObject, rules: readonly CloneRule[]): CloneRule | undefined {
  return rules.find(
    ({ policy, rule }) =>
      rule === label(object, "rule-name") &&
      policy.name === label(object, "policy-name") &&
      policy.namespace === label(object, "policy-namespace"),
  );
}

function isCandidate(
  { rules, source }: RuleSource,
  object: OldObject,
  named: CloneRule | undefined,
): boolean {
  if (source.kind !== object.kind) return false;
  if (named) return rules.includes(named);
  // The rule is deleted.
  if (label(object, "rule-name") !== undefined) return false;
  const policy = label(object, "policy-name");
  return policy === undefined || rules.some(({ rule }) => rule === undefined);
}

function doubtOf(
  object: OldObject,
  { rules, source }: RuleSource,
  uids: ReadonlyMap<string, string>,
): string | undefined {
  if (object.name !== source.copyName) return undefined;
  const trigger = label(object, "trigger-uid");
  const byNamespace = rules.every((rule) => rule.byNamespace);
  if (byNamespace && trigger !== uids.get(object.namespace))
    return "its mark names the UID of another namespace: it may be a copy of a copy";
  if (label(object, "source-uid") !== source.object?.uid)
    return "its mark names the UID of a source that was made again since";
  if (
    object.labels["app.kubernetes.io/managed-by"] !== "kyverno" ||
    label(object, "policy-name") === undefined
  )
    return "one of its marks is gone";
  return undefined;
}
