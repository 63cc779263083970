// The three patch formats for JSON documents: RFC 6902 (a list of operations), RFC 7386 (merge) and
// Kubernetes' strategic merge with the lists that the served kinds merge by key. It is pure. The caller
// decodes and validates the result like any other body.
import { isDeepStrictEqual } from "node:util";
import { asText, isList, isObject, setMember } from "../storage/object.ts";
import type { Json, JsonObject } from "../storage/object.ts";
import { goName } from "../kinds/scalars.ts";
import { badRequest, quoted, unprocessable } from "../storage/status.ts";

// JSON patch.

/**
 * Applies the operations in order. Throws a 400 for an invalid patch, a 422 for an impossible operation.
 */
export function jsonPatch(document: Json, patch: Json): Json {
  if (!isList(patch))
    throw badRequest(
      `error decoding patch: json: cannot unmarshal ${goName(patch)} into Go value of type []handlers.jsonPatchOp`,
    );
  let result = document;
  for (const operation of patch) {
    if (!isObject(operation))
      throw badRequest("json: cannot unmarshal value into Go value of type jsonpatch.Operation");
    result = applyOperation(result, operation);
  }
  return result;
}

function applyOperation(document: Json, operation: JsonObject): Json {
  const path = pointer(operation["path"]);
  const value = operation["value"] ?? null;
  switch (asText(operation["op"])) {
    case "add":
      return place(document, path, value, "add");
    case "remove":
      return place(document, path, undefined, "remove");
    // The real server's library takes a replace of an absent member for an add.
    case "replace":
      return place(document, path, value, "replace");
    case "move": {
      const from = pointer(operation["from"]);
      const moved = read(document, from);
      return place(place(document, from, undefined, "remove"), path, moved, "add");
    }
    case "copy":
      return place(document, path, read(document, pointer(operation["from"])), "add");
    case "test": {
      const present = find(document, path);
      if (!isDeepStrictEqual(present ?? null, value)) throw unprocessable();
      return document;
    }
    default:
      throw unprocessable();
  }
}

function pointer(text: Json | undefined): string[] {
  if (text === "") return [];
  if (typeof text !== "string" || !text.startsWith("/")) throw unprocessable();
  const steps = text.slice(1).split("/");
  return steps.map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~"));
}

function find(document: Json, path: readonly string[]): Json | undefined {
  let value: Json | undefined = document;
  for (const step of path) {
    if (isList(value)) value = /^(0|[1-9]\d*)$/.test(step) ? value[Number(step)] : undefined;
    else value = isObject(value) && Object.hasOwn(value, step) ? value[step] : undefined;
  }
  return value;
}

function read(document: Json, path: readonly string[]): Json {
  const value = find(document, path);
  if (value === undefined) throw unprocessable();
  return value;
}

type Placing = "add" | "remove" | "replace";

/** `document` with `value` added at (or removed from) `path`. The parent must exist. */
function place(
  document: Json,
  path: readonly string[],
  value: Json | undefined,
  how: Placing,
): Json {
  const [step, ...rest] = path;
  if (step === undefined) return value ?? null;
  if (isList(document)) return placeInList(document, step, rest, value, how);
  if (!isObject(document)) throw unprocessable();
  if (rest.length > 0) {
    const child = Object.hasOwn(document, step) ? document[step] : undefined;
    if (child === undefined) throw unprocessable();
    return { ...document, [step]: place(child, rest, value, how) };
  }
  if (how === "remove" && !Object.hasOwn(document, step)) throw unprocessable();
  return { ...document, [step]: value };
}

function placeInList(
  list: readonly Json[],
  step: string,
  rest: readonly string[],
  value: Json | undefined,
  how: Placing,
): Json {
  const at = step === "-" ? list.length : Number(step);
  const most = how === "add" && rest.length === 0 ? list.length : list.length - 1;
  if (!Number.isInteger(at) || at < 0 || at > most) throw unprocessable();
  if (rest.length > 0) return list.with(at, place(list[at] ?? null, rest, value, how));
  return list.toSpliced(at, how === "add" ? 0 : 1, ...(value === undefined ? [] : [value]));
}

// Merge patch.

