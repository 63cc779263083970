// The commands that change an answer, ready for a shell. Every text from a user is in single quotes.
import type { Ref } from "../../text/names.ts";
import { shellWord } from "../../text/shell-word.ts";
import type { ObjectKind } from "../../controller/model/kinds.ts";
import { annotationKey, type AnnotationName } from "../../controller/annotations/vocabulary.ts";

/** The kind as kubectl names it. */
export function kubectlWord(kind: ObjectKind): string {
  return kind.toLowerCase();
}

/** `kubectl VERB` on one object. What follows are further arguments. */
export function kubectlOn(
  verb: "annotate" | "delete" | "edit" | "get" | "label",
  kind: ObjectKind,
  { namespace, name }: Ref,
): string {
  return `kubectl ${verb} ${kubectlWord(kind)} -n ${shellWord(namespace)} ${shellWord(name)}`;
}

/** An undefined `value` removes the annotation. */
export function annotateObject(
  kind: ObjectKind,
  object: Ref,
  annotation: AnnotationName,
  value: string | undefined,
): string {
  return annotateKey(kind, object, annotationKey(annotation), value);
}

/** `key` may be any key that a user wrote. */
export function annotateKey(
  kind: ObjectKind,
  object: Ref,
  key: string,
  value: string | undefined,
): string {
  return `${kubectlOn("annotate", kind, object)} ${assignment(key, value)}`;
}

export function annotateNamespace(name: string, annotation: AnnotationName, value: string): string {
  return `kubectl annotate namespace ${shellWord(name)} ${assignment(annotationKey(annotation), value)}`;
}

function assignment(key: string, value: string | undefined): string {
  return value === undefined ? shellWord(`${key}-`) : `--overwrite ${shellWord(`${key}=${value}`)}`;
}

/** Which clients changed an object, by their field managers. */
export function showManagers(kind: ObjectKind, object: Ref): string {
  return `${kubectlOn("get", kind, object)} --show-managed-fields -o jsonpath='{range .metadata.managedFields[*]}{.time} {.manager}{"\\n"}{end}'`;
}

/** A change of a source ends the back-off of its failed writes. */
export function touchObject(kind: ObjectKind, object: Ref): string {
  return `${kubectlOn("annotate", kind, object)} --overwrite retried-at="$(date)"`;
}

export function editNamespace(name: string): string {
  return `kubectl edit namespace ${shellWord(name)}`;
}

export function labelNamespace(name: string, labels: readonly string[]): string {
  return `kubectl label namespace ${shellWord(name)} --overwrite ${labels.map(shellWord).join(" ")}`;
}

// User input may be long, but a command for copying should be short.
const LONGEST_VALUE = 200;

/** An annotation of a source, either its own or from the source list entry that makes it a source. */
export function annotateSource(
  source: Ref & { readonly kind: ObjectKind; readonly entry: { readonly key: string } | undefined },
  annotation: AnnotationName,
  value: string | undefined,
): string {
  if (!source.entry) return annotateObject(source.kind, source, annotation, value);
  const what = value === undefined ? `take ${annotation} off` : `say ${annotation}: ${value}`;
  return `${what}, in entry ${source.entry.key} of the source list`;
}

/** The command that adds one entry to the list. For a long list, the place to edit. */
export function withEntry(
  source: Parameters<typeof annotateSource>[0],
  annotation: AnnotationName,
  list: string,
  entry: string,
): string {
  if (list.length <= LONGEST_VALUE) return annotateSource(source, annotation, `${list},${entry}`);
  if (source.entry)
    return `add ${entry} to ${annotation}, in entry ${source.entry.key} of the source list`;
  return `add ${entry} to ${annotationKey(annotation)}: ${kubectlOn("edit", source.kind, source)}`;
}
