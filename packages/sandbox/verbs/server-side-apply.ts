// Server-side apply: the body contains the fields that the manager wants, and managedFields record their
// owners. A field that another manager owns with another value is a conflict unless forced. A field that
// this manager applied before and now omits is removed when it has no other owner.
import { isDeepStrictEqual } from "node:util";
import {
  entryFields,
  entryOf,
  fieldsOf,
  isOwn,
  only,
  tree,
  valueAt,
  withEntries,
} from "../kinds/field-manager.ts";
import type { FieldSet } from "../kinds/field-manager.ts";
import { asText, isList, isObject, setMember } from "../storage/object.ts";
import type { Json, JsonObject, StoredObject, JsonStrings } from "../storage/object.ts";
import { fromStored } from "../kinds/resources.ts";
import { StatusError } from "../storage/status.ts";
import type { ObjectWrite } from "./create-update.ts";

/**
 * The result of applying `wanted` to `before` as `write.manager`. Throws a 409 that names each conflict.
 */
export function applied(
  write: ObjectWrite,
  before: StoredObject | undefined,
  wanted: StoredObject,
  force: boolean,
): StoredObject {
  const { resource } = write;
  const fields = fieldsOf(resource, wanted, "Apply");
  const entries = before?.metadata.managedFields ?? [];
  const others = entries.filter((entry) => !isOwn(write, entry));
  const shown = fromStored(resource, wanted);
  const live = before ? fromStored(resource, before) : undefined;
  // A write-only field such as stringData is never stored. Applying it adds it, regardless of its value.
  const contested = only(
    fields,
    (path) => !isDeepStrictEqual(live && valueAt(live, path), valueAt(shown, path)),
  );
  if (!force) refuseConflicts(others, contested);
  const own = entries.find((entry) => isOwn(write, entry));
  const dropped = own ? leftOut(entryFields(own), fields, others) : [];
  const merged = dropped.reduce(
    // The removed part is below the top level of the object and of its metadata, so the shape stays.
    (object, path) => cutAt(object, path) as StoredObject,
    merge(before, wanted),
  );
  const kept = others.flatMap((entry) => {
    const left = only(entryFields(entry), (_, key) => !contested.has(key));
    return left.size === 0 ? [] : [{ ...entry, fieldsV1: tree(left) }];
  });
  const unchanged = own && isDeepStrictEqual(own["fieldsV1"], tree(fields));
  const mine = fields.size === 0 ? [] : [unchanged ? own : entryOf(write, fields)];
  return withEntries(withoutEmptyMaps(merged), [...kept, ...mine]);
}

function withoutEmptyMaps(object: StoredObject): StoredObject {
  const { labels = {}, annotations = {}, ...rest } = object.metadata;
  const isEmpty = (map: JsonStrings) => Object.keys(map).length === 0;
  const metadata = {
    ...rest,
    ...(!isEmpty(labels) && { labels }),
    ...(!isEmpty(annotations) && { annotations }),
  };
  return { ...object, metadata };
}

function refuseConflicts(others: readonly JsonObject[], contested: FieldSet): void {
  const causes = others.flatMap((entry) => {
    const owned = entryFields(entry);
    return [...contested].flatMap(([key, path]) =>
      owned.has(key) ? [{ owner: describe(entry), field: readable(path) }] : [],
    );
  });
  if (causes.length === 0) return;
  causes.sort((a, b) => (a.field < b.field ? -1 : Number(a.field > b.field)));
  const count = causes.length === 1 ? "1 conflict" : `${causes.length} conflicts`;
  const owners = [...new Set(causes.map(({ owner }) => owner))];
  const listed = owners.map((owner) => {
    const fields = causes.filter((cause) => cause.owner === owner).map(({ field }) => field);
    return fields.length === 1 && owners.length === 1
      ? `conflict with ${owner}: ${fields[0] ?? ""}`
      : `conflicts with ${owner}:\n${fields.map((field) => `- ${field}`).join("\n")}`;
  });
  throw new StatusError(409, "Conflict", `Apply failed with ${count}: ${listed.join("\n")}`, {
    causes: causes.map(({ owner, field }) => ({
      reason: "FieldManagerConflict",
      message: `conflict with ${owner}`,
      field,
    })),
  });
}

function describe(entry: JsonObject): string {
  const manager = JSON.stringify(asText(entry["manager"]));
  const operation = asText(entry["operation"]);
  return operation === "Apply"
    ? manager
    : `${manager} using ${asText(entry["apiVersion"])}${entry["time"] === undefined ? "" : ` at ${asText(entry["time"])}`}`;
}

function readable(path: readonly string[]): string {
  return path
    .map((step) => (step.startsWith("v:") ? `[${step.slice(2)}]` : `.${step.slice(2)}`))
    .join("");
}

/** The paths that this manager gives up and no other manager holds. The deepest come first. */
function leftOut(
  had: FieldSet,
  has: FieldSet,
  others: readonly JsonObject[],
): (readonly string[])[] {
  const held = [has, ...others.map(entryFields)];
  const isLeft = (path: readonly string[], key: string): boolean =>
    path.at(-1) !== "." && !held.some((set) => set.has(key));
  return [...only(had, isLeft).values()];
}

function cutAt(value: Json, path: readonly string[]): Json | undefined {
  const [step, ...rest] = path;
  if (step === undefined) return undefined;
  if (step.startsWith("v:"))
    return isList(value) ? value.filter((item) => JSON.stringify(item) !== step.slice(2)) : value;
  if (!isObject(value)) return value;
  const field = step.slice(2);
  const child = value[field];
  const left = child === undefined ? undefined : cutAt(child, rest);
  const { [field]: _, ...others } = value;
  return left === undefined ? others : { ...others, [field]: left };
}

function merge(before: StoredObject | undefined, wanted: StoredObject): StoredObject {
  if (before === undefined) return wanted;
  const { metadata, ...fields } = wanted;
  const { uid, resourceVersion, labels, annotations, ownerReferences } = metadata;
  const { finalizers = [] } = before.metadata;
  const given = Object.entries({ uid, resourceVersion, labels, annotations, ownerReferences });
  const top = {
    ...fields,
    metadata: {
      ...Object.fromEntries(given.filter(([, value]) => value !== "")),
      finalizers: metadata.finalizers && [...new Set([...finalizers, ...metadata.finalizers])],
    },
  };
  return overlay(before, top) as StoredObject;
}

/** `base` with what `top` sets. */
function overlay(base: Json | undefined, top: Json): Json {
  if (!isObject(base) || !isObject(top)) return top;
  const merged: Record<string, Json | undefined> = { ...base };
  for (const [key, value] of Object.entries(top))
    if (value !== undefined) setMember(merged, key, overlay(base[key], value));
  return merged;
}
