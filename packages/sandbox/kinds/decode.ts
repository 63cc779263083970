// Decodes a request body into an object of a known shape. Types are checked as Go's decoder does, bytes
// become canonical base64, and null members count as absent. Fields that the kind does not have are
// dropped, reported as a warning or refused, depending on the fieldValidation parameter.
import { asObject, asText, isList, isObject } from "../storage/object.ts";
import type { Json, JsonObject, StoredObject, Metadata } from "../storage/object.ts";
import { groupVersion, resources, toStored } from "./resources.ts";
import type { ServedResource } from "./resources.ts";
import { Mismatch, goName, mismatch, readScalar } from "./scalars.ts";
import { metadataShape } from "./schema.ts";
import type { Shape } from "./schema.ts";
import { badRequest, quoted } from "../storage/status.ts";

export type Decoded = { readonly object: StoredObject; readonly unknown: readonly string[] };

/** Reads `body` as an object of `resource`. Throws a 400 when it is anything else. */
export function decode(resource: ServedResource, body: Json): Decoded {
  const expected = groupVersion(resource);
  if (!isObject(body))
    throw unrecognized(
      resource,
      `json: cannot unmarshal ${goName(body)} into Go value of type struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }`,
    );
  checkKind(resource, expected, body);
  const unknown: string[] = [];
  try {
    const fields: Record<string, Shape> = {
      ...resource.fields,
      apiVersion: "string",
      kind: "string",
      metadata: metadataShape,
    };
    // Custom resources are kept as JSON, and not as Go's types.
    const reading = { kind: resource.kind, unknown, keepsEmpty: resource.schema !== undefined };
    const clean = asObject(read(body, { fields }, reading, ""));
    const object = {
      ...clean,
      apiVersion: expected,
      kind: resource.kind,
      metadata: metadataOf(asObject(clean["metadata"])),
    };
    return { object: toStored(resource, object), unknown };
  } catch (error) {
    if (error instanceof Mismatch) throw unhandled(resource, error.message);
    throw error;
  }
}

/** The 400 for a body whose kind cannot even be read. */
export function unrecognized(resource: { readonly kind: string }, why: string): Error {
  return badRequest(
    `the object provided is unrecognized (must be of type ${resource.kind}): couldn't get version/kind; json parse error: ${why}`,
  );
}

/** The refusal of a strict request, or undefined when all fields are known. */
export function strictError(
  resource: ServedResource,
  unknown: readonly string[],
): Error | undefined {
  if (unknown.length === 0) return undefined;
  return unhandled(resource, `strict decoding error: ${unknown.join(", ")}`);
}

/** The 400 for an object that is not one of `resource`. `given`: its own kind and version. */
function unhandled(
  { kind, version }: ServedResource,
  why: string,
  given: { readonly kind: string; readonly version: string } = { kind, version },
): Error {
  return badRequest(
    `${given.kind} in version ${quoted(given.version)} cannot be handled as a ${kind}: ${why}`,
  );
}

/** Location of the real server's registry of kinds, which is part of its messages. */
const scheme = 'in scheme "pkg/runtime/scheme.go:111"';

/** Why an object of a kind that the real server does not know, or not here, is refused. */
export function unregistered(kind: string, apiVersion: string): string {
  return `no kind ${quoted(kind)} is registered for version ${quoted(apiVersion)} ${scheme}`;
}

function checkKind(resource: ServedResource, expected: string, body: JsonObject): void {
  const kind = asText(body["kind"]) || resource.kind;
  const apiVersion = asText(body["apiVersion"]) || expected;
  if (kind === resource.kind && apiVersion === expected) return;
  const known = resources.some((row) => row.kind === kind && groupVersion(row) === apiVersion);
  const why = known
    ? `converting (v1.${kind}) to (core.${resource.kind}): unknown conversion`
    : unregistered(kind, apiVersion);
  throw unhandled(resource, why, { kind, version: apiVersion });
}

function metadataOf(read: JsonObject): Metadata {
  // Kubernetes no longer uses selfLink.
  const { name, uid, resourceVersion, creationTimestamp, selfLink: _, ...rest } = read;
  return {
    // `read` has been checked against the shape of metadata.
    ...(rest as Partial<Metadata>),
    name: asText(name),
    uid: asText(uid),
    resourceVersion: asText(resourceVersion),
    creationTimestamp: asText(creationTimestamp),
  };
}

type Reading = {
  readonly kind: string;
  readonly unknown: string[];
  readonly keepsEmpty: boolean;
};

function read(value: Json, shape: Shape, reading: Reading, path: string): Json {
  if (shape === "any") return value;
  if (typeof shape === "string") return readScalar(value, shape, goField(reading, path));
  if ("list" in shape) {
    if (!isList(value)) throw mismatch(value, goField(reading, path), shape);
    return value.map((item, at) => read(item, shape.list, reading, `${path}[${at}]`));
  }
  if (!isObject(value)) throw mismatch(value, goField(reading, path), shape);
  if ("map" in shape) return readMap(value, shape.map, reading, path);
  const out: Record<string, Json> = {};
  for (const [field, member] of Object.entries(value)) {
    const where = path === "" ? field : `${path}.${field}`;
    const known = Object.hasOwn(shape.fields, field) ? shape.fields[field] : undefined;
    if (known === undefined) reading.unknown.push(`unknown field ${quoted(where)}`);
    else if (member !== undefined && member !== null) {
      const clean = read(member, known, reading, where);
      if (reading.keepsEmpty || !isEmpty(clean, known)) out[field] = clean;
    }
  }
  return out;
}

// Maps and lists without a member are not set.
function isEmpty(value: Json, shape: Shape): boolean {
  if (typeof shape === "string" || "fields" in shape) return false;
  return isList(value) ? value.length === 0 : isObject(value) && Object.keys(value).length === 0;
}

// A null member of a map is Go's zero value: the key stays.
function readMap(value: JsonObject, shape: Shape, reading: Reading, path: string): JsonObject {
  const members = Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .map(([key, member]) => [key, read(member ?? "", shape, reading, path)]);
  return Object.fromEntries(members);
}

/** The field as Go names it: the struct it is in, then its whole path. */
function goField(reading: Reading, path: string): string {
  const struct = path.startsWith("metadata.")
    ? "ObjectMeta"
    : path.startsWith("spec.")
      ? `${reading.kind}Spec`
      : reading.kind;
  return `${struct}.${path.replace(/\[\d+\]/g, "")}`;
}
