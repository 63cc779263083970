// What one object and the source list say by the contract. A part of the reference model (model.ts), so it
// imports nothing of the program, and an error there is not repeated here. Where the contract leaves open
// what is right, the answer is `open`.
import { isRead, publishesByName, rankOf } from "./namespaces.ts";
import { copiedKeys, filterKeys, isListOf, isPositive, matchesSelector } from "./patterns.ts";
import { bytesOf, dataOf, isHidden, memoized, placeOf, split, wordOf, wordsOn } from "./raw.ts";
import type { Content, Entry, Flags, Raw, Standing, Texts } from "./raw.ts";

const each = (form: RegExp) => (value: string) => isListOf(form, value);
const one = (form: RegExp) => (value: string) => form.test(value.trim());
const selects = (value: string): boolean => matchesSelector(value, {}) !== undefined;
/** The words of a source, and which values of them are understood. */
const WORDS: Readonly<Record<string, (value: string) => boolean>> = {
  to: each(/^!?[-*?a-z0-9]+$/),
  "to-selector": selects,
  match: one(/^(all|any)$/),
  name: one(/^[a-z0-9]([-.a-z0-9]*[a-z0-9])?$/),
  keys: each(/^(![-._*?\w]+|[-._*?\w]+|[-._\w]+=[-._\w]+)$/),
  "copy-labels": each(/^!?[-*?./\w]+$/),
  "copy-annotations": each(/^!?[-*?./\w]+$/),
  "on-delete": one(/^(delete|keep)$/),
  paused: one(/^(true|false)$/),
  allow: each(/^!?[-*?a-z0-9]+$/),
  "allow-selector": selects,
};
/** All others that this version knows. */
const MARKS =
  /^(source|source-uid|placed-at|source-version|copied-keys|entry|list|from|adopt|accept)$/;

/** The words make a source. */
export const asksFor = (words: Texts): boolean =>
  Object.keys(words).some((word) => /^(to|allow)(-selector)?$/.test(word));
/** A word is unknown or its value not understood, or `any` lacks what it needs. */
function isFaulty(words: Texts): boolean {
  const wrong = Object.entries(words).some(([word, value]) => WORDS[word]?.(value) !== true);
  const pairs = ["to", "allow"].filter((word) => word in words && `${word}-selector` in words);
  const positive = pairs.every((word) => split(words[word] ?? "").some(isPositive));
  return wrong || (words["match"] === "any" && !(pairs.length > 0 && positive));
}

/** At most 1,000 entries, and 1 MiB. */
export const isSmall = (raw: Raw, data = dataOf(raw)): boolean =>
  Object.keys(data).length <= 1000 && bytesOf(raw.kind, data) <= 1024 * 1024;
export const isPull = (raw: Raw): boolean => wordOf(raw, "from") !== undefined;
/** The managed-by label, a well-formed source, a UID, its own place, and no `from`. */
export const isOurs = (raw: Raw): boolean =>
  raw.metadata.labels?.["app.kubernetes.io/managed-by"] === "secretcast" &&
  /^[-a-z0-9]+\/[-.a-z0-9]+$/.test(wordOf(raw, "source") ?? "") &&
  (wordOf(raw, "source-uid") ?? "") !== "" &&
  wordOf(raw, "placed-at") === placeOf(raw) &&
  !isPull(raw);
/** A newer version made it. */
export const hasUnknownMark = (raw: Raw): boolean =>
  Object.keys(wordsOn(raw)).some((word) => !Object.hasOwn(WORDS, word) && !MARKS.test(word));

