// Annotations of ours that have no effect where they are: which rule ignores them, and the first
// of them by name. Only one of a few fixed objects is kept for each Secret, however much it carries.
import {
  annotationKey,
  ANNOTATION_NAMES,
  isMark,
  isUnknownKey,
  PREFIX,
  PULL_ANNOTATIONS,
  REFUSED_ON_PULL,
  SOURCE_ANNOTATIONS,
  type AnnotationName,
} from "./vocabulary.ts";
import type { StringMap } from "../../text/string-map.ts";

/**
 * Why they have no effect. `accept`: on a namespace, where nothing changes as long as it is so. `flag`:
 * no annotation, but an entry of a flag that matches no namespace.
 */
export const IGNORED_REASONS = [
  "namespace",
  "incomplete",
  "pull",
  "copy",
  "adopt",
  "unknown",
  "marks",
  "accept",
  "flag",
] as const;
export type IgnoredReason = (typeof IGNORED_REASONS)[number];

/** What has no effect on a Secret. */
export type Ignored = {
  readonly reason: Exclude<IgnoredReason, "accept" | "flag">;
  /** The first annotation that has no effect, or undefined: an unknown key. */
  readonly annotation: AnnotationName | undefined;
};

const fixed = new Map<string, Ignored>();

function ignored(reason: Ignored["reason"], annotation: AnnotationName | undefined): Ignored {
  const key = `${reason} ${annotation ?? ""}`;
  const known = fixed.get(key) ?? { reason, annotation };
  fixed.set(key, known);
  return known;
}

function firstOf(
  annotations: StringMap,
  counts: (name: AnnotationName) => boolean,
): AnnotationName | undefined {
  return ANNOTATION_NAMES.find(
    (name) => counts(name) && Object.hasOwn(annotations, annotationKey(name)),
  );
}

const isOnSource = (name: AnnotationName): boolean => SOURCE_ANNOTATIONS.includes(name);

/** For a Secret of a source namespace that asks for nothing. */
export function ignoredOnSource(annotations: StringMap): Ignored {
  return ignored("incomplete", firstOf(annotations, isOnSource));
}

/** What has an effect on a source alone, except `to` and the like: they refuse a pulling Secret. */
export function ignoredOnPull(annotations: StringMap): Ignored | undefined {
  const found = firstOf(
    annotations,
    (each) =>
      isOnSource(each) &&
      !PULL_ANNOTATIONS.includes(each) &&
      !REFUSED_ON_PULL.some((refused) => refused === each),
  );
  return found && ignored("pull", found);
}

export function ignoredOnCopy(annotations: StringMap): Ignored | undefined {
  const found = firstOf(annotations, (each) => !isMark(each) && each !== "on-delete");
  return found && ignored("copy", found);
}

/** For a Secret with no other role. `adoptable`: its `adopt` names a source. `labelled`: as a copy is. */
export function ignoredOnUnmanaged(
  annotations: StringMap,
  { adoptable, labelled }: { readonly adoptable: boolean; readonly labelled: boolean },
): Ignored | undefined {
  if (!Object.keys(annotations).some((key) => key.startsWith(PREFIX))) return undefined;
  const found = firstOf(annotations, (each) => isOnSource(each));
  if (found) return ignored("namespace", found);
  if (!adoptable && Object.hasOwn(annotations, annotationKey("adopt")))
    return ignored("adopt", "adopt");
  const other = firstOf(annotations, (each) => each === "accept");
  if (other ?? Object.keys(annotations).some(isUnknownKey)) return ignored("unknown", other);
  // A pulling Secret whose owner took `from` off keeps the record of what was filled in, and means no copy.
  const mark = firstOf(
    annotations,
    (each) => each === "source" || (labelled && each === "placed-at"),
  );
  return mark && ignored("marks", mark);
}

/** For the owner of an object of this kind: what has no effect, why, and what would. */
export function ignoredText(kind: string, { reason, annotation }: Ignored): string {
  const what = annotation ? annotationKey(annotation) : `a key under ${PREFIX} that means nothing`;
  return `${what} has no effect ${WHY[reason].replaceAll("KIND", kind)}`;
}

const WHY: Readonly<Record<Ignored["reason"], string>> = {
  namespace:
    "here: this namespace is no source namespace (--source-namespaces); put the KIND into one, or take it off",
  incomplete: "without to, to-selector, allow or allow-selector: add one, or take it off",
  pull: "on a pulling KIND: take it off",
  copy: "on a copy: put it on the source, or take it off",
  adopt: "as it is: it has to be NAMESPACE/NAME of a source",
  unknown: "on a KIND: correct it, or take it off",
  marks:
    "here: this is no copy at its own place, so nobody keeps it current; take the marks off, or delete it",
};

/** For operators, of all of one reason together. */
export const IGNORED_HEADLINES: Readonly<Record<IgnoredReason, string>> = {
  namespace: "annotations of a source outside the source namespaces (--source-namespaces)",
  incomplete: "annotations of a source without to, to-selector, allow or allow-selector",
  pull: "annotations of a source on a pulling Secret",
  copy: "annotations on a copy, where they belong on its source",
  adopt: "secretcast.io/adopt that is not NAMESPACE/NAME of a source",
  unknown: "keys under secretcast.io/ that mean nothing where they are",
  marks: "marks of a copy on what is none at its own place",
  accept: "annotations of a namespace that cannot be understood: nothing changes there",
  flag: "entries of flags that match no namespace",
};
