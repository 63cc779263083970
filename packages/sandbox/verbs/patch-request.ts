// PATCH requests: the patch is read and applied to the stored object. The result is decoded and stored like
// any other body. As on the real server, a patch that breaks its object is refused with the whole object,
// or the whole patch, in the message. This is why clients must not show such messages.
import { applied } from "./server-side-apply.ts";
import { applyType, jsonType, mediaType, readBody } from "../http/body.ts";
import { decode } from "../kinds/decode.ts";
import { isList, isObject } from "../storage/object.ts";
import type { Json, JsonObject, StoredObject } from "../storage/object.ts";
import { jsonPatch, mergePatch, strategicMerge } from "./patch-formats.ts";
import { fromStored } from "../kinds/resources.ts";
import { goName } from "../kinds/scalars.ts";
import {
  StatusError,
  badRequest,
  invalidObject,
  invalidValue,
  noStrategicPatch,
  notFound,
  refuseOptions,
  required,
  unexplained,
  unsupportedPatch,
} from "../storage/status.ts";
import { keyOf } from "../storage/storage.ts";
import { readFlag } from "./watch-params.ts";
import { strictness, writeOf } from "./write-params.ts";
import { checkName, create, update } from "./create-update.ts";
import type { Written } from "./create-update.ts";
import type { VerbCall } from "./call.ts";

export type Patched = { readonly written: Written; readonly warnings: readonly string[] };

const patchTypes = {
  "application/json-patch+json": jsonPatch,
  "application/merge-patch+json": mergeOf,
  "application/strategic-merge-patch+json": strategicOf,
} as const;

type PatchType = keyof typeof patchTypes;

function isPatchType(type: string): type is PatchType {
  return Object.hasOwn(patchTypes, type);
}

/** Patches the object `name`. Throws the real server's error. */
export async function patch(call: VerbCall, name: string): Promise<Patched> {
  const { storage, target, request } = call;
  const type = mediaType(request.contentType);
  if (!isPatchType(type) && type !== applyType) throw unsupportedPatch();
  const strategic = type === "application/strategic-merge-patch+json";
  if (strategic && target.resource.schema !== undefined) throw noStrategicPatch();
  const unreadable = () => badRequest("invalid JSON patch");
  if (request.body.length === 0 && type !== applyType) throw unreadable();
  const body = await readBody(request.body, type === applyType ? type : jsonType, unreadable);
  const { resource, namespace } = target;
  const before = storage.collection(resource.storage).get(keyOf(namespace, name));
  if (type === applyType) return apply(call, name, body, before);
  if (before === undefined) throw notFound(resource, name);
  const patched = patchTypes[type](fromStored(resource, before), body);
  const { object, unknown } = decodePatched(call, patched, strategic ? body : undefined);
  checkName(object, name);
  return { written: update(writeOf(call, "PatchOptions"), before, object), warnings: unknown };
}

function mergeOf(document: JsonObject, patch: Json): Json {
  if (isObject(patch)) return mergePatch(document, patch);
  if (patch === null) throw badRequest("Invalid JSON Patch");
  throw badRequest(
    `error decoding patch: json: cannot unmarshal ${goName(patch)} into Go value of type map[string]interface {}`,
  );
}

function strategicOf(document: JsonObject, patch: Json): Json {
  if (isObject(patch)) return strategicMerge(document, patch);
  throw badRequest(
    `json: cannot unmarshal ${goName(patch)} into Go value of type map[string]interface {}`,
  );
}

/** `shown`: the strategic patch, which the real server shows instead of the object it breaks. */
function decodePatched(
  call: VerbCall,
  patched: Json,
  shown: Json | undefined,
): { readonly object: StoredObject; readonly unknown: readonly string[] } {
  const broken = (why: string) => {
    const value = shown === undefined ? JSON.stringify(patched) : goFormat(shown);
    return invalidObject({ group: "", kind: "" }, "", [invalidValue("patch", value, why)]);
  };
  const asked = strictness(call.request.query);
  try {
    const { object, unknown } = decode(call.target.resource, patched);
    if (unknown.length > 0 && asked === "Strict")
      throw broken(`strict decoding error: ${unknown.join(", ")}`);
    return { object, unknown: asked === "Warn" ? unknown : [] };
  } catch (error) {
    if (!(error instanceof StatusError) || error.code !== 400) throw error;
    const why = error.message.replace(/^.* cannot be handled as an? \w+: /, "");
    throw broken(shown === undefined ? why : `error decoding from json: ${why}`);
  }
}

/** A value as Go's %v prints it. */
function goFormat(value: Json | undefined): string {
  if (isList(value)) return `[${value.map(goFormat).join(" ")}]`;
  if (!isObject(value)) return value === null ? "<nil>" : String(value);
  const keys = Object.keys(value).toSorted();
  return `map[${keys.map((key) => `${key}:${goFormat(value[key])}`).join(" ")}]`;
}

function apply(
  call: VerbCall,
  name: string,
  body: Json,
  before: StoredObject | undefined,
): Patched {
  const { target, request } = call;
  if (!request.query.get("fieldManager"))
    refuseOptions("PatchOptions", [required("fieldManager", "is required for apply patch")]);
  const given = isObject(body) ? body : {};
  if (typeof given["kind"] !== "string" || typeof given["apiVersion"] !== "string")
    throw badRequest("invalid object type: /, Kind=");
  const { object, unknown } = decode(target.resource, given);
  const [first] = unknown;
  if (first !== undefined) {
    const path = /"(.*)"/.exec(first)?.[1] ?? "";
    const { apiVersion, kind, metadata } = object;
    throw unexplained(
      `failed to create typed patch object (${metadata.namespace ?? ""}/${metadata.name}; /${apiVersion}, Kind=${kind}): .${path}: field not declared in schema`,
    );
  }
  if ((object.metadata.managedFields?.length ?? 0) > 0)
    throw badRequest("metadata.managedFields must be nil");
  const wanted = object.metadata.name === "" ? withName(object, name) : object;
  checkName(wanted, name);
  const write = writeOf(call, "PatchOptions", "Apply");
  const next = applied(write, before, wanted, readFlag(request.query, "force") ?? false);
  return { written: before ? update(write, before, next) : create(write, next), warnings: [] };
}

function withName(object: StoredObject, name: string): StoredObject {
  return { ...object, metadata: { ...object.metadata, name } };
}
