// The lower half of the reference model (model.ts): what one raw object says by the contract, which
// namespaces a source names, and what its lists, selectors and keys match. It imports nothing of the
// program, so an error there is not repeated here. Where the contract leaves open what is right, the
// answer is `open`.
import { dataOf, isEnding, isHidden, placeOf, wordOf, wordsOn } from "./raw.ts";
import type { Content, Entry, Flags, Raw, Source, Standing, Texts } from "./raw.ts";

const split = (text: string): readonly string[] => text.split(",").map((part) => part.trim());
const isPositive = (entry: string): boolean => !entry.startsWith("!");

function matchesGlob(glob: string, name: string): boolean {
  const escaped = glob.replaceAll(/[.\\^$+{}()|[\]]/g, "\\$&");
  const pattern = escaped.replaceAll("*", "[^/]*").replaceAll("?", "[^/]");
  return new RegExp(`^${pattern}$`, "s").test(name);
}
const isBarred = (globs: string, name: string): boolean =>
  split(globs).some((entry) => !isPositive(entry) && matchesGlob(entry.slice(1), name));
function matchesGlobs(globs: string, name: string): boolean {
  const positives = split(globs).filter(isPositive);
  const named = positives.length === 0 || positives.some((entry) => matchesGlob(entry, name));
  return named && !isBarred(globs, name);
}

const TERM =
  /^(?:(?<not>!)?(?<there>[-./\w]+)|(?<key>[-./\w]+)\s*(?<op>==|=|!=)\s*(?<value>[-.\w]*)|(?<set>[-./\w]+)\s+(?<how>in|notin)\s+\((?<values>[^()]*)\))$/;
/** undefined: not a selector. */
function matchesSelector(text: string, labels: Texts): boolean | undefined {
  const terms = text.split(/,(?![^(]*\))/).map((term) => TERM.exec(term.trim())?.groups);
  if (terms.some((term) => term === undefined)) return undefined;
  return terms.every((term) => {
    const { not, there, key, op, value, set, how, values = "" } = term ?? {};
    if (there !== undefined) return Object.hasOwn(labels, there) !== (not === "!");
    if (key !== undefined) return (labels[key] === value) === (op !== "!=");
    return split(values).includes(labels[set ?? ""] ?? "\n") === (how === "in");
  });
}

/** What `keys` lets through; undefined: it refuses the source. */
export function filterKeys(text: string | undefined, data: Texts): Texts | undefined {
  if (text === undefined) return data;
  const globs = split(text).filter((entry) => !entry.includes("="));
  const renames = split(text).flatMap((entry) => (entry.includes("=") ? [entry.split("=")] : []));
  const moved = renames.map(([, from]) => from);
  // Exclusions start from everything, but beside a rename they take nothing in.
  const none = globs.length === 0 || (renames.length > 0 && !globs.some(isPositive));
  const kept = Object.keys(data).filter(
    (key) => !none && !moved.includes(key) && matchesGlobs(globs.join(","), key),
  );
  const all = [...kept.map((key) => [key, key]), ...renames];
  const lacks = all.some(([, from = ""]) => data[from] === undefined);
  const twice = new Set(all.map(([to]) => to)).size < all.length;
  if (all.length === 0 || lacks || twice) return undefined;
  return Object.fromEntries(all.map(([to = "", from = ""]) => [to, data[from] ?? ""]));
}

const NEVER =
  /^(secretcast\.io\/|(.*\.)?kubernetes\.io\/|[^/]*(argoproj|fluxcd)\.io\/|(meta\.)?helm\.sh\/|owner$|sealedsecrets\.bitnami\.com\/|cert-manager\.io\/)/;
const NO_FLAG_HELPS =
  /^(secretcast\.io\/|kubectl\.kubernetes\.io\/|app\.kubernetes\.io\/managed-by$)/;
const isHarmless = (key: string): boolean =>
  key.startsWith("app.kubernetes.io/") ? !/\/(instance|managed-by)$/.test(key) : !NEVER.test(key);

/** Of the labels or annotations those that are copied; `copyable`: what the administrator adds. */
function pickKeys(globs: string | undefined, all: Texts = {}, copyable = ""): Texts {
  const may = (key: string): boolean =>
    isHarmless(key) || (copyable !== "" && !NO_FLAG_HELPS.test(key) && matchesGlobs(copyable, key));
  const picks = ([key]: [string, string]): boolean =>
    globs !== undefined && may(key) && matchesGlobs(globs, key);
  return Object.fromEntries(Object.entries(all).filter(picks));
}

const each = (form: RegExp) => (value: string) => split(value).every((part) => form.test(part));
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
const MARKS =
  /^(source|source-uid|placed-at|source-version|copied-keys|pulled-keys|entry|from|adopt|accept)$/;
const SYSTEM = ["kube-system", "kube-public", "kube-node-lease"];
const REFUSED = ["kubernetes.io/service-account-token", "bootstrap.kubernetes.io/token"];
const REQUIRED: Readonly<Record<string, readonly string[]>> = {
  "kubernetes.io/tls": ["tls.crt", "tls.key"],
};

/** Words that make a source. */
export const asksFor = (words: Texts): boolean =>
  Object.keys(words).some((word) => /^(to|allow)(-selector)?$/.test(word));
