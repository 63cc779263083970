// Small functions for a controller: whole objects, keys, handlers that only enqueue, owner references.
// Promises: the functions are pure and change no object. Does not promise to save memory: a cache of whole
// objects keeps every field. A controller with many objects should write a transform that keeps only the fields
// it reads.
import type { EventHandler } from "../cache/event-handlers.ts";
import type { KubeObject } from "../rest/resource.ts";
import type { Stored } from "../store/stored.ts";

/** The result of {@link wholeObject}: the object as the server sent it, with the fields of a cache. */
export type WholeObject<O extends KubeObject = KubeObject> = Stored & {
  /** "" for cluster-scoped objects. */
  readonly namespace: string;
  /** Read only: it belongs to the cache. */
  readonly object: O;
};

/**
 * A transform for an Informer that keeps each object whole. `O` is the type that the API server guarantees for
 * that resource. It is not checked here.
 */
export function wholeObject<O extends KubeObject>(raw: KubeObject): WholeObject<O> {
  const { namespace = "", name, uid, resourceVersion } = raw.metadata;
  return { namespace, name, uid, resourceVersion, object: raw as O };
}

/** Returns `namespace/name`, or only the name of a cluster-scoped object: the usual queue key. */
export function objectKey({ namespace, name }: Pick<Stored, "namespace" | "name">): string {
  return namespace ? `${namespace}/${name}` : name;
}

/** Splits a key of {@link objectKey} into the namespace ("" if absent) and the name. */
export function splitKey(key: string): readonly [namespace: string, name: string] {
  const slash = key.indexOf("/");
  return slash < 0 ? ["", key] : [key.slice(0, slash), key.slice(slash + 1)];
}

/**
 * A handler that only enqueues. For each event it calls `add` with every key of the object's old and new state.
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

/** Returns the owner that controls the object. Compare its UID, since names can be reused. */
export function controllerOf(object: KubeObject): OwnerReference | undefined {
  const owners = object.metadata["ownerReferences"];
  if (!Array.isArray(owners)) return undefined;
  return (owners as readonly OwnerReference[]).find(({ controller }) => controller === true);
}

/**
 * The owner reference that makes `owner` the controller of an object in its namespace. The garbage collector
 * deletes the object with it. Objects of a list lack apiVersion and kind, so the caller passes them.
 */
export function controllerReference(
  owner: KubeObject,
  apiVersion: string,
  kind: string,
): OwnerReference {
  const { name, uid } = owner.metadata;
  return { apiVersion, kind, name, uid, controller: true, blockOwnerDeletion: true };
}
