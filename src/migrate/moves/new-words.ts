// Translates the namespaces of a tool's rule into annotations of secretcast. It uses globs and a selector
// where they are exact. Otherwise it lists the namespaces that the rule names now, and reports the move as
// incomplete, because it would miss namespaces that are created later.
import {
  exactWords,
  listsThatMustHold,
  globsOfAll,
  ofOne,
  PULL,
  PUSH,
  withoutSystem,
  type WordPair,
} from "./exact-words.ts";
import type { MoveContext } from "./move-context.ts";
import { NAMESPACE_GLOBS, parseGlobList } from "../../text/globs.ts";
import { listed } from "../../text/listed.ts";
import { patternKey, shownPattern, type PatternUse } from "../oldtools/patterns/old-patterns.ts";
import { namesOf, type OldTargets } from "../oldtools/old-tool.ts";
import { globsOfPattern, widerGlob } from "../oldtools/patterns/pattern-globs.ts";
import { parseSource } from "../../controller/annotations/parse.ts";
import { annotationKey } from "../../controller/annotations/vocabulary.ts";
import { covers } from "../../controller/desired/targets.ts";
import type { Namespace } from "../../controller/model/cluster.ts";
import type { StringMap } from "../../text/string-map.ts";

export type NewWords = {
  /** Full keys. Empty when no namespace is named. */
  readonly annotations: StringMap;
  readonly notes: readonly string[];
  /** The parts of the rule that the annotations do not express, and what to do about them. */
  readonly incomplete: readonly string[];
  /** Why exact annotations are not possible. */
  readonly problem: string | undefined;
};

/** `own`: the source's namespace, which is never named. */
export function newWords(
  what: "push" | "allow",
  given: OldTargets,
  own: string,
  context: MoveContext,
): NewWords {
  const words = what === "push" ? PUSH : PULL;
  const { targets: whole, notes, leftOut } = readablePart(given, words, context);
  const { targets, dropped } = withoutSystem(whole, context);
  const set = namesOf(whole, context.old, context.answers);
  if (typeof set === "string") return { ...NO_WORDS, notes, problem: `${words.list}: ${set}` };
  const names = [...set].filter((name) => name !== own).toSorted();
  const now = names.length === 0 ? {} : { [annotationKey(words.list)]: names.join(",") };
  const listed = given.matches.find((match) => match.kind === "listed");
  if (listed) {
    const incomplete = [listedNow(words, listed.why, names.length)];
    return { ...NO_WORDS, annotations: now, notes, incomplete };
  }
  const isExact = (annotations: StringMap | undefined): annotations is StringMap =>
    annotations !== undefined &&
    says(
      annotations,
      words,
      names,
      own,
      context.namespaces.filter(({ name }) => !dropped.has(name)),
      targets,
    );
  const exact = exactWords(targets, words);
  if (isExact(exact)) {
    const doubtful = [
      ...(names.length === 0 ? meantAsGlobs(targets, words) : []),
      ...matchingNothing(targets, words),
    ];
    return { ...NO_WORDS, annotations: exact, notes, incomplete: [...leftOut, ...doubtful] };
  }
  const partial = partialWords(targets, words, own, context);
  if (partial && isExact(partial.annotations)) {
    return { ...partial, notes, incomplete: [...leftOut, ...partial.incomplete] };
  }
  const near = nearGlobs(listsThatMustHold(targets).at(-1)?.patterns ?? [], names, own, context);
  const beyond = [beyondGlobs(words, names.length, near)];
  const reasons =
    names.length > 0
      ? beyond
      : [
          ...(partial?.incomplete ?? beyond),
          `${words.list}: set ${annotationKey(words.list)} yourself`,
        ];
  return { ...NO_WORDS, annotations: now, notes, incomplete: [...leftOut, ...reasons] };
}

const NO_WORDS: NewWords = { annotations: {}, notes: [], incomplete: [], problem: undefined };

function beyondGlobs({ list }: WordPair, count: number, near: string): string {
  return `${list}: globs and a selector cannot express its rule${near}; the ${count} namespaces of now are listed by name, and a later one must be added by hand`;
}

function listedNow({ list }: WordPair, why: string, count: number): string {
  const rest = `set ${annotationKey(list)} yourself`;
  if (count === 0) return `${list}: ${why}, and it has no copy now; ${rest}`;
  return `${list}: ${why}; the ${count} namespaces with a copy of now are listed by name, and a later one must be added by hand`;
}

type Readable = {
  readonly targets: OldTargets;
  readonly notes: readonly string[];
  readonly leftOut: readonly string[];
};

