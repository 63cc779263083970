// Lists of names and globs, as users write them. The number of steps per name is known before a list is used.
// A list that may cost too many is refused with a reason that names the limit.
import { globCost, globCovers, hasWildcard, type GlobCost } from "./glob.ts";
import { NameIndex, STEPS_A_LOOK_UP } from "./name-index.ts";
import { invalid, ok, type Invalid, type Result } from "./result.ts";

/**
 * The characters that a glob may contain besides `*` and `?`, and their description. Also whether names can
 * contain a "/", and the most characters that the API allows for a name.
 */
export type GlobAlphabet = {
  readonly allowed: RegExp;
  readonly form: string;
  /** Matches a list that has only allowed names. Undefined if every list must be parsed. */
  readonly plain: RegExp | undefined;
  readonly slashes: boolean;
  readonly longest: number;
};

export const NAMESPACE_GLOBS: GlobAlphabet = {
  allowed: /^[-a-z0-9*?]+$/,
  form: 'a namespace glob: lower-case letters, digits, "-", "*" and "?", or one of these after "!"',
  plain: /^[-a-z0-9,]+$/,
  slashes: false,
  longest: 63,
};
export const SOURCE_GLOBS: GlobAlphabet = {
  allowed: /^[-a-z0-9*?]+\/[-.a-z0-9*?]+$/,
  form: '"true", "false" or globs over sources, NAMESPACE/NAME with "*" and "?"',
  plain: undefined,
  slashes: true,
  longest: 63 + 1 + 253,
};
export const DATA_KEY_GLOBS: GlobAlphabet = {
  allowed: /^[-._a-zA-Z0-9*?]+$/,
  form: 'a glob over data keys, NEW=OLD, or "!" and a glob: letters, digits, "-", "_", ".", "*", "?"',
  plain: /^[-._a-zA-Z0-9,]+$/,
  slashes: false,
  longest: 253,
};
export const METADATA_GLOBS: GlobAlphabet = {
  allowed: /^[-._a-zA-Z0-9*?]+(\/[-._a-zA-Z0-9*?]+)?$/,
  form: 'a glob over label or annotation keys, such as "team" or "example.com/*"',
  plain: /^[-._a-zA-Z0-9,]+$/,
  slashes: true,
  longest: 253 + 1 + 63,
};

// Most lists have no entries of most kinds.
const NONE = new Uint32Array(0);

/** Where the entries begin, ascending. For globs, also where they end. */
type Places = {
  readonly names: readonly number[];
  readonly globs: readonly number[];
  readonly excludedNames: readonly number[];
  readonly excludedGlobs: readonly number[];
};

export const NO_PLACES: Places = { names: [], globs: [], excludedNames: [], excludedGlobs: [] };

/**
 * Names and globs, some of them excluded with `!`. Names cost one look-up for any number of them. The list keeps
 * its text and the offsets of the entries, at most about half as much again.
 */
export class GlobList {
  readonly text: string;
  readonly #names: NameIndex | undefined;
  readonly #globs: Uint32Array;
  readonly #excludedNames: NameIndex | undefined;
  readonly #excludedGlobs: Uint32Array;
  readonly #cost: GlobCost;

