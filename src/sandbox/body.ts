// Request bodies: JSON, protobuf, or YAML where the content type allows it. YAML needs a parser that is slow to
// load, so it is loaded by the first body that is not JSON as well.
import type { Json } from "./object.ts";
import { protobufType, readProtobuf } from "./protobuf.ts";
import { badRequest, unsupportedMedia } from "./status.ts";

const yamlTypes = new Set(["application/yaml", "application/apply-patch+yaml"]);

const jsonType = /^application\/([a-z-]+\+)?json$/;

/** Most bytes of a body (kube-apiserver, MaxRequestBodyBytes). */
export const mostBodyBytes = 3 * 1024 * 1024;

/**
 * The value of `body`, which should be a `kind`; an empty body is an empty object. Throws a 400 or 415.
 */
export async function readBody(body: Buffer, contentType: string, kind: string): Promise<Json> {
  const type = contentType.split(";")[0]?.trim() ?? "";
  const yaml = yamlTypes.has(type);
  const known = type === "" || yaml || type === protobufType || jsonType.test(type);
  if (!known && body.length > 0)
    throw unsupportedMedia(["application/json", "application/yaml", protobufType].join(", "));
  if (body.length === 0) return {};
  if (type === protobufType) return readProtobuf(body);
  const text = body.toString();
  try {
    return JSON.parse(text) as Json;
  } catch {
    if (!yaml)
      throw badRequest(
        `the object provided is unrecognized (must be of type ${kind}): couldn't get version/kind; json parse error: the body is not JSON`,
      );
  }
  const { loadYaml } = await import("@kubernetes/client-node");
  try {
    return loadYaml<Json>(text);
  } catch {
    throw badRequest("error decoding YAML: the body is not YAML");
  }
}
