// The cache of one informer: objects by namespace and name, with indices.
// Promises: each change is complete (objects, indices, size) before any other code runs. The answers of our own
// writes are visible at once and never undone by an older event (read your writes). An object that a relist
// returns unchanged stays the same JavaScript object.
// Does not promise that the watch has caught up. Objects are read only: copy one before changing it.
import type { Clock } from "../time/clock.ts";
import { ObjectTable, type SharedTable } from "./object-table.ts";
import { isReached, OwnWrites, type OwnWrite } from "./own-writes.ts";
import type { IndexFunction } from "./store-index.ts";
import {
  changeOf,
  sameVersion,
  storeKey,
  type ObjectKey,
  type StoreChange,
  type StoreListeners,
  type Stored,
} from "./stored.ts";
import { compareVersions } from "../rest/resource.ts";

/** The objects of one informer by namespace and name, with indices. Objects are read only. */
export class Store<T extends Stored> {
  readonly #listeners: StoreListeners<T> = {};
  #table = new ObjectTable<T>();
  /** The one name of its objects. Undefined: the store has the table for itself. */
  #only: string | undefined;
  readonly #written: OwnWrites<T>;
  #size = 0;
  #syncedTo = "";

  /** Called by an informer. */
  constructor(clock: Pick<Clock, "monotonic">) {
    this.#written = new OwnWrites(clock);
  }

  /**
   * A store of one name's objects in a table of several stores.
   * @internal
   */
  static sharing<T extends Stored>(
    clock: Pick<Clock, "monotonic">,
    { table, name }: SharedTable<T>,
  ): Store<T> {
    const store = new Store<T>(clock);
    store.#table = table;
    store.#only = name;
    return store;
  }

  /** Returns one object. The namespace of a cluster-scoped object is "" or undefined. */
  get(namespace: string | undefined, name: string): T | undefined {
    return this.#table.get(namespace, name);
  }

  /** By name. The namespace of cluster-scoped objects is "". */
  inNamespace(namespace: string): ReadonlyMap<string, T> {
    return this.#table.inNamespace(namespace);
  }

  /** All objects, in no particular order. */
  list(): readonly T[] {
    return this.#table.list(this.#only);
  }

  /** The number of objects. */
  get size(): number {
    return this.#size;
  }

  /** The version up to which the watch has been followed. "" before the first list. */
  get syncedTo(): string {
    return this.#syncedTo;
  }

  /** Adds an index, which also covers the objects in the store. Throws when the name is taken. */
  addIndex(name: string, values: IndexFunction<T>): void {
    this.#table.addIndex(name, values);
  }

  /** The objects that have `value` in the index. */
  byIndex(name: string, value: string): ReadonlySet<T> {
    return this.#table.byIndex(name, value);
  }

  /** All values in the index. */
  listIndexValues(name: string): readonly string[] {
    return this.#table.listIndexValues(name);
  }

