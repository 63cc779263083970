// The lower half of the reference model (model.ts): what one raw object says by the contract, and which
// namespaces a source names. It imports nothing of the program, so an error there is not repeated here.
// Where the contract leaves open what is right, the answer is `open`.
import {
  filterKeys,
  glob,
  matchesGlobs,
  matchesSelector,
  pickKeys,
  split,
  type Texts,
} from "./patterns.ts";

export type Raw = {
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly uid: string;
    readonly resourceVersion: string;
    readonly deletionTimestamp?: string;
    readonly labels?: Texts;
    readonly annotations?: Texts;
  };
  readonly type?: string;
  readonly immutable?: boolean;
  readonly data?: Texts;
  readonly status?: { readonly phase?: string };
};

export type Flags = {
  readonly sourceNamespaces: string;
  readonly policy: "opt-out" | "opt-in" | undefined;
  readonly exclude: string;
  readonly ownNamespace: string;
  /** The source list as it stands, whatever it holds; undefined: there is none. */
  readonly list: Raw | undefined;
};

type Match = { readonly globs?: string; readonly selector?: string; readonly any: boolean };
export type Source = {
  readonly raw: Raw;
  readonly text: string;
  readonly namespace: string;
  /** The smaller the stronger; -1: the source list says so. */
  readonly rank: number;
  /** Its key in the source list. */
  readonly entry: string | undefined;
  readonly copyName: string;
  readonly push: Match | undefined;
  readonly allow: Match | undefined;
  readonly paused: boolean;
  readonly keep: boolean;
  readonly content: Content;
};
export type Content = {
  readonly data: Texts;
  readonly type: string;
  readonly immutable: boolean;
  readonly labels: Texts;
  readonly annotations: Texts;
};
/** `outside`: not in a source namespace; `silent`: there, and nothing of ours on it. */
export type Standing = Source | "refused" | "silent" | "outside" | "open";

const P = "secretcast.io/";
const MARKS = [
  "source",
  "source-uid",
  "placed-at",
  "source-version",
  "copied-keys",
  "pulled-keys",
  "entry",
];
const RULES = ["to", "to-selector", "match", "name", "keys", "copy-labels", "copy-annotations"];
const SPOKEN = [...RULES, "on-delete", "paused", "allow", "allow-selector"];
const KNOWN = new Set([...MARKS, ...SPOKEN, "from", "adopt", "accept"]);
const SYSTEM = ["kube-system", "kube-public", "kube-node-lease"];
const REFUSED = ["kubernetes.io/service-account-token", "bootstrap.kubernetes.io/token"];
const REQUIRED: Readonly<Record<string, readonly string[]>> = {
  "kubernetes.io/tls": ["tls.crt", "tls.key"],
  "kubernetes.io/dockerconfigjson": [".dockerconfigjson"],
};

export const placeOf = ({ metadata }: Raw): string => `${metadata.namespace}/${metadata.name}`;
export const wordOf = ({ metadata }: Raw, word: string): string | undefined =>
  metadata.annotations?.[P + word];
const wordsOn = ({ metadata }: Raw): readonly string[] =>
  Object.keys(metadata.annotations ?? {}).flatMap((key) =>
    key.startsWith(P) ? [key.slice(P.length)] : [],
  );

/** At a place where there is none: a source that is not there is spoken of all the same. */
export function nobodyAt(place: string): Raw {
  const [namespace = "", name = ""] = place.split("/");
  return { metadata: { namespace, name, uid: "", resourceVersion: "" } };
}

/** Left out of the watch: invisible, as a source and in the way. */
export const isHidden = ({ type }: Raw): boolean => type === "helm.sh/release.v1";

/** The managed-by label, a well-formed source, a UID, its own place, and no `from`. */
export function isOurs(raw: Raw): boolean {
  return (
    raw.metadata.labels?.["app.kubernetes.io/managed-by"] === "secretcast" &&
    /^[-a-z0-9]+\/[-.a-z0-9]+$/.test(wordOf(raw, "source") ?? "") &&
    (wordOf(raw, "source-uid") ?? "") !== "" &&
    wordOf(raw, "placed-at") === placeOf(raw) &&
    wordOf(raw, "from") === undefined
  );
}

