// Globs over names: `*` is any run of characters but "/", `?` one character but "/", everything else
// itself, and a glob covers the whole name. Text of a tenant never becomes a regular expression.
// Matching is bounded by the name, not by the glob: a glob with more literal characters than the name
// has is answered at once, and the rest is at most name × name steps for names of 253 characters.
import { faulty, parsed, type Parsed } from "./parsed.ts";

export type Glob = { matches(name: string): boolean };

/**
 * Which characters a glob may hold besides `*` and `?`, how to say so, and whether the names that it
 * is matched against can hold a "/".
 */
export type Alphabet = {
  readonly allowed: RegExp;
  readonly form: string;
  readonly slashes: boolean;
};

export const NAMESPACE_GLOBS: Alphabet = {
  allowed: /^[-a-z0-9*?]+$/,
  form: 'a namespace glob: lower-case letters, digits, "-", "*" and "?", or one of these after "!"',
  slashes: false,
};
export const SOURCE_GLOBS: Alphabet = {
  allowed: /^[-a-z0-9*?]+\/[-.a-z0-9*?]+$/,
  form: '"true", "false" or globs over sources, NAMESPACE/NAME with "*" and "?"',
  slashes: true,
};
export const DATA_KEY_GLOBS: Alphabet = {
  allowed: /^[-._a-zA-Z0-9*?]+$/,
  form: 'a glob over data keys, NEW=OLD, or "!" and a glob: letters, digits, "-", "_", ".", "*", "?"',
  slashes: false,
};
export const METADATA_GLOBS: Alphabet = {
  allowed: /^[-._a-zA-Z0-9*?]+(\/[-._a-zA-Z0-9*?]+)?$/,
  form: 'a glob over label or annotation keys, such as "team" or "example.com/*"',
  slashes: true,
};

function hasWildcard(text: string): boolean {
  return text.includes("*") || text.includes("?");
}

function compileGlob(text: string, { slashes }: Alphabet): Glob {
  const pattern = text.replaceAll(/\*+/g, "*");
  const prefix = pattern.slice(0, -1);
  // Most globs are of this form, and a plan is made of asking them: to look for a "/" where there is
  // none costs 15 ns a pair.
  if (pattern.endsWith("*") && !hasWildcard(prefix)) {
    const stops = (name: string): boolean => slashes && name.includes("/", prefix.length);
    return { matches: (name) => name.startsWith(prefix) && !stops(name) };
  }
  const least = pattern.length - (pattern.split("*").length - 1);
  return { matches: (name) => name.length >= least && covers(pattern, name) };
}

const [STAR, ANY, SLASH, END] = [42, 63, 47, -1];

// Greedy with one way back: only the last star ever needs to take one character more. In code units,
// because a character by itself is a string, whose comparison is a call: 100 ns a pair.
function covers(pattern: string, name: string): boolean {
  const last = pattern.length - 1;
  let p = 0;
  let n = 0;
  let star = -1;
  let retry = 0;
  while (n < name.length) {
    const want = p <= last ? pattern.charCodeAt(p) : END;
    const has = name.charCodeAt(n);
    if (want === STAR) {
      if (p === last) return !name.includes("/", n);
      star = p++;
      retry = n;
    } else if (want === has || (want === ANY && has !== SLASH)) {
      p++;
      n++;
    } else if (star >= 0 && name.charCodeAt(retry) !== SLASH) {
      p = star + 1;
      n = ++retry;
    } else return false;
  }
  return p > last || (p === last && pattern.charCodeAt(p) === STAR);
}

/** Names and globs, some of them excluded with `!`. Names cost one look-up however many there are. */
export class GlobList {
  readonly text: string;
  readonly #names = new Map<string, number>();
  readonly #globs: { readonly rank: number; readonly glob: Glob }[] = [];
  readonly #excludedNames = new Set<string>();
  readonly #excludedGlobs: Glob[] = [];

  constructor(
    text: string,
    positive: readonly string[],
    negative: readonly string[],
    alphabet: Alphabet,
  ) {
    this.text = text;
    for (const [rank, word] of positive.entries()) {
      if (hasWildcard(word)) this.#globs.push({ rank, glob: compileGlob(word, alphabet) });
      else if (!this.#names.has(word)) this.#names.set(word, rank);
    }
    for (const word of negative) {
      if (hasWildcard(word)) this.#excludedGlobs.push(compileGlob(word, alphabet));
      else this.#excludedNames.add(word);
    }
  }

  matches(name: string): boolean {
    return this.#includes(name) && !this.excludes(name);
  }

  // An empty map is not asked: a look-up is a call, and each pair makes two of them.

  #includes(name: string): boolean {
    for (const { glob } of this.#globs) if (glob.matches(name)) return true;
    return this.#names.size > 0 && this.#names.has(name);
  }

  /** Position of the first positive that covers `name`; -1 where none does or a `!` does. */
  rank(name: string): number {
    let best =
      (this.#names.size > 0 ? this.#names.get(name) : undefined) ?? Number.POSITIVE_INFINITY;
    for (const { rank, glob } of this.#globs) {
      if (rank >= best) break;
      if (glob.matches(name)) best = rank;
    }
    if (best === Number.POSITIVE_INFINITY || this.excludes(name)) return -1;
    return best;
  }

  excludes(name: string): boolean {
    if (this.#excludedNames.size > 0 && this.#excludedNames.has(name)) return true;
    for (const glob of this.#excludedGlobs) if (glob.matches(name)) return true;
    return false;
  }
}

// A tenant may write 256 KiB; each wildcard costs a comparison per name and pass.
const MOST_WILDCARDS = 100;
export const MOST_ENTRIES = 10_000;
// Twice the longest name there is, a label key; a longer glob covers nothing.
const LONGEST_ENTRY = 2 * 317;

/** A comma-separated list; `!` entries alone start from `everything`. */
export function parseGlobList(
  text: string,
  alphabet: Alphabet,
  everything = "*",
): Parsed<GlobList> {
  return globList(text, splitList(text), alphabet, everything);
}

/** The entries of a comma-separated list; of too many only enough to see that they are. */
export function splitList(text: string): string[] {
  return text.split(",", MOST_ENTRIES + 1);
}

/** `text` is how the list is shown; `everything`, where it is given, stands in for no positives. */
export function globList(
  text: string,
  entries: readonly string[],
  alphabet: Alphabet,
  everything?: string,
): Parsed<GlobList> {
  if (entries.length > MOST_ENTRIES) return faulty(text, `at most ${MOST_ENTRIES} entries`);
  const positive: string[] = [];
  const negative: string[] = [];
  let wildcards = 0;
  for (const raw of entries) {
    const entry = raw.trim();
    const excluded = entry.startsWith("!");
    const word = excluded ? entry.slice(1).trim() : entry;
    if (word.length > LONGEST_ENTRY || !alphabet.allowed.test(word)) {
      return faulty(entry, alphabet.form);
    }
    if (hasWildcard(word) && ++wildcards > MOST_WILDCARDS) {
      return faulty(
        entry,
        `at most ${MOST_WILDCARDS} entries with "*" or "?"; names are not counted`,
      );
    }
    (excluded ? negative : positive).push(word);
  }
  if (positive.length === 0 && everything !== undefined) positive.push(everything);
  return parsed(new GlobList(text, positive, negative, alphabet));
}
