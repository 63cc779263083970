// Reads one object of a file as an API server would store it in an empty cluster. What an API server would
// refuse is a UsageError with file and line that quotes no value.
import { UsageError } from "../../controller/settings/config.ts";
import { KINDS, OBJECT_KINDS, type ObjectKind } from "../../controller/model/kinds.ts";
import { isRecord } from "../../kube/json.ts";
import { NAMESPACES } from "../../kube/rest/resource.ts";
import { isNamespaceName, isSecretName, refText, type Ref } from "../../text/names.ts";
import { isObjectOf } from "../files/file-objects.ts";

type Fields = Readonly<Record<string, unknown>>;

export type Placed = {
  readonly kind: ObjectKind | "Namespace";
  readonly ref: Ref;
  readonly object: Fields;
};

/** `namespace`: of an object that names none. Undefined for a kind that takes no part. */
export function placedOf(raw: Fields, where: string, namespace: string): Placed | undefined {
  if (isObjectOf(NAMESPACES, raw)) return { kind: "Namespace", ...namespaceOf(raw, where) };
  const kind = OBJECT_KINDS.find((each) => isObjectOf(KINDS[each].resource, raw));
  return kind && { kind, ...objectOfKind(kind, raw, where, namespace) };
}

type Read = { readonly ref: Ref; readonly object: Fields };

function namespaceOf(raw: Fields, where: string): Read {
  const metadata = metadataOf(raw, where);
  const name = nameOf(metadata, where);
  if (!isNamespaceName(name))
    throw new UsageError(`${where}: "${name}" is not the name of a namespace`);
  const ref = { namespace: "", name };
  return { ref, object: { ...raw, metadata: { ...identity(ref), ...metadata } } };
}

function objectOfKind(kind: ObjectKind, raw: Fields, where: string, otherwise: string): Read {
  const metadata = metadataOf(raw, where);
  const name = nameOf(metadata, where);
  if (!isSecretName(name)) throw new UsageError(`${where}: "${name}" is not the name of a ${kind}`);
  const { namespace = otherwise } = metadata;
  if (typeof namespace !== "string" || !isNamespaceName(namespace))
    throw new UsageError(`${where}: metadata.namespace of ${kind} ${name} is no namespace's name`);
  const ref = { namespace, name };
  const what = `${kind} ${refText(ref)}`;
  checkScalar(raw, "type", "string", `${where}: type of ${what} is no text; put it in quotes`);
  const immutable = `${where}: immutable of ${what} is neither true nor false`;
  checkScalar(raw, "immutable", "boolean", immutable);
  const maps = KINDS[kind].fields.map(
    (field) =>
      [field.name, textsOf(raw[field.name], `${where}: ${field.name} of ${what}`)] as const,
  );
  const payload: Record<string, Readonly<Record<string, string>>> = Object.fromEntries(maps);
  // Only Secrets have this field, for manual editing.
  if (kind === "Secret")
    payload["data"] = {
      ...payload["data"],
      ...encoded(textsOf(raw["stringData"], `${where}: stringData of ${what}`)),
    };
  const object = { ...raw, metadata: { ...identity(ref), ...metadata, namespace }, ...payload };
  return { ref, object };
}

function encoded(texts: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(texts).map(([key, value]) => [key, Buffer.from(value).toString("base64")]),
  );
}

function metadataOf(raw: Fields, where: string): Fields {
  const metadata = raw["metadata"];
  if (!isRecord(metadata)) throw new UsageError(`${where}: ${String(raw["kind"])} has no metadata`);
  for (const field of ["labels", "annotations"])
    textsOf(metadata[field], `${where}: metadata.${field} of ${String(metadata["name"])}`);
  return metadata;
}

function checkScalar(raw: Fields, field: string, type: "string" | "boolean", fault: string): void {
  const value = raw[field] ?? undefined;
  if (value !== undefined && typeof value !== type) throw new UsageError(fault);
}

function nameOf({ name }: Fields, where: string): string {
  if (typeof name === "string" && name !== "") return name;
  throw new UsageError(`${where}: metadata.name is missing`);
}

// Like the API server, it reads null as an empty text, and accepts no number and no bare true as one.
function textsOf(value: unknown, what: string): Readonly<Record<string, string>> {
  if (value === undefined || value === null) return {};
  if (!isRecord(value)) throw new UsageError(`${what} is no mapping`);
  const texts: [string, string][] = [];
  for (const [key, text] of Object.entries(value)) {
    if (typeof text !== "string" && text !== null)
      throw new UsageError(`${what}: ${key} is no text; put it in quotes`);
    texts.push([key, text ?? ""]);
  }
  return Object.fromEntries(texts);
}

const LONG_AGO = "1970-01-01T00:00:00Z";

// Fields that an API server would set. A dump of a cluster has its own.
export function identity(ref: Ref): Fields {
  return {
    uid: `file:${refText(ref)}`,
    resourceVersion: "1",
    creationTimestamp: LONG_AGO,
  };
}
