// The commands that change an answer, ready for a shell: every text of a user stands in single quotes.
import { type Ref } from "../../text/names.ts";
import type { ObjectKind } from "../../controller/model/kinds.ts";
import { annotationKey, type AnnotationName } from "../../controller/annotations/vocabulary.ts";

const PLAIN = /^[-A-Za-z0-9_./:=@%+,]+$/;

export function shellWord(text: string): string {
  return PLAIN.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

/** As kubectl calls one. */
export function kubectlWord(kind: ObjectKind): string {
  return kind.toLowerCase();
}

/** `value` undefined: takes it off. */
export function annotateObject(
  kind: ObjectKind,
  object: Ref,
  word: AnnotationName,
  value: string | undefined,
): string {
  return annotateKey(kind, object, annotationKey(word), value);
}

/** `key`: any, as somebody wrote it. */
export function annotateKey(
  kind: ObjectKind,
  { namespace, name }: Ref,
  key: string,
  value: string | undefined,
): string {
  return `kubectl annotate ${kubectlWord(kind)} -n ${namespace} ${name} ${assignment(key, value)}`;
}

export function annotateNamespace(name: string, word: AnnotationName, value: string): string {
  return `kubectl annotate namespace ${name} ${assignment(annotationKey(word), value)}`;
}

function assignment(key: string, value: string | undefined): string {
  return value === undefined ? `${key}-` : `--overwrite ${shellWord(`${key}=${value}`)}`;
}

export function deleteObject(kind: ObjectKind, { namespace, name }: Ref): string {
  return `kubectl delete ${kubectlWord(kind)} -n ${namespace} ${name}`;
}

/** Which clients changed an object, by their field managers. */
export function showManagers(kind: ObjectKind, { namespace, name }: Ref): string {
  return `kubectl get ${kubectlWord(kind)} -n ${namespace} ${name} --show-managed-fields -o jsonpath='{range .metadata.managedFields[*]}{.time} {.manager}{"\\n"}{end}'`;
}

export function editObject(kind: ObjectKind, { namespace, name }: Ref): string {
  return `kubectl edit ${kubectlWord(kind)} -n ${namespace} ${name}`;
}

export function editNamespace(name: string): string {
  return `kubectl edit namespace ${name}`;
}

export function labelNamespace(name: string, labels: readonly string[]): string {
  return `kubectl label namespace ${name} --overwrite ${labels.map(shellWord).join(" ")}`;
}

// What a user has written may be long; a command that is copied should not be.
const LONGEST_VALUE = 200;

/** A word of a source: of its own annotations, or of the entry of the source list that makes it one. */
export function sourceWord(
  source: Ref & { readonly kind: ObjectKind; readonly entry: { readonly key: string } | undefined },
  word: AnnotationName,
  value: string | undefined,
): string {
  if (!source.entry) return annotateObject(source.kind, source, word, value);
  const what = value === undefined ? `take ${word} off` : `say ${word}: ${value}`;
  return `${what}, in entry ${source.entry.key} of the source list`;
}

/** The command with the list as it is and one entry more; of a long list where to write it. */
export function withEntry(
  source: Parameters<typeof sourceWord>[0],
  word: AnnotationName,
  list: string,
  entry: string,
): string {
  if (list.length <= LONGEST_VALUE) return sourceWord(source, word, `${list},${entry}`);
  if (source.entry)
    return `add ${entry} to ${word}, in entry ${source.entry.key} of the source list`;
  return `add ${entry} to ${annotationKey(word)}: ${editObject(source.kind, source)}`;
}