/** The entries of the source list; undefined: there is none that can be read. */
export const entriesOf = memoized(({ list, configMaps }: Flags): readonly Entry[] | undefined => {
  if (!list || Object.keys(wordsOn(list)).some((word) => MARKS.test(word))) return undefined;
  if (Object.keys(list.data ?? {}).length > 1000) return undefined;
  const entries = Object.entries(list.data ?? {}).map(([key, text]): Entry => {
    try {
      const { secret, configMap, ...words } = JSON.parse(text) as Record<string, string>;
      const takesPart = secret !== undefined || configMaps;
      const object = secret === undefined ? `ConfigMap ${configMap}` : `Secret ${secret}`;
      const refused = !takesPart || !asksFor(words) || isFaulty(words);
      return { key, object: takesPart ? object : undefined, words, refused };
    } catch {
      return { key, object: undefined, words: {}, refused: true };
    }
  });
  // Of entries that name one object all are refused.
  const named = Map.groupBy(entries, ({ object }) => object);
  const isAlone = ({ object }: Entry): boolean => named.get(object)?.length === 1;
  return entries.map((entry) => ({ ...entry, refused: entry.refused || !isAlone(entry) }));
});

/** Of a list that can be read. */
export const listPlace = ({ list }: Flags): string | undefined => list && placeOf(list);

/** How what is at a slot stands as a source; `raw` undefined: nothing that a watch shows. */
export function standingOf(slot: string, raw: Raw | undefined, flags: Flags): Standing {
  const [, namespace = ""] = slot.split(/[ /]/);
  const entry = entriesOf(flags)?.find(({ object }) => object === slot);
  const rank = entry ? -1 : rankOf(namespace, flags);
  // Of what cannot be read nobody knows what it wants, and the list does not reach it.
  if (!isRead(namespace, flags)) return "refused";
  if (!entry && rank < 0) return "outside";
  if (!raw || isHidden(raw)) return "silent";
  if (entry?.refused) return "refused";
  if (isPull(raw)) return "open";
  if (isOurs(raw)) return entry ? "open" : "silent";
  const own = Object.entries(wordsOn(raw)).filter(([word]) => !MARKS.test(word));
  const words = entry?.words ?? Object.fromEntries(own);
  if (Object.keys(words).length === 0) return "silent";
  const copyable = entry || publishesByName(namespace, flags) ? flags.copyable : "";
  const content = contentOf(raw, words, copyable);
  const adopts = !entry && wordOf(raw, "adopt") !== undefined;
  const refused = isFaulty(words) || isMadeByOthers(raw) || adopts || content === undefined;
  const paused = words["paused"] === "true";
  // Mistakes in, or a pause by, words that make nothing a source are left open.
  if (!asksFor(words)) return refused || paused ? "open" : "silent";
  if (refused) return "refused";
  const copyName = words["name"] ?? raw.metadata.name;
  const list = entry && listPlace(flags);
  return { raw, words, rank, entry: entry?.key, list, copyName, paused, content };
}

/** Refused as sources, whatever they say. */
const isMadeByOthers = ({ type = "", metadata }: Raw): boolean =>
  ["kubernetes.io/service-account-token", "bootstrap.kubernetes.io/token"].includes(type) ||
  metadata.name.startsWith("sh.helm.release.v1.");
/** What the type kubernetes.io/tls requires; of the types that are tried no other requires anything. */
const TLS_KEYS = ["tls.crt", "tls.key"];
export const typeFor = (type: string, data: Texts | undefined): string =>
  type === "kubernetes.io/tls" && TLS_KEYS.some((key) => !data?.[key]) ? "Opaque" : type;

/** What its copies hold; undefined: its `keys` or a bound refuse it. */
function contentOf(raw: Raw, words: Texts, copyable: string): Content | undefined {
  const { type = "Opaque", immutable = false, metadata } = raw;
  const data = filterKeys(words["keys"], dataOf(raw));
  const labels = copiedKeys(words["copy-labels"] ?? "", metadata.labels ?? {}, copyable);
  const notes = copiedKeys(words["copy-annotations"] ?? "", metadata.annotations ?? {}, copyable);
  if (!data || !isSmall(raw) || !isSmall(raw, data)) return undefined;
  return { data, type: typeFor(type, data), immutable, labels, annotations: notes };
}