  constructor(text: string, places: Places) {
    this.text = text;
    this.#names = indexOf(text, places.names);
    this.#globs = rangesOf(places.globs);
    this.#excludedNames = indexOf(text, places.excludedNames);
    this.#excludedGlobs = rangesOf(places.excludedGlobs);
    let fixed = (this.#names ? STEPS_A_LOOK_UP : 1) + (this.#excludedNames ? STEPS_A_LOOK_UP : 0);
    let each = 0;
    for (const ranges of [this.#globs, this.#excludedGlobs]) {
      for (let at = 0; at < ranges.length; at += 2) {
        const cost = globCost(text.slice(ranges[at], ranges[at + 1]));
        fixed += cost.fixed;
        each += cost.each;
      }
    }
    this.#cost = { fixed, each };
  }

  /** The most steps of at most 10 ns that a name of `length` characters takes. */
  steps(length: number): number {
    return this.#cost.fixed + this.#cost.each * length;
  }

  matches(name: string): boolean {
    return this.includes(name) && !this.excludes(name);
  }

  /** Whether a positive entry matches `name`, whatever is excluded. */
  includes(name: string): boolean {
    if (this.#globs.length > 0 && this.#firstGlob(this.#globs, name) >= 0) return true;
    return this.#names !== undefined && this.#names.find(name) >= 0;
  }

  /**
   * The offset of the first positive entry that matches `name`, or -1 if none does or a `!` entry does. The name
   * with the smaller offset comes first.
   */
  rank(name: string): number {
    const named = this.#names?.find(name) ?? -1;
    const glob = this.#firstGlob(this.#globs, name);
    const best = named >= 0 && glob >= 0 ? Math.min(named, glob) : Math.max(named, glob);
    return best < 0 || this.excludes(name) ? -1 : best;
  }

  excludes(name: string): boolean {
    if (this.#excludedNames && this.#excludedNames.find(name) >= 0) return true;
    return this.#excludedGlobs.length > 0 && this.#firstGlob(this.#excludedGlobs, name) >= 0;
  }

  #firstGlob(ranges: Uint32Array, name: string): number {
    const slash = name.indexOf("/");
    for (let at = 0; at < ranges.length; at += 2) {
      const [from = 0, to = 0] = [ranges[at], ranges[at + 1]];
      if (globCovers(this.text, from, to, name, slash)) return from;
    }
    return -1;
  }
}

function indexOf(text: string, starts: readonly number[]): NameIndex | undefined {
  return starts.length > 0 ? new NameIndex(text, starts) : undefined;
}

function rangesOf(globs: readonly number[]): Uint32Array {
  return globs.length > 0 ? Uint32Array.from(globs) : NONE;
}

const MOST_GLOBS = 100;
/** Characters of all entries without a wildcard, each with its comma. */
export const MOST_NAMES_TEXT = 64 * 1024;
// Enough for 100 globs with one star, and for twelve such as "*team*". A "?" between two "*" costs the most. Every
// sync asks each source for each namespace.
const MOST_STEPS_A_CHARACTER = 16;
/** Enough to match 100 simple globs against 4,000 names: at most 4 ms. */
const MOST_STEPS = 400_000;

export const NAMES_BOUND = "names of at most 64 KiB in all";

/**
 * Parses a comma-separated list. A list of only `!` entries starts from `everything`, unless that is "".
 * Entries for which `elsewhere` holds are not part of it.
 */
export function parseGlobList(
  text: string,
  alphabet: GlobAlphabet,
  everything = "*",
  elsewhere: (entry: string) => boolean = () => false,
): Result<GlobList> {
  const plain = plainNames(text, alphabet);
  if (plain) {
    if (text.length >= MOST_NAMES_TEXT) return invalid(text, NAMES_BOUND);
    return ok(new GlobList(text, { ...NO_PLACES, names: plain }));
  }
  const split = splitList(text);
  if (!split.ok) return split;
  const names: number[] = [];
  const globs: number[] = [];
  const excludedNames: number[] = [];
  const excludedGlobs: number[] = [];
  let [start, namesText] = [0, 0];
  for (const raw of split.value) {
    const [from, entry] = [start, raw.trim()];
    start += raw.length + 1;
    if (elsewhere(raw)) continue;
    const excluded = entry.startsWith("!");
    const word = excluded ? entry.slice(1).trim() : entry;
    if (word.length > alphabet.longest) {
      return invalid(entry, `at most ${alphabet.longest} characters, the most that a name has`);
    }
    if (!alphabet.allowed.test(word)) return invalid(entry, alphabet.form);
    const at = from + raw.indexOf(word);
    if (!hasWildcard(word)) {
      namesText += word.length + 1;
      (excluded ? excludedNames : names).push(at);
      continue;
    }
    if (globs.length + excludedGlobs.length >= 2 * MOST_GLOBS) {
      return invalid(entry, `at most ${MOST_GLOBS} entries with "*" or "?"; names are not counted`);
    }
    (excluded ? excludedGlobs : globs).push(at, at + word.length);
  }
  if (namesText > MOST_NAMES_TEXT) return invalid(text, NAMES_BOUND);
  const list = new GlobList(
    ...withPositives(text, { names, globs, excludedNames, excludedGlobs }, everything),
  );
  const most = MOST_STEPS_A_CHARACTER * alphabet.longest;
  if (list.steps(alphabet.longest) <= most) return ok(list);
  return invalid(
    text,
    `globs that take at most ${most} steps a name: fewer "?" between two "*", no names made to be slow`,
  );
}

// Adds `everything` to the list and its places if it has no positive entries.
function withPositives(text: string, places: Places, everything: string): [string, Places] {
  const none = places.names.length + places.globs.length === 0;
  if (!none || everything === "") return [text, places];
  const start = text.length + 1;
  return [`${text},${everything}`, { ...places, globs: [start, start + everything.length] }];
}

/** `*`, and what is the same in other signs, such as `**` and `?*`. */
export function matchesEveryName(glob: string): boolean {
  return glob.includes("*") && glob.replaceAll(/[*?]/g, "") === "";
}

/** Whether a valid list has an entry without "!". */
export function hasPositive(text: string): boolean {
  return text.split(",").some((entry) => !entry.trimStart().startsWith("!"));
}

/** The entries of a user's comma-separated list. */
export function splitList(text: string): Result<readonly string[]> {
  const most = MOST_NAMES_TEXT / 2 + MOST_GLOBS;
  const entries = text.split(",", most + 1);
  return entries.length > most ? invalid(text, NAMES_BOUND) : ok(entries);
}

// The offsets of a list of only names. Undefined if it must be parsed. Lists of names have the most entries.
function plainNames(text: string, { plain, longest }: GlobAlphabet): readonly number[] | undefined {
  if (text.length > MOST_NAMES_TEXT || plain?.test(text) !== true) return undefined;
  const starts: number[] = [];
  for (let start = 0, comma = 0; comma < text.length; start = comma + 1) {
    comma = text.indexOf(",", start);
    if (comma < 0) comma = text.length;
    if (comma === start || comma - start > longest) return undefined;
    starts.push(start);
  }
  return starts;
}

/** Why matching `names` against `list` costs too much. Undefined if it does not. */
export function tooManySteps(list: GlobList, names: readonly string[]): Invalid | undefined {
  let steps = 0;
  for (const { length } of names) steps += list.steps(length);
  if (steps <= MOST_STEPS) return undefined;
  const expected = `globs that are matched against all ${names.length} keys in at most ${MOST_STEPS} steps: fewer of them, or with a "*" at one end only`;
  return invalid(list.text, expected).fault;
}
