// Finds globs that match the same namespaces as a pattern of another tool, for any set of namespaces. A
// pattern is first split into its ways: sequences of characters, of "anything", and of loops that no glob
// can express. A loop without effect is left out. A loop with an effect means that there are no globs.
import { NAMESPACE_GLOBS } from "../../../text/globs.ts";
import { patternExpression, type PatternUse } from "./old-patterns.ts";
import { parsePattern } from "./pattern-syntax.ts";
import { NAME_CHARACTERS, type PatternNode, type PatternWays } from "./pattern-tree.ts";

/** What one way through a pattern consists of. */
type Part =
  /** One of these characters. */
  | string
  | { readonly kind: "begin" | "end" }
  /** Any number of characters out of `set`, `least` or more. */
  | { readonly kind: "loop"; readonly set: string; readonly least: number; readonly lazy: boolean };
type Way = readonly Part[];

/** A list of globs has a hundred entries. More ways than this do not help a reader. */
const MOST_WAYS = 64;
/** A class with more characters is not expanded. */
const MOST_CHARACTERS = 10;
const MOST_COUNT = 16;

/** Undefined when no globs match exactly these namespaces. */
export function globsOfPattern(use: PatternUse): readonly string[] | undefined {
  if (use.engine === "glob") return NAMESPACE_GLOBS.allowed.test(use.pattern) ? [use.pattern] : [];
  if (patternExpression(use).kind !== "expression") return undefined;
  const parsed = parsePattern(use.engine, use.pattern);
  if (parsed.kind !== "parsed") return undefined;
  const ways = waysOf(parsed.ways)?.map((way) => anchored(way));
  if (!ways) return undefined;
  const known = ways.filter((way) => way !== undefined);
  if (known.length < ways.length) return undefined;
  const possible = known.filter(({ parts }) => !parts.includes(""));
  const chosen = use.mode === "cover" ? firstMatches(possible) : possible;
  const globs = chosen?.map((way) => globOf(way, use.mode));
  if (!globs || globs.includes(undefined)) return undefined;
  // No name is empty, or begins or ends with "-".
  return withoutCovered(globs.filter((glob) => !/^$|^-|-$/.test(glob ?? "")));
}

/** A glob for all names that the pattern matches, and for others too. Undefined when it would be "*". */
export function widerGlob(use: PatternUse): string | undefined {
  if (use.engine === "glob") return undefined;
  if (patternExpression(use).kind !== "expression") return undefined;
  const parsed = parsePattern(use.engine, use.pattern);
  const [way, ...others] = (parsed.kind === "parsed" && parsed.ways) || [];
  if (!way || others.length > 0) return undefined;
  const text = way.map(widerText).join("");
  const before = use.mode === "search" && way[0]?.kind !== "begin" ? "*" : "";
  const after = use.mode === "cover" || way.at(-1)?.kind === "end" ? "" : "*";
  const glob = `${before}${text}${after}`.replaceAll(/\*+/g, "*");
  return /[a-z0-9]/.test(glob) ? glob : undefined;
}

function widerText(node: PatternNode): string {
  switch (node.kind) {
    case "character":
      return node.set.length === 1 ? node.set : "?";
    case "begin":
    case "end":
      return "";
    case "other":
    case "group":
    case "repeat":
      return "*";
  }
}

function waysOf(alternatives: PatternWays): readonly Way[] | undefined {
  const ways: Way[] = [];
  for (const sequence of alternatives) {
    const some = sequenceWays(sequence);
    if (!some) return undefined;
    ways.push(...some);
    if (ways.length > MOST_WAYS) return undefined;
  }
  return ways;
}

function sequenceWays(nodes: readonly PatternNode[]): readonly Way[] | undefined {
  let ways: readonly Way[] = [[]];
  for (const node of nodes) {
    const parts = nodeWays(node);
    if (!parts || parts.length * ways.length > MOST_WAYS) return undefined;
    ways = ways.flatMap((way) => parts.map((part) => [...way, ...part]));
  }
  return ways;
}

function nodeWays(node: PatternNode): readonly Way[] | undefined {
  switch (node.kind) {
    case "character": {
      const isWritten = node.set.length > 1 && node.set.length <= MOST_CHARACTERS;
      return isWritten ? Array.from(node.set, (character) => [character]) : [[node.set]];
    }
    case "begin":
    case "end":
      return [[{ kind: node.kind }]];
    case "other":
      return undefined;
    case "group":
      return waysOf(node.ways);
    case "repeat":
      return repeatWays(node);
  }
}

function repeatWays(node: Extract<PatternNode, { kind: "repeat" }>): readonly Way[] | undefined {
  const { of, least, most, greed } = node;
  if (greed === "possessive") return undefined;
  // An optional assertion has no effect.
  if (of.kind === "begin" || of.kind === "end") return least === 0 ? [[]] : [[{ kind: of.kind }]];
  const lazy = greed === "lazy";
  if (most === Number.POSITIVE_INFINITY) {
    if (of.kind !== "character") return undefined;
    if (of.set === "") return least === 0 ? [[]] : [[""]];
    return [[{ kind: "loop", set: of.set, least, lazy }]];
  }
  if (most > MOST_COUNT) return undefined;
  const once = nodeWays(of);
  return once && countedWays(once, least, most, lazy);
}

