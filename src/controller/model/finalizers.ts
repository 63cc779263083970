// Which finalizers keep an object that is being deleted, so that a report about the wait can name its reason.
// They are kept beside the objects: there are up to a million objects, and few are being deleted.
import { because, type Reason } from "./reasons.ts";
import { objectOf, stringOf } from "./unstructured.ts";
import type { CachedObject } from "./cluster.ts";

const MOST_NAMED = 3;
// As Kubernetes names them: finalizers are others' identifiers, and nothing else is repeated.
const QUALIFIED_NAME = /^[a-zA-Z0-9]([-a-zA-Z0-9./_]{0,120}[a-zA-Z0-9])?$/;

const known = new WeakMap<CachedObject, readonly string[]>();

/** Notes them of an object that is being deleted and was read from `raw`. */
export function noteFinalizers(object: CachedObject, raw: unknown): void {
  const list: unknown = objectOf(objectOf(raw).metadata).finalizers;
  if (!Array.isArray(list)) return;
  const names: string[] = [];
  for (const each of list) {
    const name = stringOf(each);
    if (QUALIFIED_NAME.test(name)) names.push(name);
    if (names.length === MOST_NAMED) break;
  }
  if (names.length > 0) known.set(object, names);
}

/** Text that something else being deleted waits for its finalizers, or "" without finalizers. */
export function alsoAwaited(object: CachedObject): string {
  const holders = holdersOf(object);
  return holders === undefined ? "" : `, which waits for ${holders}`;
}

/** What an object that is being deleted waits for, in plain English. */
export function awaited(object: CachedObject): Reason {
  const holders = holdersOf(object);
  return holders === undefined
    ? because("Deleting")
    : because("DeletingWithFinalizers", { finalizers: holders });
}

function holdersOf(object: CachedObject): string | undefined {
  const names = known.get(object);
  return names && `the finalizer ${names.join(", ")}`;
}
