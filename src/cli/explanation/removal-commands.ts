// Commands that keep or remove copies, ready for a shell. They contain names and no values: kubectl reads
// the data of a lost source from a copy. The length of each command is limited.
import { apiVersionOf, type Ref } from "../../text/names.ts";
import {
  annotationKey,
  MANAGED_BY_LABEL,
  type AnnotationName,
} from "../../controller/annotations/vocabulary.ts";
import { KINDS, type ObjectKind } from "../../controller/model/kinds.ts";
import { kubectlOn } from "./what-to-type.ts";
import { shellWord } from "../../text/shell-word.ts";

/** Maximum length of a command in characters: a quarter of what a system accepts as one argument. */
export const LONGEST_COMMAND = 32_768;
/** Places that one command names. */
const MOST_PLACES = 500;

/** Values by annotation without its prefix. Undefined removes the annotation. */
export type AnnotationChanges = Readonly<Partial<Record<AnnotationName, string | undefined>>>;

export function annotateAll(kind: ObjectKind, object: Ref, changes: AnnotationChanges): string {
  const assignments = Object.entries(changes).map(([annotation, value]) => {
    const key = annotationKey(annotation as AnnotationName);
    return value === undefined ? `${key}-` : shellWord(`${key}=${value}`);
  });
  return `${kubectlOn("annotate", kind, object)} --overwrite ${assignments.join(" ")}`;
}

/** Adds an entry to the source list or replaces the existing one. */
export function patchList({ namespace, name }: Ref, key: string, text: string): string {
  const patch = JSON.stringify({ data: { [key]: text } });
  return `kubectl patch configmap ${name} -n ${namespace} --type merge -p ${shellWord(patch)}`;
}

/** The source that kubectl creates from a copy: the source's name, without any mark. */
function templateOf(
  kind: ObjectKind,
  source: Ref,
  resourceVersion: string,
  changes: AnnotationChanges,
): string {
  const annotations = Object.fromEntries(
    Object.entries(changes).flatMap(([annotation, value]) =>
      value === undefined ? [] : [[annotationKey(annotation as AnnotationName), value]],
    ),
  );
  const { namespace, name } = source;
  const metadata = JSON.stringify({ namespace, name, annotations });
  const { fields, types, resource } = KINDS[kind];
  const type = types ? ['type: {{printf "%q" .type}}'] : [];
  const entries = (field: string): string =>
    `${field}: { {{range $k, $v := .${field}}}{{printf "%q: %q, " $k $v}}{{end}} }`;
  // The output is YAML, because a quoted YAML text allows every escape that %q writes. JSON does not.
  const lines = [
    `apiVersion: ${apiVersionOf(resource)}`,
    `kind: ${kind}`,
    `metadata: ${metadata}`,
    ...type,
    "{{if .immutable}}immutable: true{{end}}",
    ...fields.map((field) => entries(field.name)),
  ];
  const text = lines.map((line) => `${line}{{"\\n"}}`).join("");
  // A copy that was changed after it was compared with the others gives nothing.
  return `{{if eq .metadata.resourceVersion "${resourceVersion}"}}${text}{{end}}`;
}

/** State of the namespace of a source that no longer exists. It may have to be created first. */
export type Home = "there" | "absent" | "terminating";

/** Creates a source anew from a copy of it. */
export function recreateSource(
  kind: ObjectKind,
  source: Ref,
  copy: Ref & { readonly resourceVersion: string },
  changes: AnnotationChanges,
  home: Home,
): string {
  const { namespace } = source;
  const first = {
    there: "",
    absent: `kubectl create namespace ${namespace} && `,
    terminating: `kubectl wait --for=delete namespace/${namespace} --timeout=10m && kubectl create namespace ${namespace} && `,
  }[home];
  const template = shellWord(templateOf(kind, source, copy.resourceVersion, changes));
  return `${first}${kubectlOn("get", kind, copy)} -o go-template=${template} | kubectl create -f -`;
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
