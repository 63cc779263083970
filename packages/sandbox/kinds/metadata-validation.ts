// The rules for metadata: names, labels, annotations, namespaces, finalizers, each with the message of the
// real server. Rules for one kind only are in strategies.ts.
import { asText } from "../storage/object.ts";
import type { JsonObject, StoredObject, JsonStrings } from "../storage/object.ts";
import {
  causesOf,
  forbiddenField,
  invalidValue,
  invalidValues,
  required,
  tooLong,
} from "../storage/status.ts";
import type { StatusCause } from "../storage/status.ts";

/** Limit for keys and values of all annotations together, in bytes (apimachinery, objectmeta.go). */
const annotationBytes = 256 * 1024;

const labelFmt = "[a-z0-9]([-a-z0-9]*[a-z0-9])?";
const keyFmt = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]";

/** What a text must look like, and the real server's message for one that does not. */
class Format {
  readonly message: string;
  readonly #pattern: RegExp;

  constructor(what: string, source: string, ...examples: readonly string[]) {
    this.#pattern = new RegExp(`^${source}$`);
    const all = examples.map((example) => `'${example}', `).join(" or ");
    this.message = `${what} (e.g. ${all}regex used for validation is '${source}')`;
  }

  fits(text: string): boolean {
    return this.#pattern.test(text);
  }

  errors(text: string): readonly string[] {
    return this.fits(text) ? [] : [this.message];
  }
}

const LABEL = new Format(
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character",
  labelFmt,
  "my-name",
  "123-abc",
);
const SUBDOMAIN = new Format(
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character",
  `${labelFmt}(\\.${labelFmt})*`,
  "example.com",
);
const DATA_KEY = new Format(
  "a valid config key must consist of alphanumeric characters, '-', '_' or '.'",
  "[-._a-zA-Z0-9]+",
  "key.name",
  "KEY_NAME",
  "key-name",
);
const KEY = new Format(
  "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
  keyFmt,
  "MyName",
  "my.name",
  "123-abc",
);
const LABEL_VALUE = new Format(
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
  `(${keyFmt})?`,
  "MyValue",
  "my_value",
  "12345",
);

function lengthErrors(text: string, most: number): readonly string[] {
  return text.length > most ? [`must be no more than ${most} characters`] : [];
}

// Names are counted in characters, labels in bytes.
const tooManyBytes = "must be no more than 63 bytes";

export type NameRule = (name: string) => readonly string[];

export function subdomainErrors(name: string): readonly string[] {
  return [...lengthErrors(name, 253), ...SUBDOMAIN.errors(name)];
}

export function labelErrors(name: string): readonly string[] {
  const hasDots = !LABEL.fits(name) && SUBDOMAIN.fits(name);
  return [...lengthErrors(name, 63), ...(hasDots ? ["must not contain dots"] : LABEL.errors(name))];
}

/** The only rule for Event names is that they can be in a path. */
export function pathSegmentErrors(name: string): readonly string[] {
  if (name === "." || name === "..") return [`may not be '${name}'`];
  return ["/", "%"]
    .filter((mark) => name.includes(mark))
    .map((mark) => `may not contain '${mark}'`);
}

export function dataKeyErrors(key: string): readonly string[] {
  const errors = [...lengthErrors(key, 253), ...DATA_KEY.errors(key)];
  if (key === "." || key === "..") return [...errors, `must not be '${key}'`];
  return key.startsWith("..") ? [...errors, "must not start with '..'"] : errors;
}

/** The rule for keys of labels and annotations, and for finalizers. */
export function qualifiedNameErrors(key: string): readonly string[] {
  const parts = key.split("/");
  if (parts.length > 2)
    return [
      `a valid label key ${KEY.message} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`,
    ];
  const name = parts.at(-1) ?? "";
  const prefix = parts.length === 2 ? parts[0] : undefined;
  const errors: string[] = [];
  if (prefix === "") errors.push("prefix part must be non-empty");
  else if (prefix !== undefined)
    errors.push(...subdomainErrors(prefix).map((error) => `prefix part ${error}`));
  if (name === "") errors.push("name part must be non-empty");
  else if (name.length > 63) errors.push(`name part ${tooManyBytes}`);
  return [...errors, ...KEY.errors(name).map((error) => `name part ${error}`)];
}

