// The `keys` filter of a source or a pulling Secret: globs, NEW=OLD renames and `!` exclusions.
// Globs and renames are positive entries. Without any, all keys match. A rename moves a key, so a glob does not
// also take its old key. Filtering fails, rather than guessing, if an old key is missing, two entries have the
// same new key, or nothing is left.
import { MOST_DATA_ENTRIES } from "./bounds.ts";
import {
  DATA_KEY_GLOBS,
  GlobList,
  MOST_NAMES_TEXT,
  NAMES_BOUND,
  NO_PLACES,
  parseGlobList,
  splitList,
  tooManySteps,
} from "./globs.ts";
import { DATA_KEY_FORM, isDataKey } from "./names.ts";
import { invalid, ok, type Result } from "./result.ts";

type Rename = { readonly to: string; readonly from: string };

export type KeyFilter = {
  readonly globs: GlobList;
  readonly renames: readonly Rename[];
  /** Undefined if the annotation is absent. Every key then matches. */
  readonly text: string | undefined;
};

export const ALL_KEYS: KeyFilter = {
  globs: new GlobList("*", { ...NO_PLACES, globs: [0, 1] }),
  renames: [],
  text: undefined,
};

export function parseKeys(text: string): Result<KeyFilter> {
  const split = text.includes("=") ? splitList(text) : ok([]);
  if (!split.ok) return split;
  const renames: Rename[] = [];
  let named = 0;
  for (const entry of split.value) {
    if (!entry.includes("=")) continue;
    const rename = parseRename(entry.trim());
    if (!rename.ok) return rename;
    renames.push(rename.value);
    if (renames.length > MOST_DATA_ENTRIES) {
      return invalid(
        text,
        `at most ${MOST_DATA_ENTRIES} renames, as many as there are data entries`,
      );
    }
    named += entry.length + 1;
  }
  if (named > MOST_NAMES_TEXT) return invalid(text, NAMES_BOUND);
  const everything = renames.length === 0 ? "*" : "";
  const isRename = (entry: string): boolean => entry.includes("=");
  const globs = parseGlobList(text, DATA_KEY_GLOBS, everything, isRename);
  return globs.ok ? ok({ globs: globs.value, renames, text }) : globs;
}

function parseRename(entry: string): Result<Rename> {
  const equals = entry.indexOf("=");
  const to = entry.slice(0, equals).trim();
  const from = entry.slice(equals + 1).trim();
  if (isDataKey(to) && isDataKey(from)) return ok({ to, from });
  return invalid(entry, `NEW=OLD, each ${DATA_KEY_FORM}`);
}

/** The entries that match, under their new keys. */
export function filterKeys(
  filter: KeyFilter,
  entries: Readonly<Record<string, string>>,
): Result<Readonly<Record<string, string>>> {
  if (filter.text === undefined) return ok(entries);
  const names = [...Object.keys(entries), ...filter.renames.map(({ from }) => from)];
  const excess = tooManySteps(filter.globs, names);
  if (excess) return { ok: false, fault: excess };
  const kept = new Map<string, string>();
  const moved = new Set(filter.renames.map((rename) => rename.from));
  for (const [key, value] of Object.entries(entries)) {
    if (!moved.has(key) && filter.globs.matches(key)) kept.set(key, value);
  }
  for (const { to, from } of filter.renames) {
    const value = Object.hasOwn(entries, from) ? entries[from] : undefined;
    const entry = `${to}=${from}`;
    if (value === undefined) return invalid(entry, "an old key that the source has");
    if (filter.globs.excludes(from)) return invalid(entry, 'an old key that no "!" entry excludes');
    if (kept.has(to)) return invalid(entry, `a new key that no other entry fills`);
    kept.set(to, value);
  }
  if (kept.size === 0) return invalid(filter.text, "at least one key of the source to be left");
  return ok(recordOf(kept));
}

/** Without a prototype, because "constructor" and "__proto__" are ordinary data keys. */
export function recordOf<T>(entries: Iterable<readonly [string, T]>): Record<string, T> {
  const record: Record<string, T> = Object.create(null);
  for (const [key, value] of entries) record[key] = value;
  return record;
}
