// The namespaces that a rule in a tool's own resource names, by names, selectors and patterns. Rules for the
// same copies of the same source become one, because a source has one rule with secretcast.
import {
  matchesLabels,
  namesIn,
  selectorText,
  unionOf,
  type LabelSelector,
} from "./label-selectors.ts";
import {
  fields,
  objectsIn,
  type OldCustom,
  type OldNamespace,
  type OldObject,
  type RawFields,
} from "./old-objects.ts";
import type { SecretData } from "../../controller/model/secret-data.ts";
import { stringOf } from "../../controller/model/unstructured.ts";
import type { PatternUse } from "./patterns/old-patterns.ts";
import type { OldMatch, OldSource, OldTargets } from "./old-tool.ts";
import { isNamespaceName, type Ref } from "../../text/names.ts";

/** Namespaces with one of the names, or that one of the selectors or patterns matches. */
export type NamespaceSet = {
  readonly names: readonly string[];
  readonly selectors: readonly LabelSelector[];
  /** RE2, found anywhere in the name. */
  readonly patterns: readonly string[];
};

export type RuleTargets = {
  readonly any: NamespaceSet;
  /** They must also be in this set. Undefined means every namespace. */
  readonly within: NamespaceSet | undefined;
};

/** What a source's rule is, and what it does not express. */
type Inexact = { readonly problems: readonly string[]; readonly incomplete: readonly string[] };
type JoinedTargets = Inexact & { readonly targets: OldTargets | undefined };

export const COPY_AND_SOURCE =
  "its source is itself a copy, and a copy is no source with secretcast: name its own source in the rule";

export const NO_NAMESPACES: NamespaceSet = { names: [], selectors: [], patterns: [] };

/**
 * Why a rule that users of one namespace can write moves nothing. A rule is only a wish: a refused one looks
 * like any other. The data at its target prove that the tool carries it out. Undefined when they do, or
 * when the source is not there.
 */
export function unprovenFault(
  { uid, fields: all }: OldCustom,
  wanted: SecretData | undefined,
  target: OldObject | undefined,
): string | undefined {
  // A manifest has no target.
  if (!wanted || uid === "") return undefined;
  const present = target?.data.reveal() ?? {};
  const isProven = Object.entries(wanted.reveal()).every(([key, value]) => present[key] === value);
  if (isProven) return undefined;
  const reason = notReady(all);
  const state = reason === undefined ? "" : `it is not ready (${reason}), and `;
  return `${state}its target does not have the data of its source now: it does not move, because its account may have no right to read them`;
}

/** The reason of a condition Ready that is not true. Undefined without one. */
export function notReady(all: RawFields): string | undefined {
  const ready = objectsIn(fields(all["status"])["conditions"]).find(({ type }) => type === "Ready");
  if (!ready || ready["status"] === "True") return undefined;
  return stringOf(ready["reason"]) || "no reason";
}

type RuleOfCopies = {
  readonly title: string;
  readonly targets: RuleTargets;
};

/**
 * One source for the rules with one identity, and the source of each rule. `sourceOf` gets the rules that
 * are not being deleted, or all if each of them is.
 */
export function sourcesOf<R extends { readonly deleting: boolean }>(
  usable: readonly R[],
  identityOf: (rule: R) => string,
  sourceOf: (first: R, rules: readonly R[], deleting: boolean) => OldSource,
): { readonly sources: readonly OldSource[]; readonly ofRule: ReadonlyMap<R, OldSource> } {
  const ofRule = new Map<R, OldSource>();
  const sources: OldSource[] = [];
  for (const all of Map.groupBy(usable, identityOf).values()) {
    const lasting = all.filter(({ deleting }) => !deleting);
    const rules = lasting.length > 0 ? lasting : all;
    const [first] = rules;
    if (!first) continue;
    const source = sourceOf(first, rules, lasting.length === 0);
    sources.push(source);
    // Without its source a copy is an orphan.
    if (source.object) for (const rule of all) ofRule.set(rule, source);
  }
  return { sources, ofRule };
}

/** The rules that do not move, with the reason. */
export function faultsOf<R extends { readonly title: string }>(
  rules: readonly R[],
  faultOf: (rule: R) => string | undefined,
): readonly string[] {
  return rules.flatMap((rule) => {
    const fault = faultOf(rule);
    return fault === undefined ? [] : [`${rule.title}: ${fault}`];
  });
}

/** What rules for the same copies of one source say together, except for data and metadata. */
export function sourceOfRules(
  rules: readonly RuleOfCopies[],
  source: {
    readonly object: OldObject | undefined;
    readonly place: Ref;
    readonly copyName: string;
  },
  isCopy: boolean,
  namespaces: readonly OldNamespace[],
): Omit<OldSource, "keys" | "content" | "going" | "added"> & Inexact {
  const { object, place, copyName } = source;
  const targets = rules.map((rule) => rule.targets);
  const joined = joinTargets(targets, namespaces);
  const beside = besideSource(targets, source, namespaces);
  return {
    kind: "Secret",
    title: rules.map(({ title }) => title).join(", "),
    object,
    ...(object ? {} : { absent: place }),
    copyName,
    push: joined.targets,
    allow: undefined,
    notes: [],
    problems: [...joined.problems, ...beside.problems, ...(isCopy ? [COPY_AND_SOURCE] : [])],
    incomplete: [...joined.incomplete, ...beside.incomplete],
    sharing: "refused",
  };
}