export function mergePatch(document: Json | undefined, patch: Json): Json {
  if (!isObject(patch)) return patch;
  const merged: Record<string, Json | undefined> = isObject(document) ? { ...document } : {};
  for (const [key, value] of Object.entries(patch)) {
    if (value === null || value === undefined) delete merged[key];
    else setMember(merged, key, mergePatch(merged[key], value));
  }
  return merged;
}

// Strategic merge patch.

/** Lists of objects that merge by a key, and lists of strings that merge as sets (""). */
const mergedLists: Readonly<Record<string, string>> = {
  "metadata.finalizers": "",
  "metadata.ownerReferences": "uid",
  secrets: "name",
};

const listDeletion = "$deleteFromPrimitiveList/";
const listOrder = "$setElementOrder/";

export function strategicMerge(document: JsonObject, patch: JsonObject, path = ""): JsonObject {
  if (patch["$patch"] === "replace") return withoutDirectives(patch);
  if (patch["$patch"] === "delete") return {};
  const merged: Record<string, Json | undefined> = { ...document };
  for (const [key, value] of Object.entries(patch)) {
    if (key.startsWith(listOrder) || key === "$patch" || key === "$retainKeys") continue;
    if (key.startsWith(listDeletion)) {
      const name = key.slice(listDeletion.length);
      setMember(merged, name, without(merged[name], value));
    } else if (value === null || value === undefined) delete merged[key];
    else {
      const member = mergeMember(merged[key], value, path === "" ? key : `${path}.${key}`);
      setMember(merged, key, member);
    }
  }
  const kept = patch["$retainKeys"];
  if (!isList(kept)) return merged;
  return Object.fromEntries(Object.entries(merged).filter(([key]) => kept.includes(key)));
}

function mergeMember(present: Json | undefined, value: Json, path: string): Json {
  if (isObject(value)) return strategicMerge(isObject(present) ? present : {}, value, path);
  const mergeKey = mergedLists[path];
  if (!isList(value) || mergeKey === undefined) return value;
  const before = isList(present) ? present : [];
  if (mergeKey === "") return ordered(before, value, (item) => item);
  return mergeByKey(before, value, mergeKey, path);
}

function mergeByKey(
  before: readonly Json[],
  patch: readonly Json[],
  mergeKey: string,
  path: string,
): Json {
  if (patch.some((item) => isObject(item) && item["$patch"] === "replace"))
    return patch.filter((item) => isObject(item) && item["$patch"] === undefined);
  const merged: Json[] = [];
  const deleted: Json[] = [];
  for (const item of patch) {
    if (!isObject(item) || item[mergeKey] === undefined)
      throw badRequest(`map does not contain declared merge key: ${mergeKey} (${quoted(path)})`);
    const present = before.find((one) => isObject(one) && one[mergeKey] === item[mergeKey]);
    if (item["$patch"] === "delete") deleted.push(item[mergeKey] ?? null);
    else merged.push(isObject(present) ? strategicMerge(present, item, `${path}[]`) : item);
  }
  const key = (item: Json): Json | undefined => (isObject(item) ? item[mergeKey] : undefined);
  const kept = before.filter((item) => !deleted.includes(key(item) ?? null));
  return ordered(kept, merged, key);
}

/**
 * The items of the patch in their order, and between them those that only the server has: each as soon
 * as it stood before the next of the patch's (apimachinery, strategicpatch, mergeSortedSlice).
 */
function ordered(
  before: readonly Json[],
  patch: readonly Json[],
  key: (item: Json) => Json | undefined,
): Json[] {
  const places = before.map(key);
  const keys = patch.map(key);
  const others = before.filter((item) => !keys.includes(key(item)));
  const merged: Json[] = [];
  for (const item of patch) {
    const at = places.indexOf(key(item));
    while (others[0] !== undefined && places.indexOf(key(others[0])) < at)
      merged.push(...others.splice(0, 1));
    merged.push(item);
  }
  return [...merged, ...others];
}

function without(present: Json | undefined, gone: Json | undefined): Json | undefined {
  if (!isList(present) || !isList(gone)) return present;
  return present.filter((item) => !gone.includes(item));
}

function withoutDirectives(patch: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(patch).filter(([key]) => !key.startsWith("$")));
}
