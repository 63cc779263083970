// The sources of Kyverno's rules. An object has one rule with secretcast, so the rules that copy one object
// under one name are joined. When they use several names, the name with the most copies moves, and the
// others are reported.
import { oneSelector } from "./kyverno-match.ts";
import { clones, type CloneRule } from "./kyverno-rules.ts";
import { objectTitle, type OldObject } from "../old-objects.ts";
import type { PatternUse } from "../patterns/old-patterns.ts";
import { withoutKeys, type OldMatch, type OldSource, type OldTargets } from "../old-tool.ts";
import { COPY_AND_SOURCE, leftBeside } from "../rule-targets.ts";
import { secretSource } from "../secret-source.ts";
import { refText } from "../../../text/names.ts";

export const KYVERNO_PREFIX = "generate.kyverno.io/";

export type RuleSource = { readonly source: OldSource; readonly rules: readonly CloneRule[] };

export type KyvernoSources = {
  readonly sources: readonly RuleSource[];
  readonly problems: readonly string[];
};

/** Rules that copy one object under one name, and the namespaces with such a copy. */
type Group = {
  readonly object: OldObject;
  readonly copyName: string;
  readonly rules: CloneRule[];
  readonly copied: ReadonlySet<string>;
};

/** `all`: the objects of the kinds that move. `filters`: namespaces that Kyverno keeps out of every rule. */
export function kyvernoSources(
  rules: readonly CloneRule[],
  all: readonly OldObject[],
  copies: readonly OldObject[],
  filters: readonly PatternUse[],
): KyvernoSources {
  const problems: string[] = [];
  const groups = new Map<string, Group>();
  const marked = new Set(copies);
  const originals = all.filter((object) => !marked.has(object));
  for (const rule of rules) {
    if (rule.scope.kind === "never") continue;
    const objects = originals.filter((object) => clones(rule, object));
    const isCopy = objects.length === 0 && copies.some((object) => clones(rule, object));
    problems.push(...(isCopy ? [`${rule.title}: ${COPY_AND_SOURCE}`] : problemsOf(rule, objects)));
    for (const object of objects) {
      const copyName = rule.copyName ?? object.name;
      const key = `${objectTitle(object)} ${copyName}`;
      const group = groups.get(key) ?? newGroup(object, copyName, copies);
      group.rules.push(rule);
      groups.set(key, group);
    }
  }
  for (const group of groups.values()) problems.push(...inactiveProblems(group));
  const byName = Map.groupBy(all, ({ kind, name }) => `${kind} ${name}`);
  const sources = [...groups.values()].map((group): RuleSource => {
    const present = byName.get(`${group.object.kind} ${group.copyName}`) ?? [];
    const served = new Set(present.map(({ namespace }) => namespace));
    const source = sourceOf(group, [...groups.values()], filters);
    return { rules: group.rules, source: copies.length === 0 ? source : { ...source, served } };
  });
  return { sources, problems: [...new Set(problems)] };
}

function newGroup(object: OldObject, copyName: string, copies: readonly OldObject[]): Group {
  const own = copies.filter(
    ({ kind, name, labels }) =>
      kind === object.kind &&
      name === copyName &&
      labels[`${KYVERNO_PREFIX}source-uid`] === object.uid,
  );
  return { object, copyName, rules: [], copied: new Set(own.map(({ namespace }) => namespace)) };
}

function problemsOf(
  { title, from, kinds, scope }: CloneRule,
  objects: readonly OldObject[],
): readonly string[] {
  const problems: string[] = [];
  if (from.kind === "one" && objects.length === 0)
    problems.push(`${title}: its source ${refText(from)} is not there`);
  if (from.kind === "list")
    problems.push(
      `${title}: a ${kinds.join(" or ")} in ${from.namespace} that gets the labels of its cloneList later is not copied: annotate it as well`,
    );
  if (scope.kind === "said" && scope.later !== undefined) problems.push(`${title}: ${scope.later}`);
  return problems;
}

