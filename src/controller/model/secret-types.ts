// What the API server requires of a Secret of each type.

// The keys that kube-apiserver's validation requires of a type, all of them ...
const REQUIRED: ReadonlyMap<string, readonly string[]> = new Map([
  ["kubernetes.io/tls", ["tls.crt", "tls.key"]],
  ["kubernetes.io/dockerconfigjson", [".dockerconfigjson"]],
  ["kubernetes.io/dockercfg", [".dockercfg"]],
  ["kubernetes.io/ssh-auth", ["ssh-privatekey"]],
]);
// ... or one of them.
const BASIC_AUTH = "kubernetes.io/basic-auth";
const BASIC_AUTH_KEYS = ["username", "password"];

/** The API server would not take `type` without `key`. */
export function requiredKeys(type: string, key: string): boolean {
  if (type === BASIC_AUTH) return BASIC_AUTH_KEYS.includes(key);
  return REQUIRED.get(type)?.includes(key) ?? false;
}

/** The type of a copy that holds `keys`: the source's, or Opaque where a required key is left out. */
export function copyType(type: string, keys: readonly string[]): string {
  const enough =
    type === BASIC_AUTH
      ? BASIC_AUTH_KEYS.some((key) => keys.includes(key))
      : (REQUIRED.get(type) ?? []).every((key) => keys.includes(key));
  return enough ? type : "Opaque";
}

/** True for an empty value, and for the least that the type allows. `value`: base64. */
export function isEmptyEntry(type: string, key: string, value: string): boolean {
  return value === "" || (requiredKeys(type, key) && value === emptyEntry(type));
}

const EMPTY_JSON = "e30="; // {}
const NEWLINE = "Cg==";

/** What is left of a required entry that is taken out: base64 of the least that the type allows. */
export function emptyEntry(type: string): string {
  if (type === "kubernetes.io/ssh-auth") return NEWLINE;
  return type.startsWith("kubernetes.io/docker") ? EMPTY_JSON : "";
}
