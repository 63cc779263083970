// Reads request bodies: JSON, protobuf, or YAML where the content type allows it.
import { load } from "js-yaml";
import { parseJsonText, jsonProblem } from "../storage/object.ts";
import type { Json } from "../storage/object.ts";
import { protobufType, readProtobuf } from "./protobuf.ts";
import { badRequest, unsupportedMedia } from "../storage/status.ts";

export const applyType = "application/apply-patch+yaml";

const yamlTypes = new Set(["application/yaml", applyType]);

/** The patch types are for PATCH alone, whose handlers read the body as JSON. */
export const jsonType = "application/json";

/** Most bytes of a body (kube-apiserver, MaxRequestBodyBytes). */
export const mostBodyBytes = 3 * 1024 * 1024;

/**
 * The value of `body`, or null when it is empty. Throws a 415 for a type that is not served and a 400 for
 * bad YAML. For bad JSON it throws the result of `unreadable`.
 */
export async function readBody(
  body: Buffer,
  contentType: string,
  unreadable: (why: string) => Error,
): Promise<Json> {
  const type = mediaType(contentType).toLowerCase();
  const yaml = yamlTypes.has(type);
  const known = type === "" || yaml || type === protobufType || type === jsonType;
  if (!known && body.length > 0)
    throw unsupportedMedia(["application/json", "application/yaml", protobufType].join(", "));
  if (body.length === 0) return null;
  if (type === protobufType) return readProtobuf(body);
  const text = body.toString();
  try {
    return parseJsonText(text);
  } catch {
    if (!yaml) throw unreadable(jsonProblem(text));
  }
  try {
    return load(text) as Json;
  } catch {
    const doing =
      type === applyType ? "encoding patch" : "decoding YAML: error converting YAML to JSON";
    throw badRequest(`error ${doing}: the body is not YAML`);
  }
}

export function mediaType(contentType: string): string {
  return contentType.split(";")[0]?.trim() ?? "";
}
