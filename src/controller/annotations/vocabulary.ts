// Every annotation and label that users and copies may carry, in one table. Parsers, messages and the
// README's table are checked against it.

export const PREFIX = "secretcast.io/";

export const MANAGED_BY_LABEL = "app.kubernetes.io/managed-by";
export const MANAGED_BY = "secretcast";

/** Beginnings of the keys that are read of an object however many labels and annotations it has. */
export const ALWAYS_READ: readonly string[] = [PREFIX, MANAGED_BY_LABEL];

/** Where an annotation means something. */
export type AnnotatedKind =
  | "source"
  | "pulling Secret"
  | "namespace"
  | "Secret in the way"
  | "copy";

type Meaning = {
  readonly on: readonly AnnotatedKind[];
  /** Only we set it. On an object that is not ours it has no meaning and is ignored. */
  readonly mark?: true;
  /** Its text is a list, so that an entry of the source list may give it as one. */
  readonly list?: true;
};

export const VOCABULARY = {
  to: { on: ["source"], list: true },
  "to-selector": { on: ["source"], list: true },
  match: { on: ["source"] },
  name: { on: ["source"] },
  keys: { on: ["source", "pulling Secret"], list: true },
  "copy-labels": { on: ["source"], list: true },
  "copy-annotations": { on: ["source"], list: true },
  "on-delete": { on: ["source", "pulling Secret", "copy"] },
  paused: { on: ["source"] },
  allow: { on: ["source"], list: true },
  "allow-selector": { on: ["source"], list: true },
  from: { on: ["pulling Secret"] },
  accept: { on: ["namespace"] },
  adopt: { on: ["Secret in the way"] },
  source: { on: ["copy"], mark: true },
  "source-uid": { on: ["copy", "pulling Secret"], mark: true },
  "placed-at": { on: ["copy", "pulling Secret"], mark: true },
  "source-version": { on: ["copy", "pulling Secret"], mark: true },
  "copied-keys": { on: ["copy"], mark: true },
  entry: { on: ["copy", "pulling Secret"], mark: true },
  list: { on: ["copy", "pulling Secret"], mark: true },
} as const satisfies Readonly<Record<string, Meaning>>;

export type AnnotationName = keyof typeof VOCABULARY;
/** What a copy carries of ours. */
export type CopyMark = {
  [N in AnnotationName]: "copy" extends (typeof VOCABULARY)[N]["on"][number] ? N : never;
}[AnnotationName];

export const ANNOTATION_NAMES: readonly AnnotationName[] = Object.keys(VOCABULARY).filter(
  (name): name is AnnotationName => name in VOCABULARY,
);

export function isMark(name: AnnotationName): boolean {
  return "mark" in VOCABULARY[name];
}

/** The annotations that mean something on `kind`, marks among them. */
export function annotationsOn(kind: AnnotatedKind): readonly AnnotationName[] {
  return ANNOTATION_NAMES.filter((name) =>
    VOCABULARY[name].on.some((each: AnnotatedKind) => each === kind),
  );
}

function setByUsersOn(kind: AnnotatedKind): readonly AnnotationName[] {
  return annotationsOn(kind).filter((name) => !isMark(name));
}

export function annotationKey(name: AnnotationName): string {
  return PREFIX + name;
}

const KNOWN_KEYS: ReadonlySet<string> = new Set(ANNOTATION_NAMES.map(annotationKey));

/** A key under our prefix that means nothing to this version. */
export function isUnknownKey(key: string): boolean {
  return key.startsWith(PREFIX) && !KNOWN_KEYS.has(key);
}

// The longest name of a label or annotation. Any user may write one.
const LONGEST_KEY = PREFIX.length + 63;

/** The first such key of an object: a typo, or what a newer version wrote. */
export function unknownKeyOf(annotations: Readonly<Record<string, string>>): string | undefined {
  return Object.keys(annotations).find(isUnknownKey)?.slice(0, LONGEST_KEY);
}

export const MARKS: readonly AnnotationName[] = ANNOTATION_NAMES.filter(isMark);
/** Any of these makes a Secret of a source namespace one that we read as a source. */
export const SOURCE_ANNOTATIONS: readonly AnnotationName[] = setByUsersOn("source");
export const LIST_ANNOTATIONS = SOURCE_ANNOTATIONS.filter((name) => "list" in VOCABULARY[name]);
export const PULL_ANNOTATIONS: readonly AnnotationName[] = setByUsersOn("pulling Secret");
/** Those that name namespaces: a source that has none of them asks for nothing. */
export const TARGET_ANNOTATIONS = [
  "to",
  "to-selector",
  "allow",
  "allow-selector",
] as const satisfies readonly AnnotationName[];
/** Not valid on a pulling Secret: each of them stops the pull. */
export const REFUSED_ON_PULL = [
  ...TARGET_ANNOTATIONS,
  "adopt",
] as const satisfies readonly AnnotationName[];
export const NAMESPACE_ANNOTATIONS: readonly AnnotationName[] = setByUsersOn("namespace");

/** Types whose Secrets other controllers make, fill or delete: never a source. */
export const REFUSED_TYPES: readonly string[] = [
  "kubernetes.io/service-account-token",
  "bootstrap.kubernetes.io/token",
  "helm.sh/release.v1",
];
export const REFUSED_NAME_PREFIX = "sh.helm.release.v1.";
