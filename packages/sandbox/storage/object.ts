// The JSON values that the sandbox stores and serves. A stored object never changes. Every write replaces
// it with a new one, so history, watches and lists can share it. Empty strings in metadata mean "not set",
// as in the real server's own types, and are omitted when served.

export type Json = null | boolean | number | string | readonly Json[] | JsonObject;
export type JsonObject = { readonly [field: string]: Json | undefined };

export type JsonStrings = { readonly [key: string]: string };

export type Metadata = {
  readonly name: string;
  readonly generateName?: string;
  readonly generation?: number;
  readonly namespace?: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly creationTimestamp: string;
  readonly deletionTimestamp?: string;
  readonly deletionGracePeriodSeconds?: number;
  readonly labels?: JsonStrings;
  readonly annotations?: JsonStrings;
  readonly ownerReferences?: readonly JsonObject[];
  readonly finalizers?: readonly string[];
  readonly managedFields?: readonly JsonObject[];
};

export type StoredObject = {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: Metadata;
  readonly [field: string]: Json | undefined;
};

/** Throws a SyntaxError for invalid JSON. */
export function parseJsonText(text: string): Json {
  return JSON.parse(text) as Json;
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function isList(value: unknown): value is readonly Json[] {
  return Array.isArray(value);
}

/** The object at `value`, or an empty one. */
export function asObject(value: Json | undefined): JsonObject {
  return isObject(value) ? value : {};
}

/** The list at `value`, or an empty one. */
export function asList(value: Json | undefined): readonly Json[] {
  return isList(value) ? value : [];
}

/** Sets a member under any name: an assignment to `__proto__` sets none. */
export function setMember<T>(object: Record<string, T>, name: string, value: T): void {
  Object.defineProperty(object, name, {
    value,
    enumerable: true,
    configurable: true,
    writable: true,
  });
}

/** The string at `value`, or "". */
export function asText(value: Json | undefined): string {
  return typeof value === "string" ? value : "";
}

/** The value below `value` at a path of fields. */
export function fieldAt(value: Json | undefined, path: readonly string[]): Json | undefined {
  return path.reduce((at: Json | undefined, field) => asObject(at)[field], value);
}

/** The string at a path such as `spec.holderIdentity`, or "". */
export function textAt(object: JsonObject, path: string): string {
  return asText(fieldAt(object, path.split(".")));
}

/** Only the string members of `value`. */
export function asStringMap(value: Json | undefined): JsonStrings {
  return Object.fromEntries(Object.entries(asObject(value)).filter(isTextEntry));
}

function isTextEntry(entry: [string, Json | undefined]): entry is [string, string] {
  return typeof entry[1] === "string";
}

/** The part of `object` that metadata-only clients get. */
export function partial(object: StoredObject): JsonObject {
  return {
    kind: "PartialObjectMetadata",
    apiVersion: "meta.k8s.io/v1",
    metadata: served(object).metadata,
  };
}

const maybeEmpty = ["generateName", "namespace", "uid", "resourceVersion"] as const;

/** `object` without the metadata fields that hold nothing (only answers to dry runs have any). */
export function served(object: StoredObject): StoredObject {
  if (maybeEmpty.every((field) => object.metadata[field] !== "")) return object;
  const set = Object.entries(object.metadata).filter(([, value]) => value !== "");
  return { ...object, metadata: { ...object.metadata, ...blank, ...Object.fromEntries(set) } };
}

const blank = Object.fromEntries(maybeEmpty.map((field) => [field, undefined]));

/** Go's message for a body that is not JSON, as far as it can be determined. */
export function jsonProblem(text: string): string {
  if (text.trim() === "") return "unexpected end of JSON input";
  try {
    JSON.parse(text);
  } catch (error) {
    const said = String(error);
    const [, position] = /at position (\d+)/.exec(said) ?? [];
    if (/end of JSON input|Unterminated/.test(said) || Number(position) >= text.length)
      return "unexpected end of JSON input";
    const [, character] = /Unexpected token '(.)'/su.exec(said) ?? [];
    if (character !== undefined)
      return `invalid character '${character}' looking for beginning of value`;
  }
  return "invalid character after top-level value";
}
