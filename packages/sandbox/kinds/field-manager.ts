// Field ownership: the managedFields of metadata. An update moves the fields that it changes from all other
// managers to the writer. Server-side apply (server-side-apply.ts) finds conflicts with this module. Sets
// of fields are kept as paths. A list is one field, except finalizers, as in the schema.
import { isDeepStrictEqual } from "node:util";
import { timestamp } from "./finalization.ts";
import { asObject, asText, isList, isObject } from "../storage/object.ts";
import type { Json, JsonObject, StoredObject } from "../storage/object.ts";
import { fromStored, groupVersion, namespaces } from "./resources.ts";
import type { ServedResource } from "./resources.ts";
import { metadataShape } from "./schema.ts";
import type { Shape } from "./schema.ts";

export type FieldSet = ReadonlyMap<string, readonly string[]>;

/** Metadata that no manager owns. */
const system = new Set([
  "name",
  "namespace",
  "uid",
  "resourceVersion",
  "creationTimestamp",
  "deletionTimestamp",
  "deletionGracePeriodSeconds",
  "generation",
  "selfLink",
  "managedFields",
]);

/** Objects that are one field. */
const atomic = new Set(["f:involvedObject", "f:regarding", "f:related"]);

/** Who writes what, for managedFields. */
export type Owner = {
  readonly resource: ServedResource;
  readonly manager: string;
  readonly operation: "Update" | "Apply";
  readonly subresource?: string;
  /** Wall time in milliseconds. */
  readonly now: number;
};

/** The fields that `object` (in its stored form) sets, each under a key that is unique to its path. */
export function fieldsOf(
  resource: ServedResource,
  object: StoredObject,
  operation: Owner["operation"],
): FieldSet {
  const found = new Map<string, readonly string[]>();
  const { apiVersion: _, kind: __, metadata, ...shown } = fromStored(resource, object);
  const owned = Object.entries(metadata).filter(([field]) => !system.has(field));
  const shape: Shape = { fields: { ...resource.fields, metadata: metadataShape } };
  collect({ ...shown, metadata: Object.fromEntries(owned) }, shape, [], found);
  return only(found, (path) => {
    // Only updates own containers beside their members.
    if (operation === "Apply" && path.at(-1) === ".") return false;
    // A writer does not own a namespace's finalizers and phase.
    return resource !== namespaces || path[0] === "f:metadata";
  });
}

/** The fields of a set for which `holds` is true. */
export function only(
  fields: FieldSet,
  holds: (path: readonly string[], key: string) => boolean,
): FieldSet {
  return new Map([...fields].filter(([key, path]) => holds(path, key)));
}

function collect(
  value: Json,
  shape: Shape,
  path: string[],
  found: Map<string, readonly string[]>,
): void {
  const add = (at: string[]) => void found.set(at.join("\0"), at);
  if (atomic.has(path.join("."))) add(path);
  else if (typeof shape === "object" && "fields" in shape && isObject(value)) {
    for (const [field, member] of Object.entries(value)) {
      const known = shape.fields[field];
      if (member !== undefined && known) collect(member, known, [...path, `f:${field}`], found);
    }
  } else if (typeof shape === "object" && "map" in shape && isObject(value)) {
    add([...path, "."]);
    for (const key of Object.keys(value)) add([...path, `f:${key}`]);
  } else if (isList(value) && path.join(".") === "f:metadata.f:finalizers") {
    add([...path, "."]);
    for (const item of value) add([...path, `v:${JSON.stringify(item)}`]);
  } else add(path);
}

/** The value at a path of `fieldsOf`. Containers (".") and members of sets have a value when they exist. */
export function valueAt(object: JsonObject, path: readonly string[]): Json | undefined {
  let value: Json | undefined = object;
  for (const step of path) {
    if (step === ".") return value === undefined ? undefined : true;
    if (step.startsWith("v:"))
      return isList(value) && value.includes(JSON.parse(step.slice(2))) ? true : undefined;
    value = asObject(value)[step.slice(2)];
  }
  return value;
}

/** `object` with managedFields brought up to date for a write that made it out of `before`. */
export function manage(
  owner: Owner,
  object: StoredObject,
  before: StoredObject | undefined,
): StoredObject {
  if (owner.operation === "Apply") return object;
  const { resource } = owner;
  const entries = before?.metadata.managedFields ?? [];
  const now = fieldsOf(resource, object, "Update");
  const old: FieldSet = before ? fieldsOf(resource, before, "Update") : new Map();
  const shown = fromStored(resource, object);
  const shownBefore = before ? fromStored(resource, before) : {};
  const changed = only(
    now,
    (path) => !isDeepStrictEqual(valueAt(shown, path), valueAt(shownBefore, path)),
  );
  const gone = only(old, (_, key) => !now.has(key));
  const lost = new Set([...changed.keys(), ...gone.keys()]);
  if (before && lost.size === 0) return withEntries(object, entries);
  const kept = entries.flatMap((entry) => {
    const mine = isOwn(owner, entry);
    const left = only(entryFields(entry), (_, key) => !lost.has(key));
    const fields = mine ? new Map([...left, ...changed]) : left;
    if (fields.size === 0) return [];
    return mine ? [entryOf(owner, fields)] : [{ ...entry, fieldsV1: tree(fields) }];
  });
  const has = entries.some((entry) => isOwn(owner, entry));
  const added = has || changed.size === 0 ? [] : [entryOf(owner, changed)];
  return withEntries(object, [...kept, ...added]);
}

export function withEntries(object: StoredObject, entries: readonly JsonObject[]): StoredObject {
  const { managedFields: _, ...metadata } = object.metadata;
  const managedFields = entries.toSorted(byOwner);
  return {
    ...object,
    metadata: entries.length === 0 ? metadata : { ...metadata, managedFields },
  };
}

function byOwner(a: JsonObject, b: JsonObject): number {
  const rank = (entry: JsonObject) =>
    (["operation", "time", "manager"] as const).map((field) => asText(entry[field])).join("\0");
  return rank(a) < rank(b) ? -1 : Number(rank(a) > rank(b));
}

export function isOwn(owner: Owner, entry: JsonObject): boolean {
  return (
    entry["manager"] === owner.manager &&
    entry["operation"] === owner.operation &&
    asText(entry["subresource"]) === (owner.subresource ?? "")
  );
}

export function entryOf(owner: Owner, fields: FieldSet): JsonObject {
  return {
    manager: owner.manager,
    operation: owner.operation,
    apiVersion: groupVersion(owner.resource),
    time: timestamp(owner.now),
    fieldsType: "FieldsV1",
    fieldsV1: tree(fields),
    ...(owner.subresource === undefined ? {} : { subresource: owner.subresource }),
  };
}

export function entryFields(entry: JsonObject): FieldSet {
  const found = new Map<string, readonly string[]>();
  const walk = (node: JsonObject, path: readonly string[]): void => {
    const members = Object.entries(node);
    if (members.length === 0 && path.length > 0) found.set(path.join("\0"), path);
    for (const [step, child] of members) walk(asObject(child), [...path, step]);
  };
  walk(asObject(entry["fieldsV1"]), []);
  return found;
}

type Tree = { [step: string]: Tree };

export function tree(fields: FieldSet): JsonObject {
  const root: Tree = {};
  for (const path of fields.values()) {
    let node = root;
    for (const step of path) node = node[step] ??= {};
  }
  return root;
}