/** The namespaces that any of `rules` names. */
function joinTargets(
  rules: readonly RuleTargets[],
  namespaces: readonly OldNamespace[],
): JoinedTargets {
  const [first, ...others] = rules;
  if (!first) return joinedOf([]);
  const limits = new Set(rules.map(({ within }) => JSON.stringify(within)));
  if (limits.size > 1) return namesNow(rules, namespaces);
  const all = [first, ...others].map(({ any }) => any);
  const any = {
    names: all.flatMap(({ names }) => names),
    selectors: all.flatMap(({ selectors }) => selectors),
    patterns: all.flatMap(({ patterns }) => patterns),
  };
  const parts = [any, ...(first.within ? [first.within] : [])].map(matchOf);
  if (parts.includes(undefined)) return namesNow(rules, namespaces);
  return joinedOf(parts.filter((part) => part !== undefined));
}

function joinedOf(matches: readonly OldMatch[], incomplete: readonly string[] = []): JoinedTargets {
  return { targets: { matches, except: [] }, problems: [], incomplete };
}

/** Undefined when the selectors cannot be joined. */
function matchOf({ names, selectors, patterns }: NamespaceSet): OldMatch | undefined {
  if (selectors.some((selector) => selector.length === 0)) return { kind: "all" };
  // A selector of names is only written as one where it is alone.
  const alone = selectors.length === 1 && names.length === 0 && patterns.length === 0;
  const byName = alone ? [] : selectors.flatMap((selector) => namesIn(selector) ?? []);
  const byLabel = alone ? selectors : selectors.filter((selector) => !namesIn(selector));
  const selector = byLabel.length === 0 ? undefined : unionOf(byLabel);
  if (byLabel.length > 0 && !selector) return undefined;
  const literal = [...new Set([...names, ...byName])].filter(isNamespaceName).toSorted();
  return {
    kind: "some",
    patterns: [...literal.map((name) => `^${name}$`), ...patterns].map(re2),
    selector: selector && selectorText(selector),
  };
}

function re2(pattern: string): PatternUse {
  return { engine: "RE2", mode: "search", pattern };
}

// The names of now.
function namesNow(
  rules: readonly RuleTargets[],
  namespaces: readonly OldNamespace[],
): JoinedTargets {
  const names = new Set<string>();
  for (const { any, within } of rules) {
    if (any.patterns.length > 0 || (within && within.patterns.length > 0)) {
      const problem = "to: one list and one selector cannot express its rules";
      return { targets: undefined, problems: [problem], incomplete: [] };
    }
    for (const namespace of namespaces) {
      const limited = within === undefined || isIn(within, namespace);
      if (limited && isIn(any, namespace)) names.add(namespace.name);
    }
  }
  const match = matchOf({ ...NO_NAMESPACES, names: [...names] });
  const why = `to: one list and one selector cannot express its rules; the ${names.size} namespaces of now are listed by name, and a later one must be added by hand`;
  return joinedOf(match ? [match] : [], [why]);
}

/** A copy in the namespace of its source, which secretcast never makes. */
function besideSource(
  rules: readonly RuleTargets[],
  { place, copyName }: { readonly place: Ref; readonly copyName: string },
  namespaces: readonly OldNamespace[],
): Inexact {
  const own = namespaces.find(({ name }) => name === place.namespace);
  const named = rules.some(({ any }) => any.names.includes(place.namespace));
  const reaches = (one: OldNamespace): boolean => rules.some(({ any }) => isIn(any, one));
  if (copyName === place.name || !(named || (own && reaches(own)))) return NOTHING;
  if (!namespaces.some((one) => one !== own && reaches(one))) {
    return { problems: [noCopyBeside(place)], incomplete: [] };
  }
  return { problems: [], incomplete: [leftBeside(place)] };
}

function noCopyBeside({ namespace }: Ref): string {
  return `a copy beside its source, in ${namespace}, cannot be made with secretcast`;
}

/** `source`: has a copy of another name beside it, and other copies that move. */
export function leftBeside(source: Ref): string {
  return `${noCopyBeside(source)}: it stays as it is and is no longer kept current`;
}

const NOTHING: Inexact = { problems: [], incomplete: [] };

/** Whether the set names it, patterns aside. */
export function isIn({ names, selectors }: NamespaceSet, { name, labels }: OldNamespace): boolean {
  return (
    names.includes(name) ||
    selectors.some((selector) => matchesLabels(selectorText(selector), labels))
  );
}