/** A newer version made it. */
export const hasUnknownMark = (raw: Raw): boolean => wordsOn(raw).some((word) => !KNOWN.has(word));
export const isPull = (raw: Raw): boolean => wordOf(raw, "from") !== undefined;

function covers({ globs, selector, any }: Match, { metadata }: Raw): boolean {
  const named = globs === undefined ? undefined : matchesGlobs(globs, metadata.name);
  const labelled =
    selector === undefined ? undefined : matchesSelector(selector, metadata.labels ?? {}) === true;
  if (!any || globs === undefined) return named !== false && labelled !== false;
  const barred = split(globs).some(
    (entry) => entry.startsWith("!") && glob(entry.slice(1)).test(metadata.name),
  );
  return !barred && (named === true || labelled === true);
}

function rankOf(namespace: string, { sourceNamespaces }: Flags): number {
  if (!matchesGlobs(sourceNamespaces, namespace)) return -1;
  return split(sourceNamespaces).findIndex(
    (entry) => !entry.startsWith("!") && glob(entry).test(namespace),
  );
}

type Entry = { readonly key: string; readonly object: string | undefined; readonly words: Texts };

/** The entries of the source list; undefined: there is none that can be read. */
export function entriesOf({ list }: Flags): readonly Entry[] | undefined {
  if (!list || isOurs(list) || isPull(list) || wordOf(list, "adopt") !== undefined)
    return undefined;
  return Object.entries(list.data ?? {}).map(([key, text]) => {
    try {
      const { secret, ...words } = JSON.parse(text) as Record<string, string>;
      return { key, object: secret, words };
    } catch {
      return { key, object: undefined, words: {} };
    }
  });
}

/** Refused for its own words, whatever becomes of its object. */
export const isFaulty = ({ object, words }: Entry): boolean =>
  object === undefined || !Object.keys(words).every((word) => SPOKEN.includes(word));

/** How an object stands as a source. */
export function standingOf(raw: Raw, flags: Flags): Standing {
  const [entry, another] = (entriesOf(flags) ?? []).filter(({ object }) => object === placeOf(raw));
  if (entry) {
    const odd = isPull(raw) || isOurs(raw);
    if (another) return "refused";
    return odd ? "open" : readAs(raw, -1, entry);
  }
  const rank = rankOf(raw.metadata.namespace ?? "", flags);
  if (rank < 0) return "outside";
  if (isPull(raw)) return "open";
  return isOurs(raw) ? "silent" : readAs(raw, rank, undefined);
}

