// The commands that change an answer, and those that keep or remove copies, ready for a shell: every text from a user is
// in single quotes. They contain names and no values: kubectl reads the data of a lost source from a copy.
import { apiVersionOf, type Ref } from "../../text/names.ts";
import { shellWord } from "../../text/shell-word.ts";
import { KINDS, type ObjectKind } from "../../controller/model/kinds.ts";
import {
  annotationKey,
  MANAGED_BY_LABEL,
  type AnnotationName,
} from "../../controller/annotations/vocabulary.ts";

/** Maximum length of a command in characters: a quarter of what a system accepts as one argument. */
export const LONGEST_COMMAND = 32_768;
/** Places that one command names. */
const MOST_PLACES = 500;
// User input may be long, but a command for copying should be short.
const LONGEST_VALUE = 200;

/** A source, and the source list entry that makes it one. Undefined: its own annotations do. */
export type EditableSource = Ref & {
  readonly kind: ObjectKind;
  readonly entry: { readonly key: string } | undefined;
};

/** Values by key. Undefined removes the annotation. */
export type AnnotationChanges = Readonly<Record<string, string | undefined>>;

/** `kubectl VERB` on one object. What follows are further arguments. */
export function kubectlOn(
  verb: "annotate" | "delete" | "edit" | "get" | "label",
  kind: ObjectKind | "Namespace",
  { namespace, name }: Ref,
): string {
  const where = kind === "Namespace" ? "" : `-n ${shellWord(namespace)} `;
  return `kubectl ${verb} ${kind.toLowerCase()} ${where}${shellWord(name)}`;
}

export function annotate(
  kind: ObjectKind | "Namespace",
  object: Ref,
  changes: AnnotationChanges,
): string {
  const pairs = Object.entries(changes);
  const overwrite = pairs.some(([, value]) => value !== undefined) ? " --overwrite" : "";
  const words = pairs.map(([key, value]) =>
    shellWord(value === undefined ? `${key}-` : `${key}=${value}`),
  );
  return `${kubectlOn("annotate", kind, object)}${overwrite} ${words.join(" ")}`;
}

/** An annotation of a source, either its own or from the source list entry that makes it a source. */
export function annotateSource(
  source: EditableSource,
  annotation: AnnotationName,
  value: string | undefined,
): string {
  const { kind, entry } = source;
  if (!entry) return annotate(kind, source, { [annotationKey(annotation)]: value });
  const what = value === undefined ? `take ${annotation} off` : `say ${annotation}: ${value}`;
  return `${what}, in entry ${entry.key} of the source list`;
}

/** Adds one entry to a list of a source. A long list is edited. */
export function withEntry(
  source: EditableSource,
  annotation: AnnotationName,
  list: string,
  entry: string,
): string {
  if (isShort(list)) return annotateSource(source, annotation, `${list},${entry}`);
  if (source.entry)
    return `add ${entry} to ${annotation}, in entry ${source.entry.key} of the source list`;
  return `add ${entry} to ${annotationKey(annotation)}: ${kubectlOn("edit", source.kind, source)}`;
}

export function isShort(value: string): boolean {
  return value.length <= LONGEST_VALUE;
}

/** Adds an entry to the source list or replaces the existing one. */
export function patchList({ namespace, name }: Ref, key: string, text: string): string {
  const patch = JSON.stringify({ data: { [key]: text } });
  return `kubectl patch configmap ${name} -n ${namespace} --type merge -p ${shellWord(patch)}`;
}

/** State of the namespace of a source that no longer exists. It may have to be created first. */
export type Home = "there" | "absent" | "terminating";

/** Creates a source anew from a copy of it: its name and `annotations`, without any mark. */
export function recreateSource(
  kind: ObjectKind,
  source: Ref,
  copy: Ref & { readonly resourceVersion: string },
  annotations: Readonly<Record<string, string>>,
  home: Home,
): string {
  const { namespace, name } = source;
  const first = {
    there: "",
    absent: `kubectl create namespace ${namespace} && `,
    terminating: `kubectl wait --for=delete namespace/${namespace} --timeout=10m && kubectl create namespace ${namespace} && `,
  }[home];
  const { fields, types, resource } = KINDS[kind];
  // The output is YAML, because a quoted YAML text allows every escape that %q writes. JSON does not.
  const lines = [
    `apiVersion: ${apiVersionOf(resource)}`,
    `kind: ${kind}`,
    `metadata: ${JSON.stringify({ namespace, name, annotations })}`,
    ...(types ? ['type: {{printf "%q" .type}}'] : []),
    "{{if .immutable}}immutable: true{{end}}",
    ...fields.map(
      (field) =>
        `${field.name}: { {{range $k, $v := .${field.name}}}{{printf "%q: %q, " $k $v}}{{end}} }`,
    ),
  ];
  const text = lines.map((line) => `${line}{{"\\n"}}`).join("");
  // A copy that was changed after it was compared with the others gives nothing.
  const template = `{{if eq .metadata.resourceVersion "${copy.resourceVersion}"}}${text}{{end}}`;
  return `${first}${kubectlOn("get", kind, copy)} -o go-template=${shellWord(template)} | kubectl create -f -`;
}

/** Deletes the copies or removes their managed-by label, with one command for each name. */
export function removeNow(
  kind: ObjectKind,
  places: readonly Ref[],
  removal: "delete" | "release",
): readonly string[] {
  const one = (place: Ref): string =>
    removal === "delete"
      ? kubectlOn("delete", kind, place)
      : `${kubectlOn("label", kind, place)} ${MANAGED_BY_LABEL}-`;
  const byName = Map.groupBy(places.slice(0, MOST_PLACES), ({ name }) => name);
  return Array.from(byName, ([name, members]) => {
    const [only, ...others] = members;
    if (only && others.length === 0) return one(only);
    const namespaces = members.map(({ namespace }) => shellWord(namespace)).join(" ");
    // No namespace has capitals. A variable must not be quoted as the text of a user is.
    const each = one({ namespace: "EACH", name }).replace("-n EACH ", '-n "$n" ');
    return `for n in ${namespaces}; do ${each}; done`;
  });
}

/** How many of so many places the commands of removeNow do not name. */
export function unnamed(count: number): number {
  return Math.max(0, count - MOST_PLACES);
}
