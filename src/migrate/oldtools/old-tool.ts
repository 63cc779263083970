// What a tool's own marks say, in the same terms for every tool: sources with the namespaces that they
// reach, and objects with a mark.
import type { ObjectKind } from "../../controller/model/kinds.ts";
import type {
  OldAccess,
  OldCluster,
  OldCustom,
  OldNamespace,
  OldObject,
  OldResource,
} from "./old-objects.ts";
import { patternKey, type PatternAnswers, type PatternUse } from "./patterns/old-patterns.ts";
import type { OldFlags, OldSetting } from "./old-settings.ts";
import { parseSelector } from "../../text/label-selector.ts";
import type { Ref } from "../../text/names.ts";
import type { SecretData } from "../../controller/model/secret-data.ts";
import type { StringMap } from "../../text/string-map.ts";

/** The tools that help, completion and documents offer. */
export const OLD_TOOLS = [
  "reflector",
  "replicator",
  "kubed",
  "clustersecret",
  "kyverno",
  "projection",
  "external-secrets",
] as const;
/** Tools that still work and are not offered, because they are hardly used any more. */
export const RETIRED_TOOLS = ["tgik"] as const;
export type OldToolName = (typeof OLD_TOOLS | typeof RETIRED_TOOLS)[number];

/** Namespaces that one of the patterns or the selector matches, or that have an annotation. */
export type OldMatch =
  | { readonly kind: "all" }
  | {
      readonly kind: "some";
      readonly patterns: readonly PatternUse[];
      readonly selector: string | undefined;
    }
  | { readonly kind: "annotated"; readonly annotation: string }
  /** The namespaces of now, because nothing else expresses the rule. `why` says what cannot be expressed. */
  | { readonly kind: "listed"; readonly names: ReadonlySet<string>; readonly why: string };

/** Namespaces that all matches accept and no pattern of `except` matches. */
export type OldTargets = {
  readonly matches: readonly OldMatch[];
  readonly except: readonly PatternUse[];
};

export type OldContent = {
  readonly type: string;
  readonly immutable: boolean;
  readonly data: SecretData;
  /** Labels and annotations that the tool copies, including those of other tools. */
  readonly labels: StringMap;
  readonly annotations: StringMap;
};

export type OldSource = {
  /** Of itself and of its copies. */
  readonly kind: ObjectKind;
  /** Name for output: "Secret NAMESPACE/NAME", "ClusterSecret NAME". */
  readonly title: string;
  /** The object that holds it. Undefined when it does not exist yet. */
  readonly object: OldObject | undefined;
  /** The place of the Secret that its rule names, when it is not there. */
  readonly absent?: Ref;
  readonly copyName: string;
  readonly push: OldTargets | undefined;
  readonly allow: OldTargets | undefined;
  /**
   * Namespaces that it has served, for a tool whose rule serves no namespace that was there before. Undefined
   * when it serves all that `push` names.
   */
  readonly served?: ReadonlySet<string>;
  /** Namespaces whose own rule may read it, by the rights of its account. */
  readonly entitled?: ReadonlySet<string>;
  /** Its rule no longer exists. It counts only if it is moved already. */
  readonly isRuleless?: boolean;
  /** Keys of its data. Undefined means all. */
  readonly keys: readonly string[] | undefined;
  /** Undefined when it is unknown. */
  readonly content: OldContent | undefined;
  /** Why its copies stay unchanged. */
  readonly going: string | undefined;
  readonly notes: readonly string[];
  /** Why it cannot be moved without changes. */
  readonly problems: readonly string[];
  /** The parts of its rule that move in no form, while the rest moves. */
  readonly incomplete?: readonly string[];
  /** What the tool puts on copies and the source does not have. */
  readonly added?: {
    readonly labels: StringMap;
    readonly annotations: StringMap;
    /** Undefined when copies have the type of the source. */
    readonly type?: string;
  };
  /** A Secret has one rule. By default its other rules get Secrets with a snapshot of its data. */
  readonly sharing?: "refused";
};

/** An object with a mark of the tool. */
export type OldMark = {
  readonly object: OldObject;
  /** A mirror that asks for its source itself. It belongs to its owner. */
  readonly pulls: boolean;
  /** The possible sources of the copy. There are several when the mark names no source. */
  readonly sources: readonly OldSource[];
  /** The source that the mark names, as text. Undefined when it names no source. */
  readonly named: string | undefined;
  /** Why the mark does not prove that the tool made it. Undefined when it does. */
  readonly doubt: string | undefined;
  /** It belongs to a rule that does not move, which is reported with its reason. */
  readonly ofUnmovedRule?: boolean;
  /** The tool says that it does not keep it current. */
  readonly isStalled?: boolean;
  /** Why no rule claims it. */
  readonly unclaimed?: string;
  /** Whether this source was the last of several to write it, as far as the mark shows. */
  wroteLast(source: OldSource): boolean;
};

export type OldReading = {
  readonly sources: readonly OldSource[];
  readonly marks: readonly OldMark[];
  /** Namespaces that ask for copies by the tool's own annotation. */
  readonly asking?: readonly OldNamespace[];
  /** Marked objects of kinds that do not move. */
  readonly unmoved?: readonly OldObject[];
  /** Functions of the tool that secretcast does not have. */
  readonly besides?: readonly string[];
  /** Rules of the tool that belong to no source, with the reason why they do not move. */
  readonly problems?: readonly string[];
  /** What to change by hand before the first write. */
  readonly preparations?: readonly string[];
  /** What to delete by hand before the clean-up, when copies of these sources are moved. */
  deletionsFor?(moved: readonly OldSource[]): readonly string[];
  /**
   * What remains after the clean-up, as steps by hand in their order: custom resources, finalizers, webhooks
   * and definitions. `moving`: the rules that move. `copies`: the places of copies of secretcast.
   */
  leftovers?(moving: readonly OldSource[], copies: ReadonlySet<string>): readonly string[];
};

