// Secrets as the real server treats them: defaults, sizes, the required keys of each type, and immutable
// fields. No message contains a value.
import { isDeepStrictEqual } from "node:util";
import {
  asObject,
  asStringMap,
  asText,
  isObject,
  parseJsonText,
  jsonProblem,
  setMember,
} from "../storage/object.ts";
import type { StoredObject, JsonStrings } from "../storage/object.ts";
import { goName } from "./scalars.ts";
import { forbiddenField, invalidValue, required, tooLong } from "../storage/status.ts";
import type { StatusCause } from "../storage/status.ts";
import { dataKeyErrors } from "./metadata-validation.ts";

/** All values together, decoded, in bytes (core/v1, MaxSecretSize). */
const mostBytes = 1024 * 1024;

/** Defaults the type and moves stringData into data. */
export function prepareSecret(secret: StoredObject): StoredObject {
  const { stringData, data, type, ...rest } = secret;
  const merged = { ...asStringMap(data) };
  for (const [key, text] of Object.entries(asStringMap(stringData)))
    setMember(merged, key, Buffer.from(text).toString("base64"));
  return {
    ...rest,
    ...(Object.keys(merged).length > 0 ? { data: merged } : {}),
    type: type === undefined || type === "" ? "Opaque" : type,
  };
}

export function secretCauses(secret: StoredObject): StatusCause[] {
  const data = asStringMap(secret["data"]);
  let bytes = 0;
  for (const value of Object.values(data)) bytes += Buffer.byteLength(value, "base64");
  return [
    ...Object.keys(data).flatMap((key) =>
      dataKeyErrors(key).map((why) => invalidValue(`data[${key}]`, key, why)),
    ),
    ...(bytes > mostBytes ? [tooLong("data", mostBytes)] : []),
    ...typeCauses(secret, data),
  ];
}

function typeCauses(secret: StoredObject, data: JsonStrings): StatusCause[] {
  switch (asText(secret["type"])) {
    case "kubernetes.io/service-account-token": {
      const key = "kubernetes.io/service-account.name";
      const named = secret.metadata.annotations?.[key] ?? "";
      return named === "" ? [required(`metadata.annotations[${key}]`)] : [];
    }
    case "kubernetes.io/dockercfg":
      return jsonCauses(data, ".dockercfg");
    case "kubernetes.io/dockerconfigjson":
      return jsonCauses(data, ".dockerconfigjson");
    case "kubernetes.io/basic-auth":
      return "username" in data || "password" in data ? [] : missing(data, "username", "password");
    case "kubernetes.io/ssh-auth":
      return data["ssh-privatekey"] ? [] : [required("data[ssh-privatekey]")];
    case "kubernetes.io/tls":
      return missing(data, "tls.crt", "tls.key");
    default:
      return [];
  }
}

function missing(data: JsonStrings, ...keys: readonly string[]): StatusCause[] {
  return keys.filter((key) => !(key in data)).map((key) => required(`data[${key}]`));
}

function jsonCauses(data: JsonStrings, key: string): StatusCause[] {
  const value = data[key];
  if (value === undefined) return [required(`data[${key}]`)];
  const problem = configProblem(Buffer.from(value, "base64").toString());
  return problem === undefined
    ? []
    : [invalidValue(`data[${key}]`, "<secret contents redacted>", problem)];
}

// Go quotes the invalid character, so one character of the value is part of the message.
function configProblem(text: string): string | undefined {
  try {
    const value = parseJsonText(text);
    return value === null || isObject(value)
      ? undefined
      : `json: cannot unmarshal ${goName(value)} into Go value of type map[string]interface {}`;
  } catch {
    return jsonProblem(text);
  }
}

const frozen = "field is immutable when `immutable` is set";

export function secretUpdateCauses(next: StoredObject, before: StoredObject): StatusCause[] {
  const causes: StatusCause[] = [];
  if (next["type"] !== before["type"])
    causes.push(invalidValue("type", asText(next["type"]), "field is immutable"));
  return [...causes, ...immutableCauses(next, before, ["data"])];
}

/** For Secrets and ConfigMaps: what `immutable: true` forbids. */
export function immutableCauses(
  next: StoredObject,
  before: StoredObject,
  fields: readonly string[],
): StatusCause[] {
  if (before["immutable"] !== true) return [];
  const causes = next["immutable"] === true ? [] : [forbiddenField("immutable", frozen)];
  for (const field of fields) {
    if (!isDeepStrictEqual(asObject(next[field]), asObject(before[field])))
      causes.push(forbiddenField(field, frozen));
  }
  return causes;
}
