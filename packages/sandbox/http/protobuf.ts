// Decodes Kubernetes protobuf bodies, which kubectl sends when it creates a Secret or a Namespace itself,
// into the JSON that the sandbox uses. Only requests use it. Answers are always JSON. Types come from the
// shapes, which have their fields in the order of their numbers.
import { isObject, parseJsonText } from "../storage/object.ts";
import type { Json, JsonObject } from "../storage/object.ts";
import { groupVersion, resources } from "../kinds/resources.ts";
import { metadataShape, stringFields } from "../kinds/schema.ts";
import type { Shape } from "../kinds/schema.ts";
import { badRequest, unsupportedMedia } from "../storage/status.ts";

export const protobufType = "application/vnd.kubernetes.protobuf";

/** The prefix of every message: "k8s" and a zero. */
const magic = Buffer.from([0x6b, 0x38, 0x73, 0x00]);

const selectorAttributes: Shape = {
  fields: {
    rawSelector: "string",
    requirements: {
      list: { fields: { ...stringFields("key", "operator"), values: { list: "string" } } },
    },
  },
};

const deleteOptions: Shape = {
  fields: {
    gracePeriodSeconds: "integer",
    preconditions: { fields: stringFields("uid", "resourceVersion") },
    orphanDependents: "boolean",
    propagationPolicy: "string",
    dryRun: { list: "string" },
  },
};

const accessReview: Shape = {
  fields: {
    metadata: metadataShape,
    spec: {
      fields: {
        resourceAttributes: {
          fields: {
            ...stringFields(
              "namespace",
              "verb",
              "group",
              "version",
              "resource",
              "subresource",
              "name",
            ),
            fieldSelector: selectorAttributes,
            labelSelector: selectorAttributes,
          },
        },
        nonResourceAttributes: { fields: stringFields("path", "verb") },
      },
    },
  },
};

/** Kinds that are read and never stored. DeleteOptions have the version of every group. */
const unstored: readonly (readonly [kind: string, apiVersion: RegExp, shape: Shape])[] = [
  ["DeleteOptions", /^/, deleteOptions],
  ["SelfSubjectAccessReview", /^authorization\.k8s\.io\/v1$/, accessReview],
];

function shapeOf(apiVersion: string, kind: string): Shape | undefined {
  const [, , other] = unstored.find(([name, of]) => name === kind && of.test(apiVersion)) ?? [];
  if (other) return other;
  const row = resources.find((each) => each.kind === kind && groupVersion(each) === apiVersion);
  return row && { fields: { metadata: metadataShape, ...row.fields } };
}

/** The object in `body`. Throws a 400 for any other message, a 415 for a kind without a protobuf form. */
export function readProtobuf(body: Buffer): JsonObject {
  if (!body.subarray(0, magic.length).equals(magic))
    throw badRequest("the body does not begin like a Kubernetes protobuf message");
  const envelope = split(body.subarray(magic.length));
  const type = split(bytes(envelope, 1));
  const apiVersion = bytes(type, 1).toString();
  const kind = bytes(type, 2).toString();
  const shape = shapeOf(apiVersion, kind);
  if (shape === undefined) throw unsupportedMedia("application/json, application/yaml");
  return { apiVersion, kind, ...message(bytes(envelope, 2), shape) };
}

type Wire = { readonly number: number; readonly value: number | Buffer };

/** The fields of a message in the order in which they come. */
function split(message: Buffer): Wire[] {
  const fields: Wire[] = [];
  let at = 0;
  const varint = (): number => {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = message[at++];
      if (byte === undefined || shift > 63n) throw badRequest("unexpected end of protobuf message");
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return Number(BigInt.asIntN(64, value));
    }
  };
  while (at < message.length) {
    const tag = varint();
    const kind = tag & 7;
    const length = kind === 2 ? varint() : kind === 1 ? 8 : 4;
    const value = kind === 0 ? varint() : message.subarray(at, (at += length));
    if (at > message.length) throw badRequest("unexpected end of protobuf message");
    fields.push({ number: tag >>> 3, value });
  }
  return fields;
}

function bytes(fields: readonly Wire[], number: number): Buffer {
  const value = fields.find((field) => field.number === number)?.value;
  return Buffer.isBuffer(value) ? value : Buffer.alloc(0);
}

function message(body: Buffer, shape: Shape): JsonObject {
  const types = numbered(shape);
  const read: Record<string, Json | undefined> = {};
  for (const { number, value } of split(body)) {
    const [field, type] = types.get(number) ?? [];
    if (field !== undefined && type !== undefined)
      read[field] = member(read[field], value, type, field);
  }
  return read;
}

/** The fields of a message with their types, by number. */
function numbered(shape: Shape): ReadonlyMap<number, readonly [string, Shape]> {
  const found = new Map<number, readonly [string, Shape]>();
  if (typeof shape === "string" || !("fields" in shape)) return found;
  let number = 0;
  for (const field of Object.entries(shape.fields)) {
    do number++;
    while (shape.unused?.includes(number));
    found.set(number, field);
  }
  return found;
}

/** `before` with one more occurrence of the field: lists and maps come one entry at a time. */
function member(
  before: Json | undefined,
  value: Wire["value"],
  type: Shape,
  name: string,
): Json | undefined {
  if (typeof type === "object" && "list" in type) {
    const item = single(value, type.list, name);
    return [...(Array.isArray(before) ? before : []), ...(item === undefined ? [] : [item])];
  }
  if (typeof type === "object" && "map" in type) {
    const entry = split(Buffer.isBuffer(value) ? value : Buffer.alloc(0));
    const content = bytes(entry, 2);
    const text = content.toString(type.map === "bytes" ? "base64" : "utf8");
    const others = isObject(before) ? before : {};
    return { ...others, [bytes(entry, 1).toString()]: text };
  }
  return single(value, type, name);
}

const alwaysWritten = new Set(["generation", "count", "deprecatedCount"]);

function single(value: Wire["value"], type: Shape, name: string): Json | undefined {
  // Numbers that Go writes although they are not set.
  if (value === 0 && alwaysWritten.has(name)) return undefined;
  if (!Buffer.isBuffer(value)) return type === "boolean" ? value !== 0 : value;
  if (type === "time" || type === "microTime") return time(value, type === "microTime");
  if (type === "any") return name === "fieldsV1" ? fieldsV1(value) : undefined;
  if (typeof type === "object") return message(value, type);
  // A string that is empty is one that is not set.
  return value.length === 0 ? undefined : value.toString(type === "bytes" ? "base64" : "utf8");
}

function fieldsV1(value: Buffer): Json {
  return parseJsonText(bytes(split(value), 1).toString());
}

function time(value: Buffer, micro: boolean): string | undefined {
  if (value.length === 0) return undefined;
  const fields = split(value);
  const part = (number: number): number => {
    const found = fields.find((field) => field.number === number)?.value;
    return typeof found === "number" ? found : 0;
  };
  const seconds = new Date(part(1) * 1000).toISOString().slice(0, 19);
  if (!micro) return `${seconds}Z`;
  return `${seconds}.${String(Math.floor(part(2) / 1000)).padStart(6, "0")}Z`;
}