function sourceOf(group: Group, all: readonly Group[], filters: readonly PatternUse[]): OldSource {
  const { object, copyName, rules, copied } = group;
  const active = activeOf(group);
  const problems = [...nameProblems(group, all)];
  if (active.every(({ sync }) => sync === "once")) problems.push(ONCE);
  const isBeside = copyName !== object.name && copied.has(object.namespace);
  const notes = active.every(({ existing }) => !existing)
    ? [
        "without generateExisting, its rule served only namespaces that were created or changed later",
      ]
    : [];
  return {
    ...secretSource(object, {
      push: targetsOf(group, active, filters),
      labels: withoutKeys(object.labels, [KYVERNO_PREFIX]),
      annotations: object.annotations,
      notes,
    }),
    title: `${rules.map(({ title }) => title).join(" and ")} of ${shownSource(object)}`,
    copyName,
    sharing: "refused",
    going: active.every(({ policy }) => policy.deleting) ? BEING_DELETED : undefined,
    problems,
    incomplete: isBeside ? [leftBeside(object)] : [],
  };
}

/** A rule may copy objects of both kinds with one name. */
function shownSource(object: OldObject): string {
  return object.kind === "Secret" ? refText(object) : objectTitle(object);
}

export const BEING_DELETED = "its policy is being deleted";
const ONCE =
  "its rule has synchronize: false, so that its copies belong to their namespaces: with secretcast, copies follow their source; to have that, set orphanDownstreamOnPolicyDelete: true beside it";

/** The rules that last and synchronize, or that do one of these, if there are any. */
function activeOf({ rules: all }: Group): readonly CloneRule[] {
  const following = all.filter(({ sync }) => sync !== "once");
  const rules = following.length > 0 ? following : all;
  const lasting = rules.filter(({ policy }) => !policy.deleting);
  return lasting.length > 0 ? lasting : rules;
}

// The source moves by its other rules.
function inactiveProblems(group: Group): readonly string[] {
  const active = new Set(activeOf(group));
  const inactive = group.rules.filter((rule) => !active.has(rule));
  return inactive.map(({ title, sync }) => `${title}: ${sync === "once" ? ONCE : BEING_DELETED}`);
}

// One object has one name for its copies.
function nameProblems(group: Group, all: readonly Group[]): readonly string[] {
  const rivals = all.filter(({ object, rules }) => {
    return object === group.object && rules.some(({ sync }) => sync !== "once");
  });
  const [winner] = rivals.toSorted((a, b) => b.copied.size - a.copied.size);
  if (!winner || winner === group) return [];
  return [
    `its copies are called ${group.copyName}, and the ${winner.copied.size} copies of another rule of the same ${group.object.kind} are called ${winner.copyName}: a source has one name for all copies, so give this rule a ${group.object.kind} of its own`,
  ];
}

const SEVERAL = "several rules copy it, which no single rule expresses";

function targetsOf(
  { copied }: Group,
  active: readonly CloneRule[],
  filters: readonly PatternUse[],
): OldTargets {
  const scopes = active.map(({ scope }) => scope);
  const said = scopes.flatMap((scope) => (scope.kind === "said" ? [scope.targets] : []));
  const [why] = scopes.flatMap((scope) => (scope.kind === "listed" ? [scope.why] : []));
  const targets = why === undefined ? joined(said) : undefined;
  if (targets) return { ...targets, except: [...targets.except, ...filters] };
  return { matches: [{ kind: "listed", names: copied, why: why ?? SEVERAL }], except: [] };
}

/** The namespaces that one of them names. Undefined when no list and selector express that. */
function joined(all: readonly OldTargets[]): OldTargets | undefined {
  const [first, ...others] = [...new Map(all.map((one) => [JSON.stringify(one), one])).values()];
  if (!first || others.length === 0) return first;
  const { except } = first;
  if (others.some((other) => JSON.stringify(other.except) !== JSON.stringify(except)))
    return undefined;
  const patterns: PatternUse[] = [];
  const selectors = new Set<string>();
  for (const {
    matches: [match, ...more],
  } of [first, ...others]) {
    if (!match || more.length > 0) return undefined;
    if (match.kind === "all") return { matches: [match], except };
    if (match.kind !== "some") return undefined;
    patterns.push(...match.patterns);
    if (match.selector !== undefined) selectors.add(match.selector);
  }
  const selector = oneSelector([...selectors]);
  if (selectors.size > 0 && selector === undefined) return undefined;
  const match: OldMatch = { kind: "some", patterns, selector };
  return { matches: [match], except };
}