// In one list, an unreadable pattern does not affect the others. When two lists must both hold, leaving a
// pattern out of one would change the other as well.
function readablePart(given: OldTargets, { list }: WordPair, { answers }: MoveContext): Readable {
  const notes: string[] = [];
  const leftOut: string[] = [];
  const isAlone = listsThatMustHold(given).length === 1;
  const isReadable = (use: PatternUse): boolean => {
    const answer = answers.get(patternKey(use));
    if (answer?.kind === "refused" && use.engine === "RE2") {
      notes.push(
        `${list}: the old tool does not accept the pattern ${shownPattern(use.pattern)} and ignores it`,
      );
      return false;
    }
    if (!isAlone || answer?.kind === "names" || answer === undefined) return true;
    const why =
      answer.kind === "unknown"
        ? answer.why
        : `${use.engine} does not accept the pattern ${shownPattern(use.pattern)}`;
    leftOut.push(`${list}: ${why}; it is left out, so add by hand what it stands for`);
    return false;
  };
  const matches = given.matches.map((match) =>
    match.kind === "some" ? { ...match, patterns: match.patterns.filter(isReadable) } : match,
  );
  return {
    targets: { ...given, matches },
    notes: [...new Set(notes)],
    leftOut: [...new Set(leftOut)],
  };
}

// Uses globs where a pattern has them, and the current names for the others.
function partialWords(
  targets: OldTargets,
  words: WordPair,
  own: string,
  context: MoveContext,
): NewWords | undefined {
  const { old, answers } = context;
  const excluded = globsOfAll(targets.except);
  const [factor, ...others] = listsThatMustHold(targets);
  if (!excluded || !factor || others.length > 0) return undefined;
  const globs: string[] = [];
  const incomplete: string[] = [];
  for (const use of factor.patterns) {
    const exact = globsOfPattern(use);
    if (exact) globs.push(...exact);
    else {
      const match = { ...factor, patterns: [use], selector: undefined };
      const set = namesOf({ ...targets, matches: [match] }, old, answers);
      const names = typeof set === "string" ? [] : [...set].filter((name) => name !== own);
      globs.push(...names.toSorted());
      const near = nearGlobs([use], names, own, context);
      incomplete.push(withoutGlob(use, words, names.length, near));
    }
  }
  const parts = { globs: [...new Set(globs)], selector: factor.selector };
  const annotations = ofOne(words, parts, excluded);
  return { ...NO_WORDS, annotations: annotations ?? {}, incomplete };
}

function withoutGlob(use: PatternUse, { list }: WordPair, count: number, near: string): string {
  return `${list}: no glob expresses the pattern ${shownPattern(use.pattern)}${near}; the ${count} namespaces that it matches now are listed by name`;
}

// Globs that match the names of a rule and others, with what they would gain now.
function nearGlobs(
  uses: readonly PatternUse[],
  names: readonly string[],
  own: string,
  { old }: MoveContext,
): string {
  const globs = uses.map((use) => globsOfPattern(use)?.join(",") ?? widerGlob(use));
  if (globs.length === 0 || globs.includes(undefined)) return "";
  const text = [...new Set(globs)].join(",");
  const list = parseGlobList(text, NAMESPACE_GLOBS);
  if (!list.ok || !names.every((name) => list.value.matches(name))) return "";
  const present = new Set([...names, own]);
  const gained = old.flatMap(({ name }) =>
    list.value.matches(name) && !present.has(name) ? [name] : [],
  );
  const now = gained.length === 0 ? "" : `, now ${listed(gained, MOST_GAINED)}`;
  return ` (${text} matches these names and others${now})`;
}

const MOST_GAINED = 5;

// A pattern without any name beside others that have some, as "^prod-" for an engine that covers the name.
function matchingNothing(targets: OldTargets, { list }: WordPair): readonly string[] {
  const uses = listsThatMustHold(targets).flatMap(({ patterns }) => patterns);
  return uses
    .filter((use) => use.engine !== "glob" && globsOfPattern(use)?.length === 0)
    .map(
      ({ pattern }) =>
        `${list}: the pattern ${shownPattern(pattern)} matches no name of a namespace, and is left out`,
    );
}

// "team-*" is a regular expression to these tools, for "team" and any number of "-". Where it matches
// nothing, its author may have meant a glob.
function meantAsGlobs(targets: OldTargets, { list }: WordPair): readonly string[] {
  const uses = listsThatMustHold(targets).flatMap(({ patterns }) => patterns);
  const expressions = uses.filter(({ engine }) => engine !== "glob");
  const texts = expressions.map(({ pattern }) => pattern.replaceAll(/^\^|\$$/g, ""));
  return [...new Set(texts)]
    .filter((text) => /^[a-z0-9-]*\*[a-z0-9*-]*$/.test(text))
    .map(
      (text) =>
        `${list}: the old tool reads ${shownPattern(text)} as a regular expression, and no namespace of now matches it; if it was meant as a glob, set ${annotationKey(list)}: ${text}`,
    );
}

// Verifies the annotations with secretcast's own parser and rule, for every existing namespace.
function says(
  annotations: StringMap,
  words: WordPair,
  names: readonly string[],
  own: string,
  namespaces: readonly Namespace[],
  targets: OldTargets,
): boolean {
  const { rule, problems } = parseSource(annotations, "any");
  const match = words === PUSH ? rule.to : rule.allow;
  if (problems.length > 0 || !match) return false;
  // Namespaces that ask for copies by an annotation now use `accept`.
  const asked = targets.matches.some(({ kind }) => kind === "annotated");
  const wanted = new Set(names);
  if (asked) return true;
  return namespaces.every((namespace) => {
    const { name } = namespace;
    return name === own || covers(match, namespace) === wanted.has(name);
  });
}
