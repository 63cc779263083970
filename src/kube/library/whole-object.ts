// Small words of a controller: objects kept whole, keys, handlers that only enqueue, owners.
// Promises: pure; no object is changed. Does not promise to be lean: a cache of whole objects holds all
// of each; a controller over many objects writes a transform of its own that keeps what it looks at.
import type { EventHandler } from "../cache/event-handlers.ts";
import type { KubeObject } from "../rest/resource.ts";
import type { Stored } from "../cache/store.ts";

/** What {@link wholeObject} keeps: the object as the server sent it, under the fields of a cache. */
export type WholeObject<O extends KubeObject = KubeObject> = Stored & {
  /** "" for cluster-scoped objects. */
  readonly namespace: string;
  /** Read only: it is the cache's own. */
  readonly object: O;
};

/**
 * A transform for an Informer that keeps all of each object. `O` is the shape that the API server
 * holds that resource to; it is not checked here.
 */
export function wholeObject<O extends KubeObject>(raw: KubeObject): WholeObject<O> {
  const { namespace = "", name, uid, resourceVersion } = raw.metadata;
  return { namespace, name, uid, resourceVersion, object: raw as O };
}

/** `namespace/name`, or the name alone of a cluster-scoped object: the key of nearly every queue. */
export function objectKey({ namespace, name }: Pick<Stored, "namespace" | "name">): string {
  return namespace ? `${namespace}/${name}` : name;
}

/** The namespace ("" when there is none) and the name that {@link objectKey} put together. */
export function splitKey(key: string): readonly [namespace: string, name: string] {
  const slash = key.indexOf("/");
  return slash < 0 ? ["", key] : [key.slice(0, slash), key.slice(slash + 1)];
}

/**
 * A handler that does no work: whatever happened to an object, `add` is called with each of its keys,
 * those of its state before and those of its state now.
 */
export function enqueueKeys<T>(
  keys: (object: T) => Iterable<string>,
  add: (key: string) => void,
): EventHandler<T> {
  const each = (object: T): void => {
    for (const key of keys(object)) add(key);
  };
  return {
    add: each,
    update(old, object) {
      if (old !== object) each(old);
      each(object);
    },
    delete: each,
  };
}

/** An entry of metadata.ownerReferences. */
export type OwnerReference = {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
  readonly controller?: boolean;
  readonly blockOwnerDeletion?: boolean;
};

/** The one owner that controls the object; compare its UID, since names are given again. */
export function controllerOf(object: KubeObject): OwnerReference | undefined {
  const owners = object.metadata["ownerReferences"];
  if (!Array.isArray(owners)) return undefined;
  return (owners as readonly OwnerReference[]).find(({ controller }) => controller === true);
}

/**
 * The owner reference that makes `owner` the controller of an object in its namespace: the garbage
 * collector deletes the object with it. Objects of a list lack apiVersion and kind, so they are given.
 */
export function controllerReference(
  owner: KubeObject,
  apiVersion: string,
  kind: string,
): OwnerReference {
  const { name, uid } = owner.metadata;
  return { apiVersion, kind, name, uid, controller: true, blockOwnerDeletion: true };
}
