// Secrets and ConfigMaps as the real server treats them: defaults, sizes, the required keys of each type, and
// immutable fields. No message contains a value.
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
import {
  causesOf,
  forbiddenField,
  invalidValue,
  invalidValues,
  required,
  tooLong,
} from "../storage/status.ts";
import type { StatusCause } from "../storage/status.ts";
import { dataKeyErrors } from "./metadata-validation.ts";

/** All values together, decoded, in bytes (core/v1, MaxSecretSize). */
const mostDataBytes = 1024 * 1024;

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

export function secretCauses(
  secret: StoredObject,
  before: StoredObject | undefined,
): StatusCause[] {
  const data = asStringMap(secret["data"]);
  return causesOf(
    before !== undefined &&
      secret["type"] !== before["type"] &&
      invalidValue("type", asText(secret["type"]), "field is immutable"),
    immutableCauses(secret, before, ["data"]),
    dataKeyCauses(Object.keys(data)),
    bytesIn(data, "base64") > mostDataBytes && tooLong("data", mostDataBytes),
    typeCauses(secret, data),
  );
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

export function configMapCauses(
  map: StoredObject,
  before: StoredObject | undefined,
): StatusCause[] {
  const text = asStringMap(map["data"]);
  const binary = asStringMap(map["binaryData"]);
  return causesOf(
    immutableCauses(map, before, ["data", "binaryData"]),
    Object.keys(text)
      .filter((key) => Object.hasOwn(binary, key))
      .map((key) => invalidValue(`data[${key}]`, key, "duplicate of key present in binaryData")),
    dataKeyCauses([...Object.keys(text), ...Object.keys(binary)]),
    bytesIn(text, "utf8") + bytesIn(binary, "base64") > mostDataBytes &&
      tooLong("[]", mostDataBytes),
  );
}

function dataKeyCauses(keys: readonly string[]): StatusCause[] {
  return keys.flatMap((key) => invalidValues(`data[${key}]`, key, dataKeyErrors(key)));
}

function bytesIn(data: JsonStrings, encoding: "base64" | "utf8"): number {
  return Object.values(data).reduce((sum, value) => sum + Buffer.byteLength(value, encoding), 0);
}

const frozen = "field is immutable when `immutable` is set";

/** What `immutable: true` forbids. */
function immutableCauses(
  next: StoredObject,
  before: StoredObject | undefined,
  fields: readonly string[],
): StatusCause[] {
  if (before?.["immutable"] !== true) return [];
  const isSame = (field: string) =>
    isDeepStrictEqual(asObject(next[field]), asObject(before[field]));
  return causesOf(
    next["immutable"] !== true && forbiddenField("immutable", frozen),
    fields.filter((field) => !isSame(field)).map((field) => forbiddenField(field, frozen)),
  );
}
