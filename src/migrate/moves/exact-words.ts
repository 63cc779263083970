// The annotations that express namespaces exactly, by globs and a selector, where there are any.
import type { MoveContext } from "./move-context.ts";
import type { OldMatch, OldTargets } from "../oldtools/old-tool.ts";
import type { PatternUse } from "../oldtools/patterns/old-patterns.ts";
import { globsOfPattern } from "../oldtools/patterns/pattern-globs.ts";
import { hasWildcard } from "../../text/glob.ts";
import { NAMESPACE_GLOBS, parseGlobList } from "../../text/globs.ts";
import { excludedBy } from "../../controller/desired/namespace-rules.ts";
import { annotationKey } from "../../controller/annotations/vocabulary.ts";
import type { StringMap } from "../../text/string-map.ts";

/** The annotations of one direction. */
export type WordPair = {
  readonly list: "to" | "allow";
  readonly selector: "to-selector" | "allow-selector";
};
export const PUSH: WordPair = { list: "to", selector: "to-selector" };
export const PULL: WordPair = { list: "allow", selector: "allow-selector" };

type Factor = Extract<OldMatch, { kind: "some" }>;

/** The lists and selectors that must all hold, each once. */
export function listsThatMustHold({ matches }: OldTargets): readonly Factor[] {
  const some = matches.filter((match) => match.kind === "some");
  return [...new Map(some.map((match) => [JSON.stringify(match), match])).values()];
}

/** Undefined when no annotations are exact. */
export function exactWords(targets: OldTargets, words: WordPair): StringMap | undefined {
  const excluded = globsOfAll(targets.except);
  if (!excluded) return undefined;
  const [first, second, ...rest] = listsThatMustHold(targets);
  if (rest.length > 0) return undefined;
  if (!first) return texts(words, ["*"], excluded, undefined);
  const one = partsOf(first);
  if (!one) return undefined;
  if (!second) return ofOne(words, one, excluded);
  const two = partsOf(second);
  if (!two) return undefined;
  const both = [one, two];
  const common = commonNames(both);
  if (common) return texts(words, common, excluded, undefined);
  const list = both.find(({ selector }) => selector === undefined);
  const selecting = both.find(({ globs, selector }) => globs.length === 0 && selector);
  if (!list || !selecting || list.globs.length === 0) return undefined;
  return texts(words, list.globs, excluded, selecting.selector);
}

type Parts = { readonly globs: readonly string[]; readonly selector: string | undefined };

function partsOf(match: Factor): Parts | undefined {
  const globs = globsOfAll(match.patterns);
  return globs && { globs, selector: match.selector };
}

export function globsOfAll(uses: readonly PatternUse[]): readonly string[] | undefined {
  const globs: string[] = [];
  for (const use of uses) {
    const some = globsOfPattern(use);
    if (!some) return undefined;
    globs.push(...some);
  }
  return [...new Set(globs)];
}

// When one of two lists has only names: those names that the other list matches too.
function commonNames(both: readonly Parts[]): readonly string[] | undefined {
  const isLiteral = ({ globs, selector }: Parts): boolean =>
    selector === undefined && globs.length > 0 && !globs.some(hasWildcard);
  const names = both.find(isLiteral);
  const other = both.find((parts) => parts !== names && parts.selector === undefined);
  const list = other && parseGlobList(other.globs.join(","), NAMESPACE_GLOBS);
  if (!names || !list?.ok) return undefined;
  const common = names.globs.filter((name) => list.value.matches(name));
  return common.length > 0 ? common : undefined;
}

// With both a list and a selector, one match is enough.
export function ofOne(
  words: WordPair,
  { globs, selector }: Parts,
  excluded: readonly string[],
): StringMap | undefined {
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
): StringMap {
  const excluding = excluded.filter((glob) => !needless(globs, selector, glob));
  const list = [...globs, ...excluding.map((glob) => `!${glob}`)].join(",");
  return {
    ...(list === "" ? {} : { [annotationKey(words.list)]: list }),
    ...(selector === undefined ? {} : { [annotationKey(words.selector)]: selector }),
  };
}

// An exclusion of a namespace to which the controller copies nothing anyway.
export function withoutSystem(
  targets: OldTargets,
  { settings }: MoveContext,
): { readonly targets: OldTargets; readonly dropped: ReadonlySet<string> } {
  const isNeedless = ({ engine, pattern }: PatternUse): boolean =>
    engine === "glob" && excludedBy(settings, pattern)?.flag === "--include-system-namespaces";
  const dropped = new Set(targets.except.filter(isNeedless).map(({ pattern }) => pattern));
  const except = targets.except.filter((use) => !isNeedless(use));
  return { targets: { ...targets, except }, dropped };
}

// An exclusion is needless beside a list in which nothing matches it.
function needless(globs: readonly string[], selector: string | undefined, out: string): boolean {
  if (selector !== undefined || globs.length === 0) return false;
  const matches = (list: string, name: string): boolean => {
    const parsed = parseGlobList(list, NAMESPACE_GLOBS);
    return parsed.ok && parsed.value.matches(name);
  };
  if (!hasWildcard(out)) return !matches(globs.join(","), out);
  return globs.every((glob) => !hasWildcard(glob) && !matches(out, glob));
}
