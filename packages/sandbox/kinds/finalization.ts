// Deletion of objects. An object is marked while finalizers hold it, and deleted when the last finalizer is
// removed.
import { asList, asObject } from "../storage/object.ts";
import type { StoredObject, Metadata } from "../storage/object.ts";
import { namespaces } from "./resources.ts";
import type { Collection } from "../storage/storage.ts";

/** Times in objects have whole seconds. */
export function timestamp(now: number): string {
  return `${new Date(now).toISOString().slice(0, 19)}Z`;
}

/** Whether nothing delays the deletion of `object`. */
export function isFinal(object: StoredObject): boolean {
  if (object.metadata.deletionTimestamp === undefined) return false;
  const ofSpec =
    object.kind === namespaces.kind ? asList(asObject(object["spec"])["finalizers"]) : [];
  return (object.metadata.finalizers?.length ?? 0) + ofSpec.length === 0;
}

/** Marks `object` as being deleted, for its finalizers to act on. */
export function marked(object: StoredObject, now: number): StoredObject {
  const metadata: Metadata = {
    ...object.metadata,
    deletionTimestamp: timestamp(now),
    deletionGracePeriodSeconds: 0,
  };
  return { ...object, metadata };
}

/**
 * Deletes the object under `key`, or marks it while finalizers hold it. Returns the remaining object, if
 * any.
 */
export function erase(collection: Collection, key: string, now: number): StoredObject | undefined {
  const object = collection.get(key);
  if (object === undefined) return undefined;
  if ((object.metadata.finalizers?.length ?? 0) === 0) {
    collection.remove(key);
    return undefined;
  }
  if (object.metadata.deletionTimestamp !== undefined) return object;
  return collection.put(key, marked(object, now));
}
