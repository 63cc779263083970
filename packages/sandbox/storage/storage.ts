// The counterpart of etcd and the watch cache of a real server: objects by key, one version counter, and a
// bounded history, from which watches replay and old lists are rebuilt. Keys are "namespace/name"
// (cluster-scoped: "name"), and lists are in key order. Everything here is synchronous, so observers see a
// write and its notifications as one step.
import type { StoredObject } from "./object.ts";

export type StorageChange = {
  readonly kind: "ADDED" | "MODIFIED" | "DELETED";
  readonly version: number;
  readonly key: string;
  /** The new state. For DELETED, the last state with the version of the deletion. */
  readonly object: StoredObject;
  readonly before: StoredObject | undefined;
};

export type StorageView = {
  /** All keys in order. They are sorted only on request. */
  readonly keys: () => readonly string[];
  readonly objects: ReadonlyMap<string, StoredObject>;
};

/** Past states kept for the further pages of lists that are being read. */
const keptViews = 4;

export class Collection {
  readonly #next: () => number;
  readonly #historyLimit: number;
  readonly #objects = new Map<string, StoredObject>();
  #keys: readonly string[] = [];
  /** The keys that came or went since #keys was sorted. */
  readonly #moved = new Set<string>();
  readonly #past = new Map<number, StorageView>();
  readonly #observers = new Set<(change: StorageChange) => void>();
  #history: StorageChange[] = [];
  /** Changes up to this version are no longer in the history. */
  #floor = 0;

  constructor(next: () => number, historyLimit: number) {
    this.#next = next;
    this.#historyLimit = historyLimit;
  }

  get floor(): number {
    return this.#floor;
  }

  get(key: string): StoredObject | undefined {
    return this.#objects.get(key);
  }

  /** Stores `object` under `key`, with a version of its own, and returns what was stored. */
  put(key: string, object: StoredObject): StoredObject {
    const version = this.#next();
    const before = this.#objects.get(key);
    const stored = atVersion(object, version);
    if (before === undefined) this.#moved.add(key);
    this.#objects.set(key, stored);
    const kind = before === undefined ? "ADDED" : "MODIFIED";
    this.#record({ kind, version, key, object: stored, before });
    return stored;
  }

  /** Removes the object under `key`. The caller knows that it exists. */
  remove(key: string): void {
    const before = this.#objects.get(key);
    if (before === undefined) return;
    const version = this.#next();
    this.#objects.delete(key);
    this.#moved.add(key);
    this.#record({ kind: "DELETED", version, key, object: atVersion(before, version), before });
  }

  observe(observer: (change: StorageChange) => void): () => void {
    this.#observers.add(observer);
    return () => void this.#observers.delete(observer);
  }

  /**
   * The changes after `version`, oldest first. Undefined when some of them are no longer in the history.
   */
  changesAfter(version: number): readonly StorageChange[] | undefined {
    if (version < this.#floor) return undefined;
    return this.#history.slice(startOf(this.#history, (change) => change.version > version));
  }

  /** The state at `version`. Undefined when the history does not go back that far. */
  viewAt(version: number): StorageView | undefined {
    const since = this.changesAfter(version);
    if (since?.length === 0) return this.view();
    const known = this.#past.get(version);
    if (known || since === undefined) return known;
    const objects = new Map(this.#objects);
    for (const change of since.toReversed()) {
      if (change.before === undefined) objects.delete(change.key);
      else objects.set(change.key, change.before);
    }
    const keys = [...objects.keys()].toSorted();
    const view = { keys: () => keys, objects };
    this.#past.set(version, view);
    const [oldest] = this.#past.keys();
    if (oldest !== undefined && this.#past.size > keptViews) this.#past.delete(oldest);
    return view;
  }

  /** The present state, without a copy: read it before the next write. */
  view(): StorageView {
    return { keys: () => this.#inOrder(), objects: this.#objects };
  }

  forget(version: number): void {
    this.#history = [];
    this.#past.clear();
    this.#floor = version;
  }

  /** Sorts by need: a thousand writes between two lists cost one pass over what is nearly sorted. */
  #inOrder(): readonly string[] {
    if (this.#moved.size > 0) {
      const kept = this.#keys.filter((key) => !this.#moved.has(key));
      const came = [...this.#moved].filter((key) => this.#objects.has(key));
      this.#keys = [...kept, ...came].toSorted();
      this.#moved.clear();
    }
    return this.#keys;
  }

  #record(change: StorageChange): void {
    this.#history.push(change);
    // Drops old changes only when a quarter too many exist, so the cost per change is small.
    if (this.#history.length > this.#historyLimit * 1.25) {
      const dropped = this.#history.splice(0, this.#history.length - this.#historyLimit);
      this.#floor = dropped.at(-1)?.version ?? this.#floor;
    }
    for (const observer of this.#observers) observer(change);
  }
}

export class Storage {
  readonly #collections = new Map<string, Collection>();
  readonly #historyLimit: number;
  #version = 1;

  /** `historyLimit`: changes remembered for each collection. */
  constructor(historyLimit: number) {
    this.#historyLimit = historyLimit;
  }

  /** The version of the last write anywhere. */
  get version(): number {
    return this.#version;
  }

  collection(name: string): Collection {
    const known = this.#collections.get(name);
    if (known) return known;
    const made = new Collection(() => ++this.#version, this.#historyLimit);
    this.#collections.set(name, made);
    return made;
  }

  /** Deletes the whole history, as etcd's compaction does. */
  compact(): void {
    for (const collection of this.#collections.values()) collection.forget(this.#version);
  }
}

export function keyOf(namespace: string | undefined, name: string): string {
  return namespace === undefined ? name : `${namespace}/${name}`;
}

/** The keys of `view` that begin with `prefix` and come at or after `start`, in order. */
export function* keysFrom(view: StorageView, prefix: string, start: string): Generator<string> {
  const keys = view.keys();
  for (let at = lowerBound(keys, start > prefix ? start : prefix); at < keys.length; at++) {
    const key = keys[at];
    if (key === undefined || !key.startsWith(prefix)) return;
    yield key;
  }
}

/** How many keys of `view` begin with `prefix` and come at or after `start`. */
export function countFrom(view: StorageView, prefix: string, start: string): number {
  const keys = view.keys();
  // Prefixes end in "/", so the first key behind them is the prefix with the next character.
  const end = prefix === "" ? keys.length : lowerBound(keys, `${prefix.slice(0, -1)}0`);
  return end - lowerBound(keys, start > prefix ? start : prefix);
}

function atVersion(object: StoredObject, version: number): StoredObject {
  return { ...object, metadata: { ...object.metadata, resourceVersion: String(version) } };
}

/** Where the first key at or after `key` is, or would be. */
function lowerBound(keys: readonly string[], key: string): number {
  return startOf(keys, (each) => each >= key);
}

/** Where the items begin that are `within`: they are the last ones of `items`. */
function startOf<T>(items: readonly T[], within: (item: T) => boolean): number {
  let low = 0;
  for (let high = items.length; low < high;) {
    const middle = (low + high) >>> 1;
    const item = items[middle];
    if (item !== undefined && within(item)) high = middle;
    else low = middle + 1;
  }
  return low;
}
