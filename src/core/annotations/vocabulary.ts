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

export const VOCABULARY = {
  to: ["source"],
  "to-selector": ["source"],
  name: ["source"],
  keys: ["source", "pulling Secret"],
  "copy-labels": ["source"],
  "copy-annotations": ["source"],
  "on-delete": ["source", "pulling Secret", "copy"],
  paused: ["source"],
  allow: ["source"],
  "allow-selector": ["source"],
  from: ["pulling Secret"],
  accept: ["namespace"],
  adopt: ["Secret in the way"],
  source: ["copy"],
  "source-uid": ["copy", "pulling Secret"],
  "placed-at": ["copy"],
  "source-version": ["copy", "pulling Secret"],
  "copied-keys": ["copy"],
  "pulled-keys": ["pulling Secret"],
} as const satisfies Readonly<Record<string, readonly AnnotatedKind[]>>;

export type AnnotationName = keyof typeof VOCABULARY;

export const ANNOTATION_NAMES: readonly AnnotationName[] = Object.keys(VOCABULARY).filter(
  (word): word is AnnotationName => word in VOCABULARY,
);

export function annotationKey(word: AnnotationName): string {
  return PREFIX + word;
}

/** Set by us alone; on an object that is not ours they mean nothing and are passed over. */
export const MARKS: readonly AnnotationName[] = [
  "source",
  "source-uid",
  "placed-at",
  "source-version",
  "copied-keys",
  "pulled-keys",
];

/** Any of these makes a Secret of a source namespace one that we read as a source. */
export const SOURCE_ANNOTATIONS: readonly AnnotationName[] = [
  "to",
  "to-selector",
  "name",
  "keys",
  "copy-labels",
  "copy-annotations",
  "on-delete",
  "paused",
  "allow",
  "allow-selector",
];

export const PULL_ANNOTATIONS: readonly AnnotationName[] = ["from", "keys", "on-delete"];
export const NAMESPACE_ANNOTATIONS: readonly AnnotationName[] = ["accept"];

/** Types whose Secrets other controllers make, fill or delete: never a source. */
export const REFUSED_TYPES: readonly string[] = [
  "kubernetes.io/service-account-token",
  "bootstrap.kubernetes.io/token",
  "helm.sh/release.v1",
];
export const REFUSED_NAME_PREFIX = "sh.helm.release.v1.";
