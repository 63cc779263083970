// The subresource scale of a custom resource: a Scale is read from the fields that the definition declares,
// and its replicas are written to one of them.
import { jsonType, mediaType, readBody } from "../http/body.ts";
import type { ScalePaths } from "../kinds/resources.ts";
import { asObject, asText, fieldAt, isObject } from "../storage/object.ts";
import type { Json, JsonObject, StoredObject } from "../storage/object.ts";
import {
  badRequest,
  invalidObject,
  invalidValue,
  methodNotAllowed,
  notFound,
  unsupportedPatch,
} from "../storage/status.ts";
import { keyOf } from "../storage/storage.ts";
import type { VerbAnswer, VerbCall } from "./call.ts";
import { update } from "./create-update.ts";
import { mergePatch } from "./patch-formats.ts";
import { writeOf } from "./write-params.ts";

export async function performScale(
  call: VerbCall,
  name: string,
  paths: ScalePaths,
): Promise<VerbAnswer> {
  const { storage, target, request } = call;
  const { resource, namespace } = target;
  const before = storage.collection(resource.storage).get(keyOf(namespace, name));
  if (before === undefined) throw notFound(resource, name);
  const now = scaleOf(before, paths);
  if (request.method === "GET") return { code: 200, body: now };
  const given = asObject(await givenScale(call, now));
  const replicas = asObject(given["spec"])["replicas"] ?? 0;
  if (!Number.isSafeInteger(replicas) || Number(replicas) < 0)
    throw invalidObject(resource, name, [
      invalidValue(`.${paths.replicas.join(".")}`, replicas, "should be a non-negative integer"),
    ]);
  const version = asText(asObject(given["metadata"])["resourceVersion"]);
  const { resourceVersion } = before.metadata;
  const metadata = { ...before.metadata, resourceVersion: version || resourceVersion };
  const draft = { ...withField(before, paths.replicas, replicas), metadata } as StoredObject;
  const written = update(writeOf(call, "UpdateOptions"), before, draft);
  return { code: 200, body: scaleOf(written.object, paths) };
}

/** The body of a PUT, or the Scale as a merge patch changes it. */
async function givenScale({ request }: VerbCall, now: JsonObject): Promise<Json> {
  const { method, body, contentType } = request;
  if (method !== "PUT" && method !== "PATCH") throw methodNotAllowed();
  if (method === "PATCH" && mediaType(contentType) !== "application/merge-patch+json")
    throw unsupportedPatch();
  const unreadable = (): Error => badRequest("the body is no Scale");
  const given = await readBody(body, method === "PATCH" ? jsonType : contentType, unreadable);
  if (!isObject(given)) throw unreadable();
  return method === "PUT" ? given : mergePatch(now, given);
}

function scaleOf(object: StoredObject, { replicas, status, selector }: ScalePaths): JsonObject {
  const { name, namespace, uid, resourceVersion, creationTimestamp } = object.metadata;
  const selected = selector === undefined ? undefined : fieldAt(object, selector);
  return {
    kind: "Scale",
    apiVersion: "autoscaling/v1",
    metadata: { name, namespace, uid, resourceVersion, creationTimestamp },
    spec: { replicas: fieldAt(object, replicas) ?? 0 },
    status: {
      replicas: fieldAt(object, status) ?? 0,
      ...(typeof selected === "string" && { selector: selected }),
    },
  };
}

function withField(
  object: JsonObject,
  [field = "", ...rest]: readonly string[],
  to: Json,
): JsonObject {
  return {
    ...object,
    [field]: rest.length === 0 ? to : withField(asObject(object[field]), rest, to),
  };
}
