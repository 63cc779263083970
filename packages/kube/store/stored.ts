// One object of a cache, and what changes when the watch reports it.

/** The fields that a cache needs of an object: its name and its version. */
export type Stored = {
  /** Absent for cluster-scoped objects. */
  readonly namespace?: string | undefined;
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
};

/**
 * The content of one event of the watch, for handlers. `ownWrite`: the store shows the same version as before,
 * because our own write had already stored it or a newer one.
 */
export type StoreChange<T> =
  | { readonly kind: "add"; readonly object: T; readonly ownWrite: boolean }
  | { readonly kind: "update"; readonly old: T; readonly object: T; readonly ownWrite: boolean }
  | {
      readonly kind: "delete";
      readonly last: T;
      /** Found missing in a relist. `last` may not be its last state. */
      readonly finalStateUnknown: boolean;
      readonly ownWrite: boolean;
    };

/** Who is called at what happens to a store. */
export type StoreListeners<T> = {
  /**
   * The watch did not confirm one of our writes within five minutes and the store therefore changes: from the
   * shown state to the state of the watch.
   */
  readonly expired?: ((change: StoreChange<T>) => void) | undefined;
  /**
   * What the store shows has changed, whatever caused it: the watch, our own write, or the end of its five
   * minutes.
   */
  readonly shown?: ((old: T | undefined, now: T | undefined) => void) | undefined;
};

/** Where an object is. */
export type ObjectKey = Pick<Stored, "namespace" | "name">;

/** The change that handlers receive. Undefined if there is no change. */
export function changeOf<T extends Stored>(
  old: T | undefined,
  object: T | undefined,
  { ownWrite = false, finalStateUnknown = false },
): StoreChange<T> | undefined {
  if (sameVersion(old, object)) return undefined;
  if (!object) return old && { kind: "delete", last: old, finalStateUnknown, ownWrite };
  return old ? { kind: "update", old, object, ownWrite } : { kind: "add", object, ownWrite };
}

export function storeKey({ namespace = "", name }: ObjectKey): string {
  return `${namespace}/${name}`;
}

/** Whether both are the same version of an object, or both absent. */
export function sameVersion(a: Stored | undefined, b: Stored | undefined): boolean {
  return a?.uid === b?.uid && a?.resourceVersion === b?.resourceVersion;
}