  /** Stores the answer of a write, unless the store or the watch is at least as new. */
  recordWrite(object: T): void {
    this.#expire();
    const { namespace, name, uid, resourceVersion } = object;
    const entry = this.#written.get(object);
    const shown = this.get(namespace, name);
    const known = shown?.resourceVersion ?? entry?.version ?? "";
    if (compareVersions(resourceVersion, known) <= 0) return;
    if (compareVersions(resourceVersion, this.#syncedTo) <= 0) return;
    if (entry && !entry.object && entry.uid === uid) return;
    this.#write({ namespace, name, uid, version: resourceVersion, object });
  }

  /**
   * Like recordWrite. It also accepts the version that is shown, because other rules may have read it since.
   */
  recordReading(object: T): void {
    const { namespace, name } = object;
    if (!sameVersion(this.get(namespace, name), object)) {
      this.recordWrite(object);
      return;
    }
    const entry = this.#written.get(object);
    if (entry && sameVersion(entry.base, object)) entry.base = object;
    if (entry && sameVersion(entry.object, object)) entry.object = object;
    this.#show(object, object);
  }

  /**
   * Call it after our DELETE was answered. It hides that object and late events about it. Do not use it for a
   * DELETE that left the object with a finalizer: pass the answer, which is the object, to `recordWrite`. If
   * the object is not shown, the watch has already reported its deletion, and later events are stored as they
   * are.
   */
  recordDelete(namespace: string | undefined, name: string, uid: string): void {
    this.#expire();
    const shown = this.get(namespace, name);
    if (shown?.uid !== uid) return;
    this.#write({ namespace, name, uid, version: shown.resourceVersion, object: undefined });
  }

  // The rest is for the informer alone: it takes what the watch reports and returns what handlers must receive.

  /**
   * Each event has one listener.
   * @internal
   */
  listen(listeners: StoreListeners<T>): void {
    Object.assign(this.#listeners, listeners);
  }

  /**
   * Stores an object that exists.
   * @internal
   */
  upsert(object: T): StoreChange<T> | undefined {
    this.#expire();
    this.#advance(object.resourceVersion);
    return this.#observe(object, object, object.resourceVersion);
  }

  /**
   * Removes an object that no longer exists. `last` is its last state, if the caller knows a newer one.
   * @internal
   */
  remove(gone: Stored, last?: T): StoreChange<T> | undefined {
    this.#expire();
    this.#advance(gone.resourceVersion);
    const change = this.#observe(gone, undefined, gone.resourceVersion);
    return change?.kind === "delete" && last ? { ...change, last } : change;
  }

  /**
   * Fills an empty store with the complete state as of `version`. Returns false if the store is not empty. It
   * builds no list of changes, so a million objects can be stored.
   * @internal
   */
  fill(items: readonly T[], version: string): boolean {
    if (this.#size > 0 || this.#written.size > 0) return false;
    for (const item of items) this.#show(item, item);
    this.#syncedTo = version;
    return true;
  }

  /**
   * Replaces the content with the complete state as of `version`. Deletions come first, then new or changed
   * objects in list order.
   * @internal
   */
  replace(items: readonly T[], version: string): readonly StoreChange<T>[] {
    this.#expire();
    // The server's history changed. It does not contain our writes and will not reach their versions.
    if (compareVersions(version, this.#syncedTo) < 0) this.dropOverlay();
    const listed = new Map(items.map((item) => [storeKey(item), item]));
    const changes: (StoreChange<T> | undefined)[] = [];
    for (const old of this.#written.bases(this.list())) {
      if (listed.has(storeKey(old))) continue;
      const change = this.#observe(old, undefined, version);
      changes.push(change?.kind === "delete" ? { ...change, finalStateUnknown: true } : change);
    }
    for (const item of listed.values()) changes.push(this.#observe(item, item, version));
    this.#syncedTo = version;
    this.bookmark(version);
    return changes.filter((change) => change !== undefined);
  }

  /**
   * The watch has delivered everything up to `version`.
   * @internal
   */
  bookmark(version: string): void {
    this.#expire();
    this.#advance(version);
    for (const entry of this.#written.all()) if (isReached(entry, version)) this.#settle(entry);
  }

  /**
   * Uses the state of the watch for everything and drops the results of our own writes.
   * @internal
   */
  dropOverlay(): void {
    for (const entry of this.#written.all()) this.#settle(entry);
  }

  #advance(version: string): void {
    if (compareVersions(version, this.#syncedTo) > 0) this.#syncedTo = version;
  }

  // The watch reports `object` (or its absence) for one key, as of `version`.
  #observe(at: ObjectKey, object: T | undefined, version: string): StoreChange<T> | undefined {
    const entry = this.#written.get(at);
    const before = this.get(at.namespace, at.name);
    const old = entry ? entry.base : before;
    if (sameVersion(old, object)) return undefined;
    if (entry) {
      entry.base = object;
      if (isReached(entry, version)) this.#settle(entry);
    } else this.#show(at, object);
    const ownWrite = sameVersion(before, this.get(at.namespace, at.name));
    return changeOf(old, object, { ownWrite });
  }

  #write(written: Omit<OwnWrite<T>, "base" | "at">): void {
    const entry = this.#written.get(written);
    const base = entry ? entry.base : this.get(written.namespace, written.name);
    this.#written.put({ ...written, base });
    this.#show(written, written.object);
  }

  // The state of the watch is used again.
  #settle(entry: OwnWrite<T>): void {
    this.#written.delete(entry);
    if (!sameVersion(this.get(entry.namespace, entry.name), entry.base))
      this.#show(entry, entry.base);
  }

  #expire(): void {
    for (const entry of this.#written.expired()) {
      const shown = this.get(entry.namespace, entry.name);
      this.#settle(entry);
      const change = changeOf(shown, entry.base, { finalStateUnknown: true });
      if (change) this.#listeners.expired?.(change);
    }
  }

  #show(at: ObjectKey, object: T | undefined): void {
    const old = this.#table.set(at, object);
    this.#size += Number(object !== undefined) - Number(old !== undefined);
    this.#listeners.shown?.(old, object);
  }
}