// In the order in which an engine tries them: another round before none, or after it if lazy.
function countedWays(
  once: readonly Way[],
  least: number,
  most: number,
  lazy: boolean,
): readonly Way[] | undefined {
  if (most === 0) return [[]];
  const rest = countedWays(once, Math.max(0, least - 1), most - 1, lazy);
  if (!rest || once.length * rest.length > MOST_WAYS) return undefined;
  const more = once.flatMap((first) => rest.map((way) => [...first, ...way]));
  if (least > 0) return more;
  return lazy ? [[], ...more] : [...more, []];
}

type Anchored = { readonly begins: boolean; readonly ends: boolean; readonly parts: Way };

// "^" and "$" count only at the ends of a way.
function anchored(way: Way): Anchored | undefined {
  const isAnchor = (part: Part | undefined, kind: "begin" | "end"): boolean =>
    typeof part === "object" && part.kind === kind;
  let [from, to] = [0, way.length];
  while (isAnchor(way[from], "begin")) from++;
  while (to > from && isAnchor(way[to - 1], "end")) to--;
  const parts = way.slice(from, to);
  if (parts.some((part) => isAnchor(part, "begin") || isAnchor(part, "end"))) return undefined;
  return { begins: from > 0, ends: to < way.length, parts };
}

const isAny = (part: Part | undefined): boolean =>
  typeof part === "object" && part.kind === "loop" && part.set === NAME_CHARACTERS;

// .NET takes the first way that matches at the beginning, even if it covers less of the name.
function firstMatches(ways: readonly Anchored[]): readonly Anchored[] | undefined {
  const chosen: Anchored[] = [];
  for (const [index, way] of ways.entries()) {
    const hiding = ways.slice(0, index).map((earlier) => hides(earlier, way));
    if (hiding.includes("perhaps")) return undefined;
    if (!hiding.includes("always")) chosen.push(way);
  }
  return chosen;
}

/** Whether `earlier` can match a part of a name that `later` matches whole. */
function hides(earlier: Anchored, later: Anchored): "never" | "always" | "perhaps" {
  if (earlier.ends) return "never";
  let certain = true;
  for (const [index, part] of earlier.parts.entries()) {
    const other = later.parts[index];
    // "anything" at the end of a way covers the rest of the name, unless it is lazy.
    if (typeof part === "object") {
      const covers = isAny(part) && index === earlier.parts.length - 1 && !isLazy(part);
      return covers ? "never" : "perhaps";
    }
    if (other === undefined) return "never";
    if (typeof other === "object") return "perhaps";
    if (!Array.from(part).some((character) => other.includes(character))) return "never";
    if (!Array.from(other).every((character) => part.includes(character))) certain = false;
  }
  if (earlier.parts.length === later.parts.length) return "never";
  return certain ? "always" : "perhaps";
}

function isLazy(part: Part | undefined): boolean {
  return typeof part === "object" && part.kind === "loop" && part.lazy;
}

function globOf(way: Anchored, mode: PatternUse["mode"]): string | undefined {
  const { begins, ends } = way;
  const freeBefore = mode === "search" && !begins;
  const freeAfter = mode !== "cover" && !ends;
  // A lazy loop at the end matches as little as possible, and this is .NET's first match.
  if (mode === "cover" && !ends && way.parts.some(isLazy)) return undefined;
  const parts = withoutIdleLoops(way.parts, freeBefore, freeAfter);
  const texts = parts.map(textOf);
  if (texts.includes(undefined)) return undefined;
  const glob = `${freeBefore ? "*" : ""}${texts.join("")}${freeAfter ? "*" : ""}`;
  return glob.replaceAll(/\*+(\?*)\**/g, "$1*");
}

function withoutIdleLoops(parts: Way, freeBefore: boolean, freeAfter: boolean): Way {
  return trimmed(trimmed(parts, freeAfter).toReversed(), freeBefore).toReversed();
}

// Next to an open end, a loop only matters with its minimum number of characters. No name begins or ends
// with "-".
function trimmed(parts: Way, isFree: boolean): Way {
  const last = parts.at(-1);
  if (typeof last !== "object" || last.kind !== "loop" || isAny(last)) return parts;
  if (!isFree && (last.set !== "-" || last.least > 0)) return parts;
  const needed = isFree ? Array.from({ length: last.least }, () => last.set) : [];
  return trimmed([...parts.slice(0, -1), ...needed], isFree);
}

function textOf(part: Part): string | undefined {
  if (typeof part === "string") {
    if (part === NAME_CHARACTERS) return "?";
    return part.length === 1 ? part : undefined;
  }
  return part.kind === "loop" && isAny(part) ? `${"?".repeat(part.least)}*` : undefined;
}

// "team*" makes "team-*" redundant.
function withoutCovered(globs: readonly (string | undefined)[]): readonly string[] {
  const all = [...new Set(globs.filter((glob) => glob !== undefined))];
  const isCovered = (glob: string): boolean =>
    all.some((wide) => {
      const beginning = wide.slice(0, -1);
      return wide !== glob && /^[a-z0-9-]*\*$/.test(wide) && glob.startsWith(beginning);
    });
  return all.filter((glob) => !isCovered(glob));
}
