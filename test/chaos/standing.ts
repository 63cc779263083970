// The lower half of the reference model (model.ts): what one raw object says by the contract, and which
// namespaces a source names. It imports nothing of the program, so an error there is not repeated here.
// Where the contract leaves open what is right, the answer is `open`.
import {
  filterKeys,
  glob,
  isPositive,
  matchesGlobs,
  matchesSelector,
  pickKeys,
  split,
  type Texts,
} from "./patterns.ts";
import {
  nobodyAt,
  placeOf,
  slotOf,
  wordOf,
  wordsOn,
  type Content,
  type Entry,
  type Flags,
  type Raw,
  type Standing,
  type Source,
} from "./raw.ts";

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
const PAIRS = [
  ["to", "to-selector"],
  ["allow", "allow-selector"],
] as const;
const MARKS =
  /^(source|source-uid|placed-at|source-version|copied-keys|pulled-keys|entry|from|adopt|accept)$/;
const SYSTEM = ["kube-system", "kube-public", "kube-node-lease"];
const REFUSED = ["kubernetes.io/service-account-token", "bootstrap.kubernetes.io/token"];
const REQUIRED: Readonly<Record<string, readonly string[]>> = {
  "kubernetes.io/tls": ["tls.crt", "tls.key"],
};

/** Left out of the watch: invisible, as a source and in the way. */
export const isHidden = ({ type }: Raw): boolean => type === "helm.sh/release.v1";
export const isPull = (raw: Raw): boolean => wordOf(raw, "from") !== undefined;
export const isEnding = ({ metadata, status }: Raw): boolean =>
  metadata.deletionTimestamp !== undefined || status?.phase === "Terminating";

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

/** All entries, each with the field that it stands in. */
export const dataOf = ({ data = {}, binaryData = {} }: Raw): Texts => ({
  ...data,
  ...Object.fromEntries(Object.entries(binaryData).map(([key, text]) => [key, `binary ${text}`])),
});

const asksFor = (words: Texts): boolean => PAIRS.flat().some((word) => Object.hasOwn(words, word));
function isFaulty(words: Texts): boolean {
  const pairs = PAIRS.filter((pair) => pair.every((word) => Object.hasOwn(words, word)));
  const either = pairs.length > 0 && pairs.every(([to]) => split(words[to] ?? "").some(isPositive));
  const wrong = Object.entries(words).some(([word, value]) => WORDS[word]?.(value) !== true);
  return wrong || (words["match"] === "any" && !either);
}

/** The entries of the source list; undefined: there is none that can be read. */
export function entriesOf({ list, configMaps }: Flags): readonly Entry[] | undefined {
  if (!list || isOurs(list) || isPull(list) || wordOf(list, "adopt") !== undefined)
    return undefined;
  return Object.entries(list.data ?? {}).map(([key, text]) => {
    try {
      const { secret, configMap, ...words } = JSON.parse(text) as Record<string, string>;
      const named = secret === undefined ? `ConfigMap ${configMap}` : `Secret ${secret}`;
      const object = secret === undefined && !configMaps ? undefined : named;
      const faulty = object === undefined || !asksFor(words) || isFaulty(words);
      return { key, object, words, faulty };
    } catch {
      return { key, object: undefined, words: {}, faulty: true };
    }
  });
}

/** A flag of globs that let namespaces of every name publish, apart from what it excludes. */
const isEveryName = (entry: string): boolean => /^[*?]*\*[*?]*$/.test(entry);
const isRead = (namespace: string, { namespaces, sourceNamespaces }: Flags): boolean =>
  namespaces === "" ||
  split(namespaces).includes(namespace) ||
  split(sourceNamespaces).includes(namespace);
function rankOf(namespace: string, { sourceNamespaces }: Flags): number {
  if (!matchesGlobs(sourceNamespaces, namespace)) return -1;
  const positives = split(sourceNamespaces).filter(isPositive);
  return Math.max(
    0,
    positives.findIndex((entry) => glob(entry).test(namespace)),
  );
}
function publishesByName(namespace: string, { sourceNamespaces }: Flags): boolean {
  const named = split(sourceNamespaces).filter((entry) => !isEveryName(entry));
  return named.some(isPositive) && matchesGlobs(named.join(","), namespace);
}

