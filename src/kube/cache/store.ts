// The cache of one informer: objects by namespace and name, with indices.
// Promises: each change is whole before the next line of anyone's code runs (objects, indices, size);
// what our own writes returned is seen at once and never undone by an older event (read your writes);
// an object that a relist brings again unchanged stays the same JavaScript object.
// Does not promise: that the watch has caught up. Objects are read only; copy before changing.
//
// Read your writes: a write's answer goes into the store, and what the watch has said of that key is
// kept beside it as `base`. Events older than the write only move `base`. The entry ends when the
// watch has reached the write, or after five minutes, when the watch's word counts again.
import type { Clock } from "../time/clock.ts";
import { StoreIndex } from "./store-index.ts";
import type { IndexFunction } from "./store-index.ts";
import { compareVersions } from "../rest/resource.ts";

/** What a cache needs of an object: its name and which version of it this is. */
export type Stored = {
  /** Absent for cluster-scoped objects. */
  readonly namespace?: string | undefined;
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
};

/**
 * What one event of the watch said, for handlers. `ownWrite`: the store shows the same version as
 * before, because our own write had brought it there (or something newer) already.
 */
export type StoreChange<T> =
  | { readonly kind: "add"; readonly object: T; readonly ownWrite: boolean }
  | { readonly kind: "update"; readonly old: T; readonly object: T; readonly ownWrite: boolean }
  | {
      readonly kind: "delete";
      readonly last: T;
      /** Found missing in a relist: `last` may not be the last state there was. */
      readonly finalStateUnknown: boolean;
      readonly ownWrite: boolean;
    };

type Key = Pick<Stored, "namespace" | "name">;

type Written<T> = Key & {
  /** What the watch says; undefined when it knows of no such object. */
  base: T | undefined;
  /** What our write left; undefined after our DELETE. */
  readonly object: T | undefined;
  readonly uid: string;
  /** Of the write's answer; for a DELETE the last version before it. */
  readonly version: string;
  readonly at: number;
};

const OVERLAY_MS = 300_000;
const NOTHING: ReadonlyMap<string, never> = new Map<string, never>();

/** The objects of one informer by namespace and name, with indices. Objects are read only. */
export class Store<T extends Stored> {
  readonly #clock: Pick<Clock, "monotonic">;
  #onExpired: (change: StoreChange<T>) => void = () => undefined;
  readonly #objects = new Map<string, Map<string, T>>();
  readonly #indices = new Map<string, StoreIndex<T>>();
  readonly #written = new Map<string, Written<T>>();
  #size = 0;
  #syncedTo = "";

  /** An informer makes its own. */
  constructor(clock: Pick<Clock, "monotonic">) {
    this.#clock = clock;
  }

  /** One object; for cluster-scoped ones the namespace is "" or undefined. */
  get(namespace: string | undefined, name: string): T | undefined {
    return this.#objects.get(namespace ?? "")?.get(name);
  }

  /** By name; for cluster-scoped objects the namespace is "". */
  inNamespace(namespace: string): ReadonlyMap<string, T> {
    return this.#objects.get(namespace) ?? NOTHING;
  }