export function labelValueErrors(value: string): readonly string[] {
  const errors = Buffer.byteLength(value) > 63 ? [tooManyBytes] : [];
  return [...errors, ...LABEL_VALUE.errors(value)];
}

/** What is wrong with the metadata of an object that is to be stored. */
export function metadataCauses(object: StoredObject, nameRule: NameRule): StatusCause[] {
  const { name, generateName = "", labels, annotations } = object.metadata;
  const { ownerReferences = [], finalizers = [] } = object.metadata;
  // What is generated is appended, so the prefix may end in what a name must not end in.
  const prefixErrors = generateName === "" ? [] : nameRule(generateName.replace(/-+$/, "a"));
  return causesOf(
    invalidValues("metadata.generateName", generateName, prefixErrors),
    name === ""
      ? required("metadata.name", "name or generateName is required")
      : invalidValues("metadata.name", name, nameRule(name)),
    labelCauses(labels ?? {}),
    annotationCauses(annotations ?? {}),
    ownerCauses(ownerReferences),
    finalizerCauses(finalizers),
  );
}

function ownerCauses(owners: readonly JsonObject[]): StatusCause[] {
  return owners.flatMap((owner, at) =>
    ["apiVersion", "kind", "name", "uid"].flatMap((name) => {
      const field = `metadata.ownerReferences[${at}].${name}`;
      const text = asText(owner[name]);
      if (text === "") return [required(field, "must not be empty")];
      if (name !== "apiVersion" || /^([^/]*\/)?[^/]+$/.test(text)) return [];
      return [invalidValue(field, text, "must be <group>/<version> or <version>")];
    }),
  );
}

/** The finalizers that need no domain. */
const standardFinalizers = ["kubernetes", "orphan", "foregroundDeletion"];
const unqualified = "name is neither a standard finalizer name nor is it fully qualified";

function finalizerCauses(finalizers: readonly string[]): StatusCause[] {
  return [
    ...finalizers.flatMap((finalizer) =>
      invalidValues("metadata.finalizers", finalizer, qualifiedNameErrors(finalizer)),
    ),
    ...finalizers.flatMap((finalizer, at) =>
      finalizer.includes("/") || standardFinalizers.includes(finalizer)
        ? []
        : [invalidValue(`metadata.finalizers[${at}]`, finalizer, unqualified)],
    ),
  ];
}

function sorted(map: JsonStrings): [string, string][] {
  return Object.entries(map).toSorted(([a], [b]) => (a < b ? -1 : 1));
}

function labelCauses(labels: JsonStrings): StatusCause[] {
  return sorted(labels).flatMap(([key, value]) => [
    ...invalidValues("metadata.labels", key, qualifiedNameErrors(key)),
    ...invalidValues("metadata.labels", value, labelValueErrors(value)),
  ]);
}

function annotationCauses(annotations: JsonStrings): StatusCause[] {
  const entries = sorted(annotations);
  let bytes = 0;
  for (const [key, value] of entries) bytes += Buffer.byteLength(key) + Buffer.byteLength(value);
  return causesOf(
    entries.flatMap(([key]) =>
      invalidValues("metadata.annotations", key, qualifiedNameErrors(key.toLowerCase())),
    ),
    bytes > annotationBytes && tooLong("metadata.annotations", annotationBytes),
  );
}

/** What an update may not do to metadata. */
export function metadataUpdateCauses(next: StoredObject, before: StoredObject): StatusCause[] {
  if (before.metadata.deletionTimestamp === undefined) return [];
  const had = before.metadata.finalizers ?? [];
  const added = (next.metadata.finalizers ?? []).filter((finalizer) => !had.includes(finalizer));
  if (added.length === 0) return [];
  const why = `no new finalizers can be added if the object is being deleted, found new finalizers []string{${added.map((word) => JSON.stringify(word)).join(", ")}}`;
  return [forbiddenField("metadata.finalizers", why)];
}
