// What the judges of chaos see: objects as the API server shows them, the flags of the controller, and
// what a source is once it is understood. Nothing of the contract is decided here.
export type Texts = Readonly<Record<string, string>>;

export type Raw = {
  readonly kind?: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly uid: string;
    readonly resourceVersion: string;
    readonly deletionTimestamp?: string;
    readonly labels?: Texts;
    readonly annotations?: Texts;
    readonly finalizers?: readonly string[];
  };
  readonly type?: string;
  readonly immutable?: boolean;
  readonly data?: Texts;
  readonly binaryData?: Texts;
  readonly status?: { readonly phase?: string };
};

/** Namespaces by name, and the objects of one kind by "NAMESPACE/NAME". */
export type World = {
  readonly kind: "Secret" | "ConfigMap";
  readonly namespaces: ReadonlyMap<string, Raw>;
  readonly objects: ReadonlyMap<string, Raw>;
};

/** "" is the absence of a flag that is a text. */
export type Flags = {
  readonly sourceNamespaces: string;
  readonly policy: "opt-out" | "opt-in" | undefined;
  readonly exclude: string;
  readonly includeSystem: boolean;
  readonly namespaces: string;
  readonly copyable: string;
  readonly configMaps: boolean;
  /** --fanout-limit is one byte: no copy is made where none was. */
  readonly holdsCreates?: boolean;
  readonly ownNamespace: string;
  /** The source list as it stands, whatever it holds; undefined: there is none. */
  readonly list: Raw | undefined;
};

export type Content = {
  readonly data: Texts;
  readonly type: string;
  readonly immutable: boolean;
  readonly labels: Texts;
  readonly annotations: Texts;
};
export type Source = {
  readonly raw: Raw;
  readonly words: Texts;
  /** The smaller the stronger; -1: the source list says so. */
  readonly rank: number;
  /** Its key in the source list. */
  readonly entry: string | undefined;
  /** The place of that list. */
  readonly list: string | undefined;
  readonly copyName: string;
  readonly paused: boolean;
  readonly content: Content;
};
/** Of the source list. */
export type Entry = {
  readonly key: string;
  /** The slot of what it names; undefined: it names nothing. */
  readonly object: string | undefined;
  readonly words: Texts;
  readonly refused: boolean;
};
/** `outside`: out of scope; `silent`: nothing of ours on it, or it is not there. */
export type Standing = Source | "refused" | "silent" | "outside" | "open";

const P = "secretcast.io/";

/** The entries of a comma-separated list. */
export const split = (text: string): readonly string[] =>
  text.split(",").map((part) => part.trim());

export const placeOf = ({ metadata }: Raw): string => `${metadata.namespace}/${metadata.name}`;
/** Of all kinds: a ConfigMap is never in the way of a Secret. */
export const slotOf = (raw: Raw): string => `${raw.kind ?? "Secret"} ${placeOf(raw)}`;
export const wordOf = ({ metadata }: Raw, word: string): string | undefined =>
  metadata.annotations?.[P + word];
export const wordsOn = ({ metadata }: Raw): Texts =>
  Object.fromEntries(
    Object.entries(metadata.annotations ?? {}).flatMap(([key, value]) =>
      key.startsWith(P) ? [[key.slice(P.length), value]] : [],
    ),
  );

/** It is being deleted, and somebody's finalizer holds it. */
export const isHeld = ({ metadata }: Raw): boolean =>
  metadata.finalizers !== undefined && metadata.deletionTimestamp !== undefined;

export const isEnding = ({ metadata, status }: Raw): boolean =>
  metadata.deletionTimestamp !== undefined || status?.phase === "Terminating";
/** Left out of the watch: invisible, as a source and in the way. */
export const isHidden = ({ type }: Raw): boolean => type === "helm.sh/release.v1";

/** All entries, each with the field that it stands in. */
export const dataOf = ({ data = {}, binaryData = {} }: Raw): Texts => ({
  ...data,
  ...Object.fromEntries(Object.entries(binaryData).map(([key, text]) => [key, `binary ${text}`])),
});
/** Bytes of values of an object of this kind, as the API server counts them. */
export const bytesOf = (kind: string | undefined, data: Texts): number =>
  Object.values(data).reduce((sum, value) => {
    const [, encoded = value] = /^binary (.*)$/.exec(value) ?? [];
    const isText = kind === "ConfigMap" && encoded === value;
    return sum + Buffer.byteLength(encoded, isText ? "utf8" : "base64");
  }, 0);
/** Whether the content of a pulling object is ours: it says so, at its own place. */
export const isFilled = (pull: Raw): boolean =>
  /^[1-9]\d{0,19}$/.test(wordOf(pull, "source-version") ?? "") &&
  (wordOf(pull, "source-uid") ?? "") !== "" &&
  wordOf(pull, "placed-at") === placeOf(pull);
export const isSame = (one: Texts, other: Texts): boolean =>
  Object.keys(one).length === Object.keys(other).length &&
  Object.keys(one).every((key) => one[key] === other[key]);
/** No entries, or values that are empty or no more than the type asks for. */
export const isBlank = (pull: Raw): boolean =>
  Object.values(dataOf(pull)).every((value) =>
    ["", "binary ", SHELLS[pull.type ?? ""]].includes(value),
  );
const SHELLS: Texts = {
  "kubernetes.io/ssh-auth": "Cg==",
  "kubernetes.io/dockerconfigjson": "e30=",
  "kubernetes.io/dockercfg": "e30=",
};

/** `make`, asked once of each key for as long as that lives. */
export function memoized<K extends object, V>(make: (key: K) => V): (key: K) => V {
  const made = new WeakMap<K, { readonly value: V }>();
  return (key) => {
    const known = made.get(key) ?? { value: make(key) };
    made.set(key, known);
    return known.value;
  };
}
