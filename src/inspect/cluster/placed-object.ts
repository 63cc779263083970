// Reads one object of a file as an API server would store it in an empty cluster. What an API server would
// refuse is a UsageError with file and line that quotes no value.
import { UsageError } from "../../controller/settings/config.ts";
import { KINDS, OBJECT_KINDS, type ObjectKind } from "../../controller/model/kinds.ts";
import { isRecord } from "../../../packages/kube/json.ts";
import { NAMESPACES } from "../../../packages/kube/rest/resource.ts";
import { isNamespaceName, isSecretName, refText, type Ref } from "../../text/names.ts";
import {
  labelErrors,
  metadataCauses,
  subdomainErrors,
} from "../../../packages/sandbox/kinds/metadata-validation.ts";
import { configMapCauses, secretCauses } from "../../../packages/sandbox/kinds/secrets.ts";
import type { StoredObject } from "../../../packages/sandbox/storage/object.ts";
import { isObjectOf } from "../files/file-objects.ts";

type Fields = Readonly<Record<string, unknown>>;

export type Placed = {
  readonly kind: ObjectKind | "Namespace";
  readonly ref: Ref;
  readonly object: Fields;
};

/**
 * `namespace`: of an object that names none. Undefined when nothing says it, which is an error. The result is
 * undefined for a kind that takes no part.
 */
export function placedOf(
  raw: Fields,
  where: string,
  namespace: string | undefined,
): Placed | undefined {
  if (isObjectOf(NAMESPACES, raw)) return { kind: "Namespace", ...namespaceOf(raw, where) };
  const kind = OBJECT_KINDS.find((each) => isObjectOf(KINDS[each].resource, raw));
  return kind && { kind, ...objectOfKind(kind, raw, where, namespace) };
}

/** What is wrong with an object whose place is not known. */
export const NO_NAMESPACE =
  "names no namespace, and no kustomization, Flux or Argo CD object in the files sets one: pass -n NAMESPACE";

type Read = { readonly ref: Ref; readonly object: Fields };

function namespaceOf(raw: Fields, where: string): Read {
  const metadata = metadataOf(raw, where);
  const name = nameOf(metadata, where);
  if (!isNamespaceName(name))
    throw new UsageError(`${where}: "${name}" is not the name of a namespace`);
  const ref = { namespace: "", name };
  const labels = { ...objectOf(metadata["labels"]), ...namespaceLabels(name) };
  return { ref, object: { ...raw, metadata: { ...identity(ref), ...metadata, labels } } };
}

function objectOfKind(
  kind: ObjectKind,
  raw: Fields,
  where: string,
  otherwise: string | undefined,
): Read {
  const metadata = metadataOf(raw, where);
  const name = nameOf(metadata, where);
  if (!isSecretName(name)) throw new UsageError(`${where}: "${name}" is not the name of a ${kind}`);
  const given = metadata["namespace"] ?? otherwise;
  const namespace = given ?? "default";
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
  if (given === undefined) throw new UsageError(`${where}: ${kind} ${name} ${NO_NAMESPACE}`);
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
  if (name === undefined || name === null || name === "")
    throw new UsageError(`${where}: metadata.name is missing`);
  throw new UsageError(`${where}: metadata.name is no text; put it in quotes`);
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

/** The label that the API server gives to each Namespace. */
export function namespaceLabels(name: string): Readonly<Record<string, string>> {
  return { "kubernetes.io/metadata.name": name };
}

/**
 * Why an API server refuses the content of an object. Undefined when it accepts it. A value that SOPS has
 * encrypted is not the one that is stored.
 */
export function contentFault({ kind, ref, object }: Placed, where: string): string | undefined {
  if (isRecord(object["sops"])) return undefined;
  const fault = kind === "Secret" ? encodingFault(object["data"]) : undefined;
  const [cause] = fault === undefined ? causesIn(kind, object) : [fault];
  if (cause === undefined) return undefined;
  const place = kind === "Namespace" ? ref.name : refText(ref);
  // The server adds an example and its regular expression.
  const [message] = cause.message.split(" (e.g.");
  return `${where}: ${kind} ${place}: ${cause.field}: ${message}`;
}

type Cause = { readonly field: string; readonly message: string };

function causesIn(kind: Placed["kind"], object: Fields): readonly Cause[] {
  const { metadata } = object;
  if (!isRecord(metadata)) return [];
  const { name, namespace, labels, annotations } = metadata;
  const stored = {
    ...object,
    metadata: { ...metadata, name: String(name), namespace, labels, annotations },
  } as StoredObject;
  const rule = kind === "Namespace" ? labelErrors : subdomainErrors;
  return [
    ...metadataCauses(stored, rule),
    ...(kind === "Secret" ? secretCauses(stored, undefined) : []),
    ...(kind === "ConfigMap" ? configMapCauses(stored, undefined) : []),
  ];
}

/** Go reads base64 with padding, and ignores line breaks. */
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

function encodingFault(data: unknown): Cause | undefined {
  for (const [key, value] of Object.entries(objectOf(data))) {
    if (typeof value === "string" && !BASE64.test(value.replaceAll(/[\r\n]/g, "")))
      return { field: `data[${key}]`, message: "is not base64" };
  }
  return undefined;
}

function objectOf(value: unknown): Fields {
  return isRecord(value) ? value : {};
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
