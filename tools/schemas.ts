// `npm run schemas`: writes manifests/schemas, by which editors and kubeconform check annotations and entries of the
// source list before anything is applied. Names come from the vocabulary, meanings from the table in
// docs/reference.md. The schemas find a wrong name and a wrong form; globs and selectors are parsed by `plan -f`.
// A test holds the files to be current.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  ANNOTATION_NAMES,
  annotationKey,
  annotationsOn,
  isMark,
  LIST_ANNOTATIONS,
  PREFIX,
  SOURCE_ANNOTATIONS,
  type AnnotationName,
} from "../src/controller/annotations/vocabulary.ts";
import { OBJECT_FIELDS } from "../src/controller/annotations/list-entry.ts";
import { wordsOf } from "./words.ts";

const ROOT = join(import.meta.dirname, "..");
export const FOLDER = join(ROOT, "manifests/schemas");
const DRAFT = "http://json-schema.org/draft-07/schema#";
/** NAMESPACE/NAME, as an object's own namespace and name may be written. */
const REF = "^ *[a-z0-9]([-a-z0-9]*[a-z0-9])?/[a-z0-9]([-.a-z0-9]*[a-z0-9])? *$";

type Form = { readonly enum: readonly string[] } | { readonly pattern: string };
const FORMS: Partial<Record<AnnotationName, Form>> = {
  match: { enum: ["all", "any"] },
  "on-delete": { enum: ["delete", "keep"] },
  paused: { enum: ["true", "false"] },
  from: { pattern: REF },
  adopt: { pattern: REF },
};
const UNDER_PREFIX = `^${PREFIX.replaceAll(".", String.raw`\.`)}`;
/** Every other value is a text with something in it. */
const TEXT: Form = { pattern: "\\S" };

/** The meaning of each annotation, as the reference says it. */
function meanings(): ReadonlyMap<string, string> {
  const rows = readFileSync(join(ROOT, "docs/reference.md"), "utf8").matchAll(
    /^\| `([a-z-]+)` +\|[^|]*\|[^|]*\| (.*?) +\|$/gm,
  );
  return new Map(
    Array.from(rows, ([, name = "", says = ""]) => [name, says.replaceAll(/[`\\]/g, "")]),
  );
}

/** The files of the folder, each by its name. */
export function schemas(): ReadonlyMap<string, string> {
  const said = meanings();
  const valueOf = (name: AnnotationName): object => {
    const description = said.get(name);
    if (description === undefined && !isMark(name))
      throw new Error(`docs/reference.md has no row for the annotation ${name}`);
    return { type: "string", ...(FORMS[name] ?? TEXT), ...(description && { description }) };
  };
  const annotations = (names: readonly AnnotationName[], note: string): object => ({
    type: "object",
    properties: {
      metadata: {
        type: "object",
        properties: {
          annotations: {
            type: "object",
            description: note,
            properties: Object.fromEntries(
              names.map((name) => [annotationKey(name), valueOf(name)]),
            ),
            // Without a lookahead, which Go's regular expressions do not have.
            propertyNames: {
              anyOf: [{ enum: names.map(annotationKey) }, { not: { pattern: UNDER_PREFIX } }],
            },
          },
        },
      },
    },
  });
  const onObjects = ANNOTATION_NAMES.filter(
    (name) => !annotationsOn("namespace").includes(name) || annotationsOn("source").includes(name),
  );
  const about = "Annotations under secretcast.io/, by the secretcast of this repository.";
  const entry = {
    $schema: DRAFT,
    title: "An entry of the source list",
    type: "object",
    properties: {
      ...Object.fromEntries(
        Object.entries(OBJECT_FIELDS).map(([field, kind]) => [
          field,
          { type: "string", pattern: REF, description: `NAMESPACE/NAME of a ${kind}.` },
        ]),
      ),
      ...Object.fromEntries(
        SOURCE_ANNOTATIONS.map((name) => [
          name,
          LIST_ANNOTATIONS.includes(name)
            ? {
                ...withoutType(valueOf(name)),
                type: ["string", "array"],
                items: { type: "string" },
              }
            : valueOf(name),
        ]),
      ),
    },
    additionalProperties: false,
    oneOf: Object.keys(OBJECT_FIELDS).map((field) => ({ required: [field] })),
    anyOf: ["to", "to-selector", "allow", "allow-selector"].map((field) => ({ required: [field] })),
  };
  const files: Readonly<Record<string, object>> = {
    "source-list-entry.json": entry,
    // The names are those that kubeconform asks a schema location for.
    "secret-v1.json": { $schema: DRAFT, title: "Secret", ...annotations(onObjects, about) },
    "configmap-v1.json": { $schema: DRAFT, title: "ConfigMap", ...annotations(onObjects, about) },
    "namespace-v1.json": {
      $schema: DRAFT,
      title: "Namespace",
      ...annotations(annotationsOn("namespace"), about),
    },
  };
  return new Map(
    Object.entries(files).map(([name, schema]) => [name, `${JSON.stringify(schema, null, 2)}\n`]),
  );
}

function withoutType(value: object): object {
  return Object.fromEntries(Object.entries(value).filter(([key]) => key !== "type"));
}

if (import.meta.main) {
  wordsOf(import.meta.filename, { options: {} });
  mkdirSync(FOLDER, { recursive: true });
  for (const [name, text] of schemas()) writeFileSync(join(FOLDER, name), text);
}