function readAs(raw: Raw, rank: number, entry: Entry | undefined): Standing {
  const namespace = raw.metadata.namespace ?? "";
  const own = wordsOn(raw).filter((word) => !MARKS.includes(word) && word !== "adopt");
  const said = entry ? Object.keys(entry.words) : own;
  if (said.length === 0) return entry ? "refused" : "silent";
  const word = (name: string): string | undefined =>
    entry ? entry.words[name] : wordOf(raw, name);
  const bad = (name: string, form: RegExp): boolean =>
    said.includes(name) && !split(word(name) ?? "").every((part) => form.test(part));
  const selects = (name: string): boolean =>
    said.includes(name) && matchesSelector(word(name) ?? "", {}) === undefined;
  const [to, allow] = [word("to"), word("allow")];
  const any = word("match") === "any";
  const content = contentOf(raw, word);
  const refused =
    word("adopt") !== undefined ||
    said.some((name) => !KNOWN.has(name) || word(name)?.trim() === "") ||
    bad("to", /^!?[-*?a-z0-9]+$/) ||
    bad("allow", /^!?[-*?a-z0-9]+$/) ||
    bad("copy-labels", /^!?[-*?./\w]+$/) ||
    bad("copy-annotations", /^!?[-*?./\w]+$/) ||
    bad("name", /^[a-z0-9]([-.a-z0-9]*[a-z0-9])?$/) ||
    bad("on-delete", /^(delete|keep)$/) ||
    bad("paused", /^(true|false)$/) ||
    bad("match", /^(all|any)$/) ||
    selects("to-selector") ||
    selects("allow-selector") ||
    content === undefined ||
    REFUSED.includes(raw.type ?? "") ||
    raw.metadata.name.startsWith("sh.helm.release.v1.");
  // A mistake in words that make nothing a source by themselves.
  const speaks = ["to", "to-selector", "allow", "allow-selector"].some((name) =>
    said.includes(name),
  );
  if (refused) return speaks ? "refused" : "open";
  if (any || said.includes("accept")) return "open";
  // Whether what makes nothing a source can be paused is left open.
  if (!speaks) return word("paused") === "true" ? "open" : "silent";
  const match = (globs: string | undefined, selector: string | undefined): Match | undefined =>
    globs === undefined && selector === undefined
      ? undefined
      : { ...(globs !== undefined && { globs }), ...(selector !== undefined && { selector }), any };
  return {
    raw,
    text: placeOf(raw),
    namespace,
    rank,
    entry: entry?.key,
    copyName: word("name") ?? raw.metadata.name,
    push: match(to, word("to-selector")),
    allow: match(allow, word("allow-selector")),
    paused: word("paused") === "true",
    keep: word("on-delete") === "keep",
    content,
  };
}

function contentOf(raw: Raw, word: (name: string) => string | undefined): Content | undefined {
  const data = filterKeys(word("keys"), raw.data ?? {});
  if (data === undefined) return undefined;
  const type = raw.type ?? "Opaque";
  const whole = (REQUIRED[type] ?? []).every((key) => Object.hasOwn(data, key));
  return {
    data,
    type: whole ? type : "Opaque",
    immutable: raw.immutable === true,
    labels: pickKeys(word("copy-labels"), raw.metadata.labels),
    annotations: pickKeys(word("copy-annotations"), raw.metadata.annotations),
  };
}

export const isEnding = ({ metadata, status }: Raw): boolean =>
  metadata.deletionTimestamp !== undefined || status?.phase === "Terminating";
export const isExcluded = (namespace: string, { exclude, ownNamespace }: Flags): boolean =>
  SYSTEM.includes(namespace) ||
  namespace === ownNamespace ||
  (exclude !== "" && matchesGlobs(exclude, namespace));

/** Which copies a namespace takes; `kept`: nothing new. */
export function acceptance(namespace: Raw, source: string, { policy, sourceNamespaces }: Flags) {
  const said = wordOf(namespace, "accept");
  const everybody = split(sourceNamespaces).some(
    (entry) => /^\*+$/.test(entry) || entry.startsWith("!"),
  );
  if (said === undefined)
    return (policy ?? (everybody ? "opt-in" : "opt-out")) === "opt-out" ? "yes" : "kept";
  if (said === "true" || said === "false") return said === "true" ? "yes" : "no";
  if (!split(said).every((part) => /^!?[-*?a-z0-9]+\/[-*?.a-z0-9]+$/.test(part))) return "unclear";
  return matchesGlobs(said, source) ? "yes" : "no";
}

/** Does `source` want a place in `namespace`; `there`: a copy of it is there already. */
export function pushes(source: Source, namespace: Raw, flags: Flags, there = false): boolean {
  const { push, text } = source;
  if (!push || source.namespace === namespace.metadata.name || isEnding(namespace)) return false;
  if (isExcluded(namespace.metadata.name, flags) || !covers(push, namespace)) return false;
  const accepts = acceptance(namespace, text, flags);
  return accepts === "yes" || (accepts === "kept" && there);
}

export const allows = ({ allow }: Source, target: Raw, flags: Flags): boolean =>
  allow !== undefined && !isExcluded(target.metadata.name, flags) && covers(allow, target);
