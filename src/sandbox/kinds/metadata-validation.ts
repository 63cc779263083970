// The rules for metadata: names, labels, annotations, namespaces, finalizers, each with the message of the
// real server. Rules for one kind only are in strategies.ts.
import { asObject, asText, isList } from "../storage/object.ts";
import type { Json, StoredObject, Metadata, JsonStrings } from "../storage/object.ts";
import { forbiddenField, invalidValue, required, tooLong } from "../storage/status.ts";
import type { StatusCause } from "../storage/status.ts";

/** Limit for keys and values of all annotations together, in bytes (apimachinery, objectmeta.go). */
const annotationBytes = 256 * 1024;

const labelFmt = "[a-z0-9]([-a-z0-9]*[a-z0-9])?";
const subdomainFmt = `${labelFmt}(\\.${labelFmt})*`;
const keyFmt = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]";
const dataKeyFmt = "[-._a-zA-Z0-9]+";

const patterns = {
  label: new RegExp(`^${labelFmt}$`),
  subdomain: new RegExp(`^${subdomainFmt}$`),
  key: new RegExp(`^${keyFmt}$`),
  value: new RegExp(`^(${keyFmt})?$`),
  dataKey: new RegExp(`^${dataKeyFmt}$`),
};

function mustMatch(what: string, format: string, ...examples: readonly string[]): string {
  const all = examples.map((example) => `'${example}', `).join(" or ");
  return `${what} (e.g. ${all}regex used for validation is '${format}')`;
}

function tooManyCharacters(most: number): string {
  return `must be no more than ${most} characters`;
}

// Names are counted in characters, labels in bytes.
const tooManyBytes = "must be no more than 63 bytes";

export type NameRule = (name: string) => readonly string[];

export function subdomainErrors(name: string): string[] {
  const errors = name.length > 253 ? [tooManyCharacters(253)] : [];
  if (!patterns.subdomain.test(name))
    errors.push(
      mustMatch(
        "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character",
        subdomainFmt,
        "example.com",
      ),
    );
  return errors;
}

export function labelErrors(name: string): string[] {
  const errors = name.length > 63 ? [tooManyCharacters(63)] : [];
  if (patterns.label.test(name)) return errors;
  if (patterns.subdomain.test(name)) return [...errors, "must not contain dots"];
  return [
    ...errors,
    mustMatch(
      "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character",
      labelFmt,
      "my-name",
      "123-abc",
    ),
  ];
}

/** The only rule for Event names is that they can be in a path. */
export function pathSegmentErrors(name: string): string[] {
  if (name === "." || name === "..") return [`may not be '${name}'`];
  return ["/", "%"]
    .filter((mark) => name.includes(mark))
    .map((mark) => `may not contain '${mark}'`);
}

export function dataKeyErrors(key: string): string[] {
  const errors = key.length > 253 ? [tooManyCharacters(253)] : [];
  if (!patterns.dataKey.test(key))
    errors.push(
      mustMatch(
        "a valid config key must consist of alphanumeric characters, '-', '_' or '.'",
        dataKeyFmt,
        "key.name",
        "KEY_NAME",
        "key-name",
      ),
    );
  if (key === "." || key === "..") return [...errors, `must not be '${key}'`];
  return key.startsWith("..") ? [...errors, "must not start with '..'"] : errors;
}

const keyRule = mustMatch(
  "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
  keyFmt,
  "MyName",
  "my.name",
  "123-abc",
);

/** The rule for keys of labels and annotations, and for finalizers. */
export function qualifiedNameErrors(key: string): string[] {
  const parts = key.split("/");
  if (parts.length > 2)
    return [
      `a valid label key ${keyRule} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`,
    ];
  const name = parts.at(-1) ?? "";
  const prefix = parts.length === 2 ? parts[0] : undefined;
  const errors: string[] = [];
  if (prefix === "") errors.push("prefix part must be non-empty");
  else if (prefix !== undefined)
    errors.push(...subdomainErrors(prefix).map((error) => `prefix part ${error}`));
  if (name === "") errors.push("name part must be non-empty");
  else if (name.length > 63) errors.push(`name part ${tooManyBytes}`);
  if (!patterns.key.test(name)) errors.push(`name part ${keyRule}`);
  return errors;
}

export function labelValueErrors(value: string): string[] {
  const errors = Buffer.byteLength(value) > 63 ? [tooManyBytes] : [];
  if (!patterns.value.test(value))
    errors.push(
      mustMatch(
        "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
        `(${keyFmt})?`,
        "MyValue",
        "my_value",
        "12345",
      ),
    );
  return errors;
}

/** What is wrong with the metadata of an object that is to be stored. */
export function metadataCauses(object: StoredObject, nameRule: NameRule): StatusCause[] {
  const { metadata } = object;
  return [
    ...generateNameCauses(metadata, nameRule),
    ...(metadata.name === ""
      ? [required("metadata.name", "name or generateName is required")]
      : nameRule(metadata.name).map((why) => invalidValue("metadata.name", metadata.name, why))),
    ...labelCauses(metadata.labels ?? {}),
    ...annotationCauses(metadata.annotations ?? {}),
    ...ownerCauses(metadata["ownerReferences"]),
    ...finalizerCauses(metadata.finalizers ?? []),
  ];
}

function ownerCauses(references: Json | undefined): StatusCause[] {
  const owners = isList(references) ? references.map(asObject) : [];
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
      qualifiedNameErrors(finalizer).map((why) =>
        invalidValue("metadata.finalizers", finalizer, why),
      ),
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

// What is generated is appended, so the prefix may end in what a name must not end in.
function generateNameCauses(metadata: Metadata, nameRule: NameRule): StatusCause[] {
  const prefix = metadata.generateName ?? "";
  if (prefix === "") return [];
  return nameRule(prefix.replace(/-+$/, "a")).map((why) =>
    invalidValue("metadata.generateName", prefix, why),
  );
}

function labelCauses(labels: JsonStrings): StatusCause[] {
  return sorted(labels).flatMap(([key, value]) => [
    ...qualifiedNameErrors(key).map((why) => invalidValue("metadata.labels", key, why)),
    ...labelValueErrors(value).map((why) => invalidValue("metadata.labels", value, why)),
  ]);
}

function annotationCauses(annotations: JsonStrings): StatusCause[] {
  const entries = sorted(annotations);
  let bytes = 0;
  for (const [key, value] of entries) bytes += Buffer.byteLength(key) + Buffer.byteLength(value);
  return [
    ...entries.flatMap(([key]) =>
      qualifiedNameErrors(key.toLowerCase()).map((why) =>
        invalidValue("metadata.annotations", key, why),
      ),
    ),
    ...(bytes > annotationBytes ? [tooLong("metadata.annotations", annotationBytes)] : []),
  ];
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