export type MoveStepName = "move" | "clean-up";

export type OldTool = {
  readonly name: OldToolName;
  /** Matches the images that its Pods run. */
  readonly images: RegExp;
  readonly settings: readonly OldSetting[];
  /** Prefixes of the tool's label and annotation keys. */
  readonly prefixes: readonly string[];
  /** Those of keys that the clean-up removes from sources. By default all of them. */
  readonly sourcePrefixes?: readonly string[];
  /**
   * GROUP/KIND of the owners that it gives to copies. A copy is adopted without such an owner: the garbage
   * collector would delete it with the rule.
   */
  readonly owner?: { readonly group: string; readonly kind: string };
  /** The kinds of objects that it copies and that move. By default Secrets alone. */
  readonly kinds?: readonly ObjectKind[];
  /** Its own kinds that are read. A kind that the API server does not serve has no objects. */
  readonly resources: readonly OldResource[];
  /** Kinds of others in which it leaves something. They are read for `leftovers` alone, and only in a cluster. */
  readonly traces?: readonly OldResource[];
  /**
   * For a tool that may run while the move writes, once its rules are harmless: each rule that is not, with
   * what to change in it. The rules are read again before and during the writes.
   */
  armed?(
    customs: readonly OldCustom[],
    step: MoveStepName,
    moving: readonly OldSource[],
  ): readonly string[];
  /** Whether an object of its own kinds, which `customs` are, copies something. By default each does. */
  copies?(custom: OldCustom, customs: readonly OldCustom[]): boolean;
  /** What a template of such an object contains if it copies something. By default each does. */
  readonly copyingText?: RegExp;
  /** What accounts must be allowed to read for rules whose targets do not prove it. */
  accesses?(cluster: OldCluster): readonly OldAccess[];
  /** A rule that is there need not act: an account, a webhook or a consent decides as well. */
  readonly rulesNeedMore?: boolean;
  /** It only copies into namespaces that ask for it, which secretcast calls opt-in. */
  readonly optIn?: boolean;
  read(cluster: OldCluster, flags: OldFlags): OldReading;
};

export function movesKind({ kinds = ["Secret"] }: OldTool, kind: unknown): boolean {
  return kinds.some((one) => one === kind);
}

/** The positions of the owners that the tool gave to the object. */
export function toolOwners({ owner }: OldTool, { owners }: OldObject): readonly number[] {
  if (!owner) return [];
  return owners.flatMap(({ apiVersion, kind }, at) =>
    kind === owner.kind && apiVersion.startsWith(`${owner.group}/`) ? [at] : [],
  );
}

/** The patterns that have to be matched before a reading can be judged. */
export function patternsOf({ sources }: OldReading): readonly PatternUse[] {
  const found = new Map<string, PatternUse>();
  for (const { push, allow } of sources) {
    for (const targets of [push, allow]) {
      const matches = targets?.matches ?? [];
      const uses = matches.flatMap((match) => (match.kind === "some" ? match.patterns : []));
      for (const use of [...uses, ...(targets?.except ?? [])]) found.set(patternKey(use), use);
    }
  }
  return [...found.values()];
}

/** The namespaces that `targets` name, as the tool itself reads them. A text says why they are unknown. */
export function namesOf(
  targets: OldTargets,
  namespaces: readonly OldNamespace[],
  answers: PatternAnswers,
): ReadonlySet<string> | string {
  const sets: ((namespace: OldNamespace) => boolean)[] = [];
  for (const match of targets.matches) {
    const test = testOf(match, answers);
    if (typeof test === "string") return test;
    sets.push(test);
  }
  const except = anyOf(targets.except, answers);
  if (typeof except === "string") return except;
  const named = namespaces.filter((one) => sets.every((test) => test(one)) && !except(one));
  return new Set(named.map(({ name }) => name));
}

type Test = (namespace: OldNamespace) => boolean;

function testOf(match: OldMatch, answers: PatternAnswers): Test | string {
  if (match.kind === "all") return () => true;
  if (match.kind === "annotated") {
    return ({ annotations }) => Object.hasOwn(annotations, match.annotation);
  }
  if (match.kind === "listed") return ({ name }) => match.names.has(name);
  const named = anyOf(match.patterns, answers);
  if (typeof named === "string" || match.selector === undefined) return named;
  const selector = parseSelector(match.selector);
  if (!selector.ok) {
    const { part, expected } = selector.fault;
    return `its selector cannot be read: ${JSON.stringify(part)}: expected ${expected}`;
  }
  return (namespace) => named(namespace) || selector.value.matches(namespace.labels);
}

function anyOf(uses: readonly PatternUse[], answers: PatternAnswers): Test | string {
  const sets: ReadonlySet<string>[] = [];
  for (const use of uses) {
    const answer = answers.get(patternKey(use));
    if (answer === undefined) return `the pattern ${JSON.stringify(use.pattern)} was not matched`;
    if (answer.kind === "unknown") return answer.why;
    if (answer.kind === "names") sets.push(answer.names);
  }
  return ({ name }) => sets.some((names) => names.has(name));
}

/** Without the keys with one of `prefixes`. */
export function withoutKeys(texts: StringMap, prefixes: readonly string[]): StringMap {
  return Object.fromEntries(
    Object.entries(texts).filter(([key]) => !prefixes.some((prefix) => key.startsWith(prefix))),
  );
}

export function titleOf(kind: string, { namespace, name }: Ref): string {
  return `${kind} ${namespace}/${name}`;
}
