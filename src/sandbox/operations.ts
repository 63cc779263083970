// The verbs on our resources, from a read request to the answer: get, list, create, replace, patch,
// delete and delete of a collection. Watches are opened by server.ts, which holds the connections.
import { showList, showObject } from "./answers.ts";
import type { View } from "./answers.ts";
import { applied } from "./apply.ts";
import { readBody } from "./body.ts";
import { decode, strictError } from "./decode.ts";
import { remove } from "./deletes.ts";
import { list } from "./list.ts";
import { asText, isObject } from "./object.ts";
import type { Json, JsonObject, KubeObject } from "./object.ts";
import { jsonPatch, mergePatch, strategicMerge } from "./patch.ts";
import { fromStored } from "./resources.ts";
import type { Target } from "./routes.ts";
import {
  ApiError,
  badRequest,
  invalid,
  invalidValue,
  methodNotAllowed,
  notFound,
  notSupported,
  required,
  unsupportedPatch,
} from "./status.ts";
import { keyOf } from "./storage.ts";
import type { Storage } from "./storage.ts";
import { readFlag } from "./watch-request.ts";
import { create, replace, update } from "./writes.ts";
import type { Write, Written } from "./writes.ts";

export type Request = {
  readonly method: string;
  readonly query: URLSearchParams;
  readonly contentType: string;
  readonly userAgent: string;
  readonly body: Buffer;
};

export type Answer = {
  readonly code: number;
  readonly body: JsonObject;
  readonly warnings?: readonly string[];
};

export type Call = {
  readonly storage: Storage;
  readonly target: Target;
  readonly request: Request;
  readonly view: View;
  readonly now: () => number;
};

export async function perform(call: Call): Promise<Answer> {
  const { target, request } = call;
  switch (request.method) {
    case "GET":
      return get(call);
    case "POST":
      if (target.name !== undefined) throw methodNotAllowed();
      return post(call);
    case "PUT":
      return put(call, named(target));
    case "PATCH":
      return patch(call, named(target));
    case "DELETE":
      return target.name === undefined ? deleteAll(call) : deleteOne(call, target.name);
    default:
      throw methodNotAllowed();
  }
}

function named(target: Target): string {
  if (target.name === undefined) throw methodNotAllowed();
  return target.name;
}

function get({ storage, target, request, view }: Call): Answer {
  const { resource, namespace, name } = target;
  if (name === undefined)
    return { code: 200, body: showList(view, list(storage, resource, namespace, request.query)) };
  const object = storage.collection(resource.storage).get(keyOf(namespace, name));
  if (object === undefined) throw notFound(resource, name);
  return { code: 200, body: showObject(view, object) };
}

async function post(call: Call): Promise<Answer> {
  const { target } = call;
  // A namespaced object without a namespace in the path has nowhere to go.
  if (target.resource.namespaced && target.namespace === undefined) throw methodNotAllowed();
  const { object, warnings } = await decodeBody(call);
  return answer(call, create(writeOf(call, "Update"), object), warnings);
}

async function put(call: Call, name: string): Promise<Answer> {
  const { object, warnings } = await decodeBody(call);
  return answer(call, replace(writeOf(call, "Update"), name, object), warnings);
}

async function decodeBody(
  call: Call,
): Promise<{ object: KubeObject; warnings: readonly string[] }> {
  const { target, request } = call;
  const body = await readBody(request.body, request.contentType, target.resource.kind);
  const { object, unknown } = decode(target.resource, body);
  const strictness = validation(request);
  const refusal = strictError(target.resource, unknown);
  if (refusal && strictness === "Strict") throw refusal;
  return { object, warnings: strictness === "Warn" ? unknown : [] };
}

async function patch(call: Call, name: string): Promise<Answer> {
  const { storage, target, request } = call;
  const type = request.contentType.split(";")[0]?.trim() ?? "";
  if (!Object.hasOwn(patchTypes, type)) throw unsupportedPatch();
  const body = await readBody(request.body, type, target.resource.kind);
  const { resource, namespace } = target;
  const before = storage.collection(resource.storage).get(keyOf(namespace, name));
  if (type === "application/apply-patch+yaml") return apply(call, name, body, before);
  if (before === undefined) throw notFound(resource, name);
  const document = fromStored(resource, before);
  const patched = patchTypes[type]?.(document, body) ?? document;
  const { object, warnings } = decodePatched(call, patched, type);
  checkName(object, name);
  return answer(call, update(writeOf(call, "Update"), before, object), warnings);
}

type Patcher = (document: JsonObject, patch: Json) => Json;

const patchTypes: Readonly<Record<string, Patcher>> = {
  "application/json-patch+json": jsonPatch,
  "application/merge-patch+json": mergePatch,
  "application/strategic-merge-patch+json": (document, patch) => {
    if (!isObject(patch)) throw badRequest("error decoding patch: it is not an object");
    return strategicMerge(document, patch);
  },
  "application/apply-patch+yaml": (document) => document,
};

