// The `keys` filter of a source or a pulling Secret: globs, NEW=OLD renames and `!` exclusions.
// Positives are globs and renames; none means all. A rename moves: its old key is not taken by a glob
// as well. Filtering fails, rather than guessing, where an old key is missing, two entries meet at one
// key, or nothing is left.
import { compileGlob, DATA_KEY_GLOBS, GlobList, splitList, type Glob } from "./match.ts";
import { DATA_KEY_FORM, isDataKey } from "./names.ts";
import { faulty, parsed, type Parsed } from "./parsed.ts";

type Rename = { readonly to: string; readonly from: string };

export type KeyFilter = {
  readonly globs: GlobList;
  readonly renames: readonly Rename[];
  /** undefined: the annotation is absent and everything passes. */
  readonly text: string | undefined;
};

const MOST_WILDCARDS = 100;
const EVERYTHING = new GlobList("*", [compileGlob("*")], []);
export const ALL_KEYS: KeyFilter = { globs: EVERYTHING, renames: [], text: undefined };

export function parseKeys(text: string): Parsed<KeyFilter> {
  const positive: Glob[] = [];
  const negative: Glob[] = [];
  const renames: Rename[] = [];
  for (const entry of splitList(text)) {
    const equals = entry.indexOf("=");
    if (equals >= 0) {
      const to = entry.slice(0, equals).trim();
      const from = entry.slice(equals + 1).trim();
      if (!isDataKey(to) || !isDataKey(from))
        return faulty(entry, `NEW=OLD, each ${DATA_KEY_FORM}`);
      renames.push({ to, from });
      continue;
    }
    const excluded = entry.startsWith("!");
    const word = excluded ? entry.slice(1).trim() : entry;
    if (!DATA_KEY_GLOBS.allowed.test(word)) return faulty(entry, DATA_KEY_GLOBS.form);
    (excluded ? negative : positive).push(compileGlob(word));
  }
  const wildcards = [...positive, ...negative].filter((glob) => !glob.literal);
  const excess = wildcards[MOST_WILDCARDS];
  if (excess) return faulty(excess.text, `at most ${MOST_WILDCARDS} globs with "*" or "?"`);
  if (positive.length === 0 && renames.length === 0) positive.push(compileGlob("*"));
  return parsed({ globs: new GlobList(text, positive, negative), renames, text });
}

/** The entries that pass, under their new keys. */
export function filterKeys(
  filter: KeyFilter,
  entries: Readonly<Record<string, string>>,
): Parsed<Readonly<Record<string, string>>> {
  if (filter.text === undefined) return parsed(entries);
  const kept = new Map<string, string>();
  const moved = new Set(filter.renames.map((rename) => rename.from));
  for (const [key, value] of Object.entries(entries)) {
    if (!moved.has(key) && filter.globs.matches(key)) kept.set(key, value);
  }
  for (const { to, from } of filter.renames) {
    const value = Object.hasOwn(entries, from) ? entries[from] : undefined;
    const entry = `${to}=${from}`;
    if (value === undefined) return faulty(entry, "an old key that the Secret has");
    if (filter.globs.excludes(from)) return faulty(entry, 'an old key that no "!" entry excludes');
    if (kept.has(to)) return faulty(entry, `a new key that no other entry fills`);
    kept.set(to, value);
  }
  if (kept.size === 0) return faulty(filter.text, "at least one key of the Secret to be left");
  return parsed(recordOf(kept));
}

/** Without a prototype: "constructor" and "__proto__" are data keys like any other. */
export function recordOf(entries: Iterable<readonly [string, string]>): Record<string, string> {
  const record: Record<string, string> = Object.create(null);
  for (const [key, value] of entries) record[key] = value;
  return record;
}
