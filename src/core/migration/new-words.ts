// From the namespaces that a tool's rule names to our words for them. Where our words cannot say what the
// tool's said, the namespaces of now are named one by one, and that is told.
import type { MoveContext } from "./move-context.ts";
import { globsOfPattern, type PatternUse } from "../oldtools/old-patterns.ts";
import { namesOf, type OldMatch, type OldTargets } from "../oldtools/old-tool.ts";
import { NAMESPACE_GLOBS, parseGlobList } from "../annotations/globs.ts";
import { parseSource } from "../annotations/parse.ts";
import { annotationKey } from "../annotations/vocabulary.ts";
import { covers } from "../desired/targets.ts";
import type { Namespace } from "../model/cluster.ts";

type Texts = Readonly<Record<string, string>>;

export type NewWords = {
  /** Full keys; empty: no namespace is named. */
  readonly annotations: Texts;
  readonly notes: readonly string[];
  /** Why no words can be found without guessing. */
  readonly problem: string | undefined;
};

type WordPair = {
  readonly list: "to" | "allow";
  readonly selector: "to-selector" | "allow-selector";
};
const PUSH: WordPair = { list: "to", selector: "to-selector" };
const PULL: WordPair = { list: "allow", selector: "allow-selector" };

/** `own`: the source's namespace, which is never named. */
export function newWords(
  what: "push" | "allow",
  targets: OldTargets,
  own: string,
  { old, namespaces, answers }: MoveContext,
): NewWords {
  const words = what === "push" ? PUSH : PULL;
  const set = namesOf(targets, old, answers);
  const said = wordsOf(targets, words);
  if (set.kind === "unknown") return { annotations: {}, notes: [], problem: set.why };
  const names = [...set.names].filter((name) => name !== own).toSorted();
  if (said && says(said, words, names, own, namespaces, targets)) {
    return { annotations: said, notes: [], problem: undefined };
  }
  if (names.length === 0) {
    const note = `no namespace of now is named by its rule, and our words cannot say it: ${words.list} is left out`;
    return { annotations: {}, notes: [note], problem: undefined };
  }
  const note = `${words.list}: our words cannot say its rule, so ${names.length} namespaces of now are named one by one; a new one has to be added`;
  const annotations = { [annotationKey(words.list)]: names.join(",") };
  return { annotations, notes: [note], problem: undefined };
}

function wordsOf({ matches, except }: OldTargets, words: WordPair): Texts | undefined {
  const some = matches.filter((match) => match.kind === "some");
  const factors = [...new Map(some.map((match) => [JSON.stringify(match), match])).values()];
  const excluded = globsOfAll(except);
  if (!excluded) return undefined;
  const [first, second, ...rest] = factors;
  if (rest.length > 0) return undefined;
  if (!first) return texts(words, ["*"], excluded, undefined);
  const one = partsOf(first);
  if (!one) return undefined;
  if (!second) return ofOne(words, one, excluded);
  const two = partsOf(second);
  if (!two) return undefined;
  const both = [one, two];
  const list = both.find(({ selector }) => selector === undefined);
  const selecting = both.find(({ globs, selector }) => globs.length === 0 && selector);
  if (!list || !selecting || list.globs.length === 0) return undefined;
  return texts(words, list.globs, excluded, selecting.selector);
}

type Parts = { readonly globs: readonly string[]; readonly selector: string | undefined };

function partsOf(match: Extract<OldMatch, { kind: "some" }>): Parts | undefined {
  const globs = globsOfAll(match.patterns);
  return globs && { globs, selector: match.selector };
}

function globsOfAll(uses: readonly PatternUse[]): readonly string[] | undefined {
  const globs: string[] = [];
  for (const use of uses) {
    const some = globsOfPattern(use);
    if (!some) return undefined;
    globs.push(...some);
  }
  return [...new Set(globs)];
}

// Either is enough, where there are both.
function ofOne(
  words: WordPair,
  { globs, selector }: Parts,
  excluded: readonly string[],
): Texts | undefined {
  if (globs.length === 0 && selector === undefined) return undefined;
  if (globs.length === 0 || selector === undefined) return texts(words, globs, excluded, selector);
  const both = texts(words, globs, excluded, selector);
  return { ...both, [annotationKey("match")]: "any" };
}

function texts(
  words: WordPair,
  globs: readonly string[],
  excluded: readonly string[],
  selector: string | undefined,
): Texts {
  const excluding = needless(globs, selector, excluded) ? [] : excluded;
  const list = [...globs, ...excluding.map((glob) => `!${glob}`)].join(",");
  return {
    ...(list === "" ? {} : { [annotationKey(words.list)]: list }),
    ...(selector === undefined ? {} : { [annotationKey(words.selector)]: selector }),
  };
}

// Of a list of names alone, none of which is excluded.
function needless(
  globs: readonly string[],
  selector: string | undefined,
  excluded: readonly string[],
): boolean {
  if (selector !== undefined || globs.some((glob) => /[*?]/.test(glob))) return false;
  const list = parseGlobList(excluded.join(","), NAMESPACE_GLOBS);
  return list.ok && !globs.some((name) => list.value.matches(name));
}

// Asked of our own parser and our own rule, of every namespace there is.
function says(
  annotations: Texts,
  words: WordPair,
  names: readonly string[],
  own: string,
  namespaces: readonly Namespace[],
  targets: OldTargets,
): boolean {
  const { rule, problems } = parseSource(annotations, "any");
  const match = words === PUSH ? rule.to : rule.allow;
  if (problems.length > 0 || !match) return false;
  // Who asks for copies by an annotation says so in `accept` from now on.
  const asked = targets.matches.some(({ kind }) => kind === "annotated");
  const wanted = new Set(names);
  if (asked) return true;
  return namespaces.every((namespace) => {
    const { name } = namespace;
    return name === own || covers(match, namespace) === wanted.has(name);
  });
}
