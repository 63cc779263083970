// The worst that annotations and names can hold, at the API server's own limits. Pure.

/** `count` renames of one entry: what it holds, times `count`. */
export function renames(old: string, count: number): string {
  return Array.from({ length: count }, (_, at) => `a${at}=${old}`).join(",");
}

/** `count` globs that a matcher which tries every split never gets through with. */
export function nastyGlobs(count: number, negative = false): string {
  const one = (at: number): string => `${"*a".repeat(40)}*b${at}`;
  return Array.from({ length: count }, (_, at) => (negative ? `!${one(at)}` : one(at))).join(",");
}

/** A comma-separated list of long literals that takes about `bytes`. */
export function longList(bytes: number): string {
  const count = Math.floor(bytes / 201);
  return Array.from({ length: count }, (_, at) => `${at}-`.padEnd(200, "k")).join(",");
}

/** A selector of as many requirements as fit in `bytes`. */
export function longSelector(bytes: number): string {
  const one = (at: number): string => `k${at} notin (${"v,".repeat(20)}w)`;
  const count = Math.floor(bytes / (one(99_999).length + 1));
  return Array.from({ length: count }, (_, at) => one(at)).join(",");
}

/** The longest name that the API takes. */
export function longName(base: string): string {
  return `${base}-`.padEnd(253, "x");
}

/** `count` labels or annotations. */
export function manyKeys(count: number): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Array.from({ length: count }, (_, at) => [`example.com/${"a".repeat(30)}${at}`, "x"]),
  );
}

/** What people and attackers write where NAMESPACE/NAME is asked for. */
export const NONSENSE = [
  "",
  " ",
  "/",
  "//",
  "a/b/c",
  "nowhere/nothing",
  "secretcast/registry ",
  " secretcast/registry",
  "secretcast/registry\n",
  "\tsecretcast/registry",
  "SECRETCAST/registry",
  "secretcast/../registry",
  "secretcast/*",
  "secretcast/registry,secretcast/tls",
  "secretcast\u0000/registry",
  "\u202e/registry",
  "__proto__/constructor",
  `${"n".repeat(60_000)}/${"x".repeat(60_000)}`,
] as const;

/** Names that fall into one of a thousand slots of a table that hashes by FNV-1a. */
export function collidingNames(base: string, count: number): readonly string[] {
  const names: string[] = [];
  for (let at = 0; names.length < count; at++) {
    const name = `${base}-${at.toString(36)}`;
    if (fnv1a(name) % 1024 === 0) names.push(name);
  }
  return names;
}

function fnv1a(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return hash >>> 0;
}