/** How an object stands as a source. */
export function standingOf(raw: Raw, flags: Flags): Standing {
  const namespace = raw.metadata.namespace ?? "";
  const entries = (entriesOf(flags) ?? []).filter(({ object }) => object === slotOf(raw));
  const [entry] = entries;
  const rank = entry ? -1 : rankOf(namespace, flags);
  if (entries.length > 1 || entry?.faulty) return "refused";
  // Of what cannot be read nobody knows what it wants, and the list does not reach it.
  if (!isRead(namespace, flags)) return "refused";
  if (!entry && rank < 0) return "outside";
  if (isPull(raw)) return "open";
  if (isOurs(raw)) return entry ? "open" : "silent";
  const own = Object.entries(wordsOn(raw)).filter(([word]) => !MARKS.test(word));
  const words = entry?.words ?? Object.fromEntries(own);
  if (Object.keys(words).length === 0) return "silent";
  const content = contentOf(
    raw,
    words,
    entry || publishesByName(namespace, flags) ? flags.copyable : "",
  );
  const refused =
    isFaulty(words) ||
    content === undefined ||
    (!entry && wordOf(raw, "adopt") !== undefined) ||
    REFUSED.includes(raw.type ?? "") ||
    raw.metadata.name.startsWith("sh.helm.release.v1.");
  // Mistakes in, or a pause by, words that make nothing a source are left open.
  if (refused) return asksFor(words) ? "refused" : "open";
  const paused = words["paused"] === "true";
  if (!asksFor(words)) return paused ? "open" : "silent";
  const copyName = words["name"] ?? raw.metadata.name;
  return { raw, words, rank, entry: entry?.key, copyName, paused, content };
}

/** The same of a slot where there is nothing. */
export function standingOfNobody(slot: string, flags: Flags): "silent" | "outside" | "refused" {
  const { namespace = "" } = nobodyAt(slot).metadata;
  if (!isRead(namespace, flags)) return "refused";
  const listed = (entriesOf(flags) ?? []).some(({ object }) => object === slot);
  return listed || rankOf(namespace, flags) >= 0 ? "silent" : "outside";
}

function contentOf(raw: Raw, words: Texts, copyable: string): Content | undefined {
  const data = filterKeys(words["keys"], dataOf(raw));
  if (data === undefined) return undefined;
  const type = raw.type ?? "Opaque";
  const whole = (REQUIRED[type] ?? []).every((key) => Object.hasOwn(data, key));
  return {
    data,
    type: whole ? type : "Opaque",
    immutable: raw.immutable === true,
    labels: pickKeys(words["copy-labels"], raw.metadata.labels, copyable),
    annotations: pickKeys(words["copy-annotations"], raw.metadata.annotations, copyable),
  };
}

/** Never a target: excluded, of the system, or not served. */
export function isExcluded(namespace: string, flags: Flags): boolean {
  const { exclude, ownNamespace, includeSystem, namespaces } = flags;
  const ofSystem = SYSTEM.includes(namespace) || namespace === ownNamespace;
  const served = namespaces === "" || split(namespaces).includes(namespace);
  return (
    !served || (ofSystem && !includeSystem) || (exclude !== "" && matchesGlobs(exclude, namespace))
  );
}

/** Which copies a namespace takes; `kept`: nothing new. */
export function acceptance(namespace: Raw, source: string, { policy, sourceNamespaces }: Flags) {
  const said = wordOf(namespace, "accept");
  const positives = split(sourceNamespaces).filter(isPositive);
  const everybody = positives.length === 0 || positives.some(isEveryName);
  if (said === undefined)
    return (policy ?? (everybody ? "opt-in" : "opt-out")) === "opt-out" ? "yes" : "kept";
  if (said === "true" || said === "false") return said === "true" ? "yes" : "no";
  if (!split(said).every((part) => /^!?[-*?a-z0-9]+\/[-*?.a-z0-9]+$/.test(part))) return "unclear";
  return matchesGlobs(said, source) ? "yes" : "no";
}

function covers(words: Texts, word: "to" | "allow", { metadata }: Raw): boolean {
  const [globs, selector] = [words[word], words[`${word}-selector`]];
  if (globs === undefined && selector === undefined) return false;
  const named = globs === undefined || matchesGlobs(globs, metadata.name);
  const labelled =
    selector === undefined || matchesSelector(selector, metadata.labels ?? {}) === true;
  if (words["match"] !== "any" || globs === undefined || selector === undefined)
    return named && labelled;
  const exclusions = split(globs).filter((entry) => !isPositive(entry));
  return matchesGlobs(["*", ...exclusions].join(","), metadata.name) && (named || labelled);
}

/** Does `source` want a place in `namespace`; `there`: a copy of it is there already. */
export function pushes(
  { raw, words }: Source,
  namespace: Raw,
  flags: Flags,
  there = false,
): boolean {
  const { name } = namespace.metadata;
  if (raw.metadata.namespace === name || isEnding(namespace) || isExcluded(name, flags))
    return false;
  const accepts = acceptance(namespace, placeOf(raw), flags);
  return covers(words, "to", namespace) && (accepts === "yes" || (accepts === "kept" && there));
}

export const allows = ({ words }: Source, target: Raw, flags: Flags): boolean =>
  !isExcluded(target.metadata.name, flags) && covers(words, "allow", target);