function isFaulty(words: Texts): boolean {
  const wrong = Object.entries(words).some(([word, value]) => WORDS[word]?.(value) !== true);
  const pairs = ["to", "allow"].filter((word) => word in words && `${word}-selector` in words);
  const positive = pairs.every((word) => split(words[word] ?? "").some(isPositive));
  return wrong || (words["match"] === "any" && !(pairs.length > 0 && positive));
}

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
export function entriesOf({ list, configMaps }: Flags): readonly Entry[] | undefined {
  if (!list || isOurs(list) || isPull(list) || wordOf(list, "adopt") !== undefined)
    return undefined;
  const entries = Object.entries(list.data ?? {}).map(([key, text]): Entry => {
    try {
      const { secret, configMap, ...words } = JSON.parse(text) as Record<string, string>;
      const named = secret === undefined ? `ConfigMap ${configMap}` : `Secret ${secret}`;
      const object = secret === undefined && !configMaps ? "" : named;
      const refused = object === "" || !asksFor(words) || isFaulty(words);
      return { key, object, words, refused };
    } catch {
      return { key, object: "", words: {}, refused: true };
    }
  });
  const twice = ({ object }: Entry) => entries.filter((one) => one.object === object).length > 1;
  return entries.map((entry) => ({ ...entry, refused: entry.refused || twice(entry) }));
}

/** A flag of globs that let namespaces of every name publish, apart from what it excludes. */
const isEveryName = (entry: string): boolean => /^[*?]*\*[*?]*$/.test(entry);
const isServed = (namespace: string, { namespaces }: Flags): boolean =>
  namespaces === "" || split(namespaces).includes(namespace);
const isRead = (namespace: string, flags: Flags): boolean =>
  isServed(namespace, flags) || split(flags.sourceNamespaces).includes(namespace);
/** Its place in the order of --source-namespaces; -1: none of them. */
function rankOf(namespace: string, { sourceNamespaces }: Flags): number {
  if (!matchesGlobs(sourceNamespaces, namespace)) return -1;
  const order = [...split(sourceNamespaces).filter(isPositive), "*"];
  return order.findIndex((entry) => matchesGlob(entry, namespace));
}
function publishesByName(namespace: string, { sourceNamespaces }: Flags): boolean {
  const named = split(sourceNamespaces).filter((entry) => !isEveryName(entry));
  return named.some(isPositive) && matchesGlobs(named.join(","), namespace);
}

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
  const copyable = entry || publishesByName(namespace, flags) ? flags.copyable : "";
  const content = contentOf(raw, words, copyable);
  const paused = words["paused"] === "true";
  const made =
    REFUSED.includes(raw.type ?? "") || raw.metadata.name.startsWith("sh.helm.release.v1.");
  const given = !entry && wordOf(raw, "adopt") !== undefined;
  const refused = isFaulty(words) || content === undefined || made || given;
  if (Object.keys(words).length === 0) return "silent";
  // Mistakes in, or a pause by, words that make nothing a source are left open.
  if (!asksFor(words)) return refused || paused ? "open" : "silent";
  if (refused) return "refused";
  const copyName = words["name"] ?? raw.metadata.name;
  return { raw, words, rank, entry: entry?.key, copyName, paused, content };
}

function contentOf(raw: Raw, words: Texts, copyable: string): Content | undefined {
  const { type = "Opaque", immutable = false, metadata } = raw;
  const data = filterKeys(words["keys"], dataOf(raw));
  const lacks = REQUIRED[type]?.some((key) => data?.[key] === undefined);
  const labels = pickKeys(words["copy-labels"], metadata.labels, copyable);
  const annotations = pickKeys(words["copy-annotations"], metadata.annotations, copyable);
  return data && { data, type: lacks ? "Opaque" : type, immutable, labels, annotations };
}

/** Never a target: excluded, of the system, or not served. */
export function isExcluded(namespace: string, flags: Flags): boolean {
  const { exclude, ownNamespace, includeSystem } = flags;
  const ofSystem = !includeSystem && [...SYSTEM, ownNamespace].includes(namespace);
  const excluded = exclude !== "" && matchesGlobs(exclude, namespace);
  return ofSystem || excluded || !isServed(namespace, flags);
}

/** Which copies a namespace takes; `kept`: nothing new. */
export function acceptance(namespace: Raw, source: string, { policy, sourceNamespaces }: Flags) {
  const positives = split(sourceNamespaces).filter(isPositive);
  const everybody = positives.length === 0 || positives.some(isEveryName);
  const silent = (policy ?? (everybody ? "opt-in" : "opt-out")) === "opt-out" ? "yes" : "kept";
  const said = wordOf(namespace, "accept");
  if (said === undefined) return silent;
  if (said === "true" || said === "false") return said === "true" ? "yes" : "no";
  if (!split(said).every((part) => /^!?[-*?a-z0-9]+\/[-*?.a-z0-9]+$/.test(part))) return "unclear";
  return matchesGlobs(said, source) ? "yes" : "no";
}

function covers(words: Texts, word: "to" | "allow", { metadata }: Raw): boolean {
  const [globs, selector] = [words[word], words[`${word}-selector`]];
  const answers = [
    globs !== undefined && matchesGlobs(globs, metadata.name),
    selector !== undefined && matchesSelector(selector, metadata.labels ?? {}) === true,
  ];
  if (globs === undefined || selector === undefined) return answers.includes(true);
  if (words["match"] !== "any") return !answers.includes(false);
  return answers.includes(true) && !isBarred(globs, metadata.name);
}

/** Does `source` want a place in `namespace`; `there`: a copy of it is there already. */
export function pushes(source: Source, namespace: Raw, flags: Flags, there = false): boolean {
  const { raw, words } = source;
  const { name } = namespace.metadata;
  const accepts = acceptance(namespace, placeOf(raw), flags);
  const takes = accepts === "yes" || (accepts === "kept" && there);
  const open = raw.metadata.namespace !== name && !isEnding(namespace) && !isExcluded(name, flags);
  return open && takes && covers(words, "to", namespace);
}

export const allows = ({ words }: Source, target: Raw, flags: Flags): boolean =>
  !isExcluded(target.metadata.name, flags) && covers(words, "allow", target);