  /** All objects, in no order that means anything. */
  list(): readonly T[] {
    const all: T[] = [];
    for (const objects of this.#objects.values())
      for (const object of objects.values()) all.push(object);
    return all;
  }

  /** How many objects there are. */
  get size(): number {
    return this.#size;
  }

  /** The version up to which the watch has been followed; "" before the first list. */
  get syncedTo(): string {
    return this.#syncedTo;
  }

  /** Covers the objects already here as well; a name is taken once. */
  addIndex(name: string, values: IndexFunction<T>): void {
    if (this.#indices.has(name)) throw new Error(`index "${name}" exists already`);
    const index = new StoreIndex(values);
    for (const object of this.list()) index.add(object);
    this.#indices.set(name, index);
  }

  /** The objects that the index has under the value. */
  byIndex(name: string, value: string): ReadonlySet<T> {
    return this.#index(name).get(value);
  }

  /** Every value that an index has objects under. */
  listIndexValues(name: string): readonly string[] {
    return this.#index(name).values();
  }

  /** Takes what a write returned, unless the store or the watch is at least as new. */
  recordWrite(object: T): void {
    this.#expire();
    const { namespace, name, uid, resourceVersion } = object;
    const entry = this.#written.get(keyOf(object));
    const shown = this.get(namespace, name);
    const known = shown?.resourceVersion ?? entry?.version ?? "";
    if (compareVersions(resourceVersion, known) <= 0) return;
    if (compareVersions(resourceVersion, this.#syncedTo) <= 0) return;
    if (entry && !entry.object && entry.uid === uid) return;
    this.#write({ namespace, name, uid, version: resourceVersion, object });
  }

  /** As recordWrite; also the same version as is shown, read by other rules since. */
  recordReading(object: T): void {
    const { namespace, name } = object;
    if (!same(this.get(namespace, name), object)) {
      this.recordWrite(object);
      return;
    }
    const entry = this.#written.get(keyOf(object));
    if (entry && same(entry.base, object)) entry.base = object;
    if (entry && same(entry.object, object)) this.#written.set(keyOf(object), { ...entry, object });
    this.#show(object, object);
  }

  /**
   * After our DELETE was answered: hides that object, and late events of it. Not for a DELETE that
   * left the object behind with a finalizer; its answer is the object, for `recordWrite`. Of an object
   * that is not shown the watch has told the end already, and what it tells from then on is so.
   */
  recordDelete(namespace: string | undefined, name: string, uid: string): void {
    this.#expire();
    const shown = this.get(namespace, name);
    if (shown?.uid !== uid) return;
    this.#write({ namespace, name, uid, version: shown.resourceVersion, object: undefined });
  }

  // What follows is for the informer alone: what the watch says, answered by what handlers must know.

  /**
   * Calls `listener` with what the store shows otherwise because one of our writes was not met by the
   * watch for five minutes: from what it showed to what the watch says.
   * @internal
   */
  whenExpired(listener: (change: StoreChange<T>) => void): void {
    this.#onExpired = listener;
  }

  /**
   * An object that is there.
   * @internal
   */
  upsert(object: T): StoreChange<T> | undefined {
    this.#expire();
    this.#advance(object.resourceVersion);
    return this.#observe(object, object, object.resourceVersion);
  }

  /**
   * An object that no longer exists; `last` is its last state, when known better than here.
   * @internal
   */
  remove(gone: Stored, last?: T): StoreChange<T> | undefined {
    this.#expire();
    this.#advance(gone.resourceVersion);
    const change = this.#observe(gone, undefined, gone.resourceVersion);
    return change?.kind === "delete" && last ? { ...change, last } : change;
  }

  /**
   * The whole truth as of `version`, into a store that knows nothing yet: each is new. False: it knows
   * something. A million objects are taken in without a list of what changed.
   * @internal
   */
  fill(items: readonly T[], version: string): boolean {
    if (this.#size > 0 || this.#written.size > 0) return false;
    for (const item of items) this.#show(item, item);
    this.#syncedTo = version;
    return true;
  }

  /**
   * The whole truth as of `version`: deletions first, then what is new or different, in list order.
   * @internal
   */
  replace(items: readonly T[], version: string): readonly StoreChange<T>[] {
    this.#expire();
    // The server's history is another: nothing of ours is in it, and nothing will reach its versions.
    if (compareVersions(version, this.#syncedTo) < 0) this.distrust();
    const listed = new Map(items.map((item) => [keyOf(item), item]));
    const changes: (StoreChange<T> | undefined)[] = [];
    for (const old of this.#bases().filter((base) => !listed.has(keyOf(base)))) {
      const change = this.#observe(old, undefined, version);
      changes.push(change?.kind === "delete" ? { ...change, finalStateUnknown: true } : change);
    }
    for (const item of listed.values()) changes.push(this.#observe(item, item, version));
    this.#syncedTo = version;
    this.bookmark(version);
    return changes.filter((change) => change !== undefined);
  }

  /**
   * The watch has nothing up to `version` left to tell.
   * @internal
   */
  bookmark(version: string): void {
    this.#expire();
    this.#advance(version);
    for (const entry of this.#written.values()) if (reached(entry, version)) this.#settle(entry);
  }

  /**
   * The watch's word counts for everything: what our own writes left is no longer so.
   * @internal
   */
  distrust(): void {
    for (const entry of this.#written.values()) this.#settle(entry);
  }

  #advance(version: string): void {
    if (compareVersions(version, this.#syncedTo) > 0) this.#syncedTo = version;
  }

  // The watch says `object` (or nothing) of one key, as of `version`.
  #observe(at: Key, object: T | undefined, version: string): StoreChange<T> | undefined {
    const entry = this.#written.get(keyOf(at));
    const before = this.get(at.namespace, at.name);
    const old = entry ? entry.base : before;
    if (same(old, object)) return undefined;
    if (entry) {
      entry.base = object;
      if (reached(entry, version)) this.#settle(entry);
    } else this.#show(at, object);
    const ownWrite = same(before, this.get(at.namespace, at.name));
    return changeOf(old, object, { ownWrite });
  }

  #write(written: Omit<Written<T>, "base" | "at">): void {
    const key = keyOf(written);
    const entry = this.#written.get(key);
    const base = entry ? entry.base : this.get(written.namespace, written.name);
    // Deleted and set anew, so that the map stays ordered by age.
    this.#written.delete(key);
    this.#written.set(key, { ...written, base, at: this.#clock.monotonic() });
    this.#show(written, written.object);
  }

  // The watch's word counts again.
  #settle(entry: Written<T>): void {
    this.#written.delete(keyOf(entry));
    if (!same(this.get(entry.namespace, entry.name), entry.base)) this.#show(entry, entry.base);
  }

  #expire(): void {
    const oldest = this.#clock.monotonic() - OVERLAY_MS;
    for (const entry of this.#written.values()) {
      if (entry.at > oldest) return;
      const shown = this.get(entry.namespace, entry.name);
      this.#settle(entry);
      const change = changeOf(shown, entry.base, { finalStateUnknown: true });
      if (change) this.#onExpired(change);
    }
  }

  // Everything as the watch has it.
  #bases(): readonly T[] {
    const unwritten = this.list().filter((object) => !this.#written.has(keyOf(object)));
    const bases = [...this.#written.values()].map((entry) => entry.base);
    return unwritten.concat(bases.filter((base) => base !== undefined));
  }

  #show({ namespace = "", name }: Key, object: T | undefined): void {
    let objects = this.#objects.get(namespace);
    const old = objects?.get(name);
    if (old) for (const index of this.#indices.values()) index.delete(old);
    if (object) {
      if (!objects) this.#objects.set(namespace, (objects = new Map()));
      objects.set(name, object);
      for (const index of this.#indices.values()) index.add(object);
    } else if (objects?.delete(name) && objects.size === 0) this.#objects.delete(namespace);
    this.#size += Number(object !== undefined) - Number(old !== undefined);
  }

  #index(name: string): StoreIndex<T> {
    const index = this.#indices.get(name);
    if (!index)
      throw new Error(`no index "${name}"; there are ${[...this.#indices.keys()].join(", ")}`);
    return index;
  }
}

/** What handlers are reported; undefined: nothing. */
function changeOf<T extends Stored>(
  old: T | undefined,
  object: T | undefined,
  { ownWrite = false, finalStateUnknown = false },
): StoreChange<T> | undefined {
  if (same(old, object)) return undefined;
  if (!object) return old && { kind: "delete", last: old, finalStateUnknown, ownWrite };
  return old ? { kind: "update", old, object, ownWrite } : { kind: "add", object, ownWrite };
}

function keyOf({ namespace = "", name }: Key): string {
  return `${namespace}/${name}`;
}

function same(a: Stored | undefined, b: Stored | undefined): boolean {
  return a?.uid === b?.uid && a?.resourceVersion === b?.resourceVersion;
}

// Whether the watch, having come to `version`, has seen the write. A DELETE's own version is not
// known: it has been seen when the object no longer exists at a later one.
function reached<T extends Stored>(entry: Written<T>, version: string): boolean {
  const ahead = compareVersions(version, entry.version);
  return entry.object ? ahead >= 0 : ahead > 0 && entry.base?.uid !== entry.uid;
}
