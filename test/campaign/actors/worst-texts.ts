// The worst that annotations and names can hold, at the API server's own limits. Pure.
import { list, texts } from "../../support/planner/worst-objects.ts";
import type { Texts } from "../model/raw.ts";

/** `count` renames of one entry: what it holds, times `count`. */
export const renames = (old: string, count: number): string =>
  list(Infinity, (at) => `a${at}=${old}`, count);

/** `count` globs that a matcher which tries every split never gets through with. */
export const nastyGlobs = (count: number, negative = false): string =>
  list(Infinity, (at) => `${negative ? "!" : ""}${"*a".repeat(40)}*b${at}`, count);

/** A comma-separated list of long literals that takes about `bytes`. */
export const longList = (bytes: number): string => list(bytes, (at) => `${at}-`.padEnd(200, "k"));

/** A selector of as many requirements as fit in `bytes`. */
export const longSelector = (bytes: number): string =>
  list(bytes, (at) => `k${at} notin (${"v,".repeat(20)}w)`);

/** The longest name that the API takes. */
export const longName = (base: string): string => `${base}-`.padEnd(253, "x");

/** `count` labels or annotations. */
export const manyKeys = (count: number): Texts =>
  texts(count, (at) => `example.com/${"a".repeat(30)}${at}`, "x");

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
