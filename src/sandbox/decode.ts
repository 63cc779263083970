// From a request body to an object of a known shape. Types are checked as Go's decoder does, bytes
// are brought to canonical base64, null members count as absent, and fields that the kind does not
// have are dropped, reported as a warning or refused, as the fieldValidation parameter asks.
import { asObject, asText, isList, isObject } from "./object.ts";
import type { Json, JsonObject, KubeObject, Metadata } from "./object.ts";
import { groupVersion, toStored } from "./resources.ts";
import type { Resource } from "./resources.ts";
import { metadataShape } from "./shape.ts";
import type { Shape } from "./shape.ts";
import { badRequest, quoted } from "./status.ts";

export type Decoded = { readonly object: KubeObject; readonly unknown: readonly string[] };

class Mismatch extends Error {}

/** Reads `body` as an object of `resource`; throws a 400 when it is none. */
export function decode(resource: Resource, body: Json): Decoded {
  const expected = groupVersion(resource);
  const refuse = (why: string) =>
    badRequest(
      `${resource.kind} in version ${quoted(resource.version)} cannot be handled as a ${resource.kind}: ${why}`,
    );
  if (!isObject(body))
    throw refuse(
      `json: cannot unmarshal ${goName(body)} into Go value of type v1.${resource.kind}`,
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
    const clean = asObject(read(body, { fields }, { kind: resource.kind, unknown }, ""));
    const object = {
      ...clean,
      apiVersion: expected,
      kind: resource.kind,
      metadata: metadataOf(asObject(clean["metadata"])),
    };
    return { object: toStored(resource, object), unknown };
  } catch (error) {
    if (error instanceof Mismatch) throw refuse(error.message);
    throw error;
  }
}

/** The refusal of a strict request, or undefined when all fields are known. */
export function strictError(resource: Resource, unknown: readonly string[]): Error | undefined {
  if (unknown.length === 0) return undefined;
  const { kind, version } = resource;
  return badRequest(
    `${kind} in version ${quoted(version)} cannot be handled as a ${kind}: strict decoding error: ${unknown.join(", ")}`,
  );
}

function checkKind(resource: Resource, expected: string, body: JsonObject): void {
  const kind = body["kind"] ?? resource.kind;
  const apiVersion = body["apiVersion"] ?? expected;
  if (kind !== resource.kind)
    throw badRequest(
      `the object provided is unrecognized (must be of type ${resource.kind}): no kind ${quoted(asText(kind))} is registered for version ${quoted(asText(apiVersion))}`,
    );
  if (apiVersion !== expected)
    throw badRequest(
      `the API version in the data (${asText(apiVersion)}) does not match the expected API version (${expected})`,
    );
}

function metadataOf(read: JsonObject): Metadata {
  const { name, uid, resourceVersion, creationTimestamp, ...given } = read;
  // Nothing that is served counts generations, and nothing links to itself any more.
  const { selfLink: _, generation: __, ...rest } = given;
  return {
    // `read` has been checked against the shape of metadata.
    ...(rest as Partial<Metadata>),
    name: asText(name),
    uid: asText(uid),
    resourceVersion: asText(resourceVersion),
    creationTimestamp: asText(creationTimestamp),
  };
}

type Reading = { readonly kind: string; readonly unknown: string[] };

function read(value: Json, shape: Shape, reading: Reading, path: string): Json {
  if (shape === "any") return value;
  if (typeof shape === "string") return readScalar(value, shape, reading, path);
  if ("list" in shape) {
    if (!isList(value)) throw mismatch(value, reading, path, "[]");
    return value.map((item, at) => read(item, shape.list, reading, `${path}[${at}]`));
  }
  if (!isObject(value)) throw mismatch(value, reading, path, "map[string]");
  if ("map" in shape) return readMap(value, shape.map, reading, path);
  const out: Record<string, Json> = {};
  for (const [field, member] of Object.entries(value)) {
    const where = path === "" ? field : `${path}.${field}`;
    const known = Object.hasOwn(shape.fields, field) ? shape.fields[field] : undefined;
    if (known === undefined) reading.unknown.push(`unknown field ${quoted(where)}`);
    else if (member !== undefined && member !== null)
      out[field] = read(member, known, reading, where);
  }
  return out;
}

// A null member of a map is Go's zero value: the key stays.
function readMap(value: JsonObject, shape: Shape, reading: Reading, path: string): JsonObject {
  const members = Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .map(([key, member]) => [key, read(member ?? "", shape, reading, path)]);
  return Object.fromEntries(members);
}

type Scalar = Extract<Shape, string>;

const goTypes: Readonly<Record<Exclude<Scalar, "any">, string>> = {
  string: "string",
  bytes: "[]uint8",
  boolean: "bool",
  integer: "int32",
  time: "time.Time",
  microTime: "time.Time",
};

function readScalar(
  value: Json,
  shape: Exclude<Scalar, "any">,
  reading: Reading,
  path: string,
): Json {
  const wrong = () => mismatch(value, reading, path, goTypes[shape]);
  if (shape === "boolean" || shape === "integer") {
    const fits = shape === "boolean" ? typeof value === "boolean" : Number.isInteger(value);
    if (!fits) throw wrong();
    return value;
  }
  if (typeof value !== "string") throw wrong();
  if (shape === "bytes") return canonicalBase64(value);
  if (shape === "time")
    return readTime(
      value,
      /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/,
      "2006-01-02T15:04:05Z07:00",
    );
  if (shape === "microTime")
    return readTime(
      value,
      /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}(Z|[+-]\d\d:\d\d)$/,
      "2006-01-02T15:04:05.000000Z07:00",
    );
  return value;
}

function readTime(value: string, pattern: RegExp, layout: string): string {
  if (pattern.test(value) && !Number.isNaN(Date.parse(value))) return value;
  throw new Mismatch(`parsing time ${quoted(value)} as ${quoted(layout)}: cannot parse it`);
}

function mismatch(value: Json, reading: Reading, path: string, goType: string): Mismatch {
  const field = path.replace(/\[\d+\]/g, "");
  return new Mismatch(
    `json: cannot unmarshal ${goName(value)} into Go struct field ${reading.kind}.${field} of type ${goType}`,
  );
}

function goName(value: Json): string {
  if (isList(value)) return "array";
  if (isObject(value)) return "object";
  return typeof value === "boolean" ? "bool" : typeof value;
}

/** Standard base64 with padding, line breaks allowed; throws what Go says of anything else. */
function canonicalBase64(text: string): string {
  const compact = text.replace(/[\r\n]/g, "");
  const padding = compact.endsWith("==") ? 2 : Number(compact.endsWith("="));
  const body = compact.slice(0, compact.length - padding);
  const bad = body.search(/[^A-Za-z0-9+/]/);
  const whole = compact.length % 4 === 0;
  if (bad < 0 && whole) return Buffer.from(compact, "base64").toString("base64");
  const at = bad >= 0 ? bad : compact.length - (compact.length % 4);
  throw new Mismatch(`illegal base64 data at input byte ${at}`);
}
