// The verbs on served resources, from a parsed request to the answer: get, list, create, replace, patch,
// delete and delete of a collection. server.ts opens watches, because it holds the connections.
import { showList, showObject } from "../http/representation.ts";
import { readBody } from "../http/body.ts";
import { decode, strictError, unrecognized, unregistered } from "../kinds/decode.ts";
import { remove } from "./delete.ts";
import { list, noVersion, readCount, readVersion } from "./list.ts";
import { asText, isList, isObject } from "../storage/object.ts";
import type { JsonObject, StoredObject } from "../storage/object.ts";
import { patch } from "./patch-request.ts";
import type { RequestTarget } from "../http/routes.ts";
import { goName } from "../kinds/scalars.ts";
import {
  badRequest,
  methodNotAllowed,
  notFound,
  tooLargeVersion,
  unexplained,
} from "../storage/status.ts";
import { keyOf } from "../storage/storage.ts";
import { performScale } from "./scale.ts";
import { strictness, writeOf } from "./write-params.ts";
import { create, replace } from "./create-update.ts";
import type { Written } from "./create-update.ts";
import type { VerbAnswer, VerbCall } from "./call.ts";

export async function perform(call: VerbCall): Promise<VerbAnswer> {
  const { target, request } = call;
  const { name } = target;
  if (target.subresource === "finalize" && request.method !== "PUT") throw methodNotAllowed();
  if (target.subresource === "scale" && target.resource.scale !== undefined)
    return performScale(call, named(target), target.resource.scale);
  switch (request.method) {
    case "GET":
      return get(call);
    case "POST":
      return post(call);
    case "PUT":
      return put(call, named(target));
    case "PATCH": {
      const { written, warnings } = await patch(call, named(target));
      return answer(call, written, warnings);
    }
    case "DELETE":
      return name === undefined ? deleteAll(call) : deleteOne(call, name);
    default:
      throw methodNotAllowed();
  }
}

function named(target: RequestTarget): string {
  if (target.name === undefined) throw methodNotAllowed();
  return target.name;
}

function get({ storage, target, request, view }: VerbCall): VerbAnswer {
  const { resource, namespace, name } = target;
  if (name === undefined)
    return { code: 200, body: showList(view, list(storage, target, request.query)) };
  const version = readVersion(request.query);
  if (version === undefined) throw unexplained(noVersion(request.query));
  if (version > storage.version) throw tooLargeVersion(version, storage.version);
  const object = storage.collection(resource.storage).get(keyOf(namespace, name));
  if (object === undefined) throw notFound(resource, name);
  return { code: 200, body: showObject(view, object) };
}

async function post(call: VerbCall): Promise<VerbAnswer> {
  const { name, namespace, resource } = call.target;
  // A namespaced object needs a namespace in the path.
  if (name !== undefined || (resource.namespaced && namespace === undefined))
    throw methodNotAllowed();
  const write = writeOf(call, "CreateOptions");
  const { object, warnings } = await decodeBody(call);
  return answer(call, create(write, object), warnings);
}

async function put(call: VerbCall, name: string): Promise<VerbAnswer> {
  const write = writeOf(call, "UpdateOptions");
  const { object, warnings } = await decodeBody(call);
  return answer(call, replace(write, name, object), warnings);
}

async function decodeBody(
  call: VerbCall,
): Promise<{ readonly object: StoredObject; readonly warnings: readonly string[] }> {
  const { target, request } = call;
  const { resource } = target;
  if (request.body.length === 0)
    throw unrecognized(resource, "unexpected end of JSON input (<empty>)");
  const unreadable = (why: string) => unrecognized(resource, why);
  const body = await readBody(request.body, request.contentType, unreadable);
  const { object, unknown } = decode(resource, body ?? {});
  const refusal = strictError(resource, unknown);
  const asked = strictness(request.query);
  if (refusal && asked === "Strict") throw refusal;
  return { object, warnings: asked === "Warn" ? unknown : [] };
}

// Options come from a body or from parameters. With a body, parameters are ignored.
async function readOptions({ request }: VerbCall): Promise<JsonObject> {
  if (request.body.length === 0) {
    readCount(request.query, "gracePeriodSeconds");
    return {};
  }
  const unreadable = (why: string) =>
    badRequest(`couldn't get version/kind; json parse error: ${why}`);
  const given = (await readBody(request.body, request.contentType, unreadable)) ?? {};
  if (!isObject(given)) throw unreadable(`json: cannot unmarshal ${goName(given)} into Go value`);
  const kind = asText(given["kind"]);
  if (kind !== "" && kind !== "DeleteOptions")
    throw badRequest(unregistered(kind, asText(given["apiVersion"])));
  const dryRun = given["dryRun"] ?? [];
  if (!isList(dryRun))
    throw badRequest(
      `json: cannot unmarshal ${goName(dryRun)} into Go struct field DeleteOptions.dryRun of type []string`,
    );
  return { propagationPolicy: "", ...given, dryRun };
}

async function deleteOne(call: VerbCall, name: string): Promise<VerbAnswer> {
  const options = await readOptions(call);
  const write = writeOf(call, "DeleteOptions", "Update", options);
  const { object, gone } = remove(write, name, options);
  if (!gone) return { code: 200, body: showObject(call.view, object) };
  const { group, plural } = call.target.resource;
  const details = {
    name,
    ...(group === "" ? {} : { group }),
    kind: plural,
    uid: object.metadata.uid,
  };
  const body = { kind: "Status", apiVersion: "v1", metadata: {}, status: "Success", details };
  return { code: 200, body };
}

async function deleteAll(call: VerbCall): Promise<VerbAnswer> {
  const { storage, target, request } = call;
  const { resource, namespace } = target;
  // Not served for namespaces, and not across namespaces.
  if (!resource.namespaced || namespace === undefined) throw methodNotAllowed();
  const options = await readOptions(call);
  const write = writeOf(call, "DeleteOptions", "Update", options);
  const listed = list(storage, target, request.query);
  for (const object of listed.objects) remove(write, object.metadata.name, options);
  return { code: 200, body: showList(call.view, listed) };
}

function answer(call: VerbCall, written: Written, warnings: readonly string[]): VerbAnswer {
  return { code: written.code, body: showObject(call.view, written.object), warnings };
}