// Like the real server, this repeats the whole object in the message of a patch that breaks it: the
// reason why clients must not show messages of Secrets.
function decodePatched(
  call: Call,
  patched: Json,
  type: string,
): { object: KubeObject; warnings: readonly string[] } {
  const { resource } = call.target;
  const broken = (why: string) =>
    type === "application/strategic-merge-patch+json"
      ? badRequest(why)
      : invalid({ group: "", kind: "" }, "", [invalidValue("patch", JSON.stringify(patched), why)]);
  try {
    const { object, unknown } = decode(resource, patched);
    const strictness = validation(call.request);
    if (unknown.length > 0 && strictness === "Strict")
      throw broken(`strict decoding error: ${unknown.join(", ")}`);
    return { object, warnings: strictness === "Warn" ? unknown : [] };
  } catch (error) {
    if (error instanceof ApiError && error.code === 400) throw broken(error.message);
    throw error;
  }
}

function apply(call: Call, name: string, body: Json, before: KubeObject | undefined): Answer {
  const { target, request } = call;
  const manager = request.query.get("fieldManager") ?? "";
  if (manager === "")
    throw invalid({ group: "meta.k8s.io", kind: "PatchOptions" }, "", [
      required("fieldManager", "is required for apply patch"),
    ]);
  const { object, unknown } = decode(target.resource, body);
  const refusal = strictError(target.resource, unknown);
  if (refusal) throw refusal;
  if ((object.metadata.managedFields?.length ?? 0) > 0)
    throw badRequest("metadata.managedFields must be nil");
  const wanted = object.metadata.name === "" ? withName(object, name) : object;
  checkName(wanted, name);
  const write = writeOf(call, "Apply");
  const force = readFlag(request.query, "force") ?? false;
  const next = applied(write, before, wanted, force);
  return answer(call, before ? update(write, before, next) : create(write, next), []);
}

function withName(object: KubeObject, name: string): KubeObject {
  return { ...object, metadata: { ...object.metadata, name } };
}

function checkName(object: KubeObject, name: string): void {
  const given = object.metadata.name;
  if (given !== name)
    throw badRequest(
      `the name of the object (${given}) does not match the name on the URL (${name})`,
    );
}

async function deleteOne(call: Call, name: string): Promise<Answer> {
  const { target, request } = call;
  const options = await readBody(request.body, request.contentType, "DeleteOptions");
  const write = writeOf(call, "Update", isObject(options) ? options : {});
  const { object, gone } = remove(write, name, options);
  if (!gone) return { code: 200, body: showObject(call.view, object) };
  const { group, plural } = target.resource;
  const details = {
    name,
    ...(group === "" ? {} : { group }),
    kind: plural,
    uid: object.metadata.uid,
  };
  const body = { kind: "Status", apiVersion: "v1", metadata: {}, status: "Success", details };
  return { code: 200, body };
}

async function deleteAll(call: Call): Promise<Answer> {
  const { storage, target, request } = call;
  const { resource, namespace } = target;
  // Not served for namespaces, and not across namespaces.
  if (!resource.namespaced || namespace === undefined) throw methodNotAllowed();
  const options = await readBody(request.body, request.contentType, "DeleteOptions");
  const write = writeOf(call, "Update", isObject(options) ? options : {});
  const listed = list(storage, resource, namespace, request.query);
  for (const object of listed.objects) remove(write, object.metadata.name, options);
  return { code: 200, body: showList(call.view, listed) };
}

function answer(call: Call, written: Written, warnings: readonly string[]): Answer {
  return { code: written.code, body: showObject(call.view, written.object), warnings };
}

function writeOf(call: Call, operation: Write["operation"], options: JsonObject = {}): Write {
  const { storage, target, request } = call;
  const { resource, namespace, subresource } = target;
  const inBody = options["dryRun"];
  const asked = [...request.query.getAll("dryRun"), ...(Array.isArray(inBody) ? inBody : [])];
  const dryRun = asked.filter((word) => word !== "");
  if (dryRun.some((word) => word !== "All"))
    throw invalid({ group: "meta.k8s.io", kind: "WriteOptions" }, "", [
      notSupported("dryRun", asText(dryRun.find((word) => word !== "All")), ["All"]),
    ]);
  return {
    storage,
    resource,
    namespace,
    now: call.now(),
    dryRun: dryRun.length > 0,
    manager: request.query.get("fieldManager") || (request.userAgent.split("/")[0] ?? "unknown"),
    operation,
    ...(subresource === undefined ? {} : { subresource }),
  };
}

function validation(request: Request): string {
  return request.query.get("fieldValidation") || "Warn";
}
