// The namespace controller of a cluster. It empties a deleted namespace, and deletes it when no object and
// no finalizer holds it. Objects with finalizers are checked repeatedly.
import { erase, isFinal } from "./finalization.ts";
import { asList, asObject } from "../storage/object.ts";
import { namespaces, resources } from "./resources.ts";
import type { ServedResource } from "./resources.ts";
import { inRealTime, type Schedule } from "../storage/schedule.ts";
import { keysFrom } from "../storage/storage.ts";
import type { StorageChange, Storage } from "../storage/storage.ts";

/** The namespaces that a cluster has from the start. */
export const initialNamespaces = ["default", "kube-node-lease", "kube-public", "kube-system"];

export class NamespaceController {
  readonly #storage: Storage;
  readonly #delayMs: number;
  readonly #now: () => number;
  readonly #schedule: Schedule;
  readonly #kinds: () => readonly ServedResource[];
  readonly #timers = new Map<string, () => void>();
  readonly #unobserve: () => void;

  /** `delayMs`: how long a namespace stays Terminating before its contents are deleted. */
  constructor(
    storage: Storage,
    delayMs: number,
    now: () => number,
    schedule: Schedule = inRealTime,
    kinds: () => readonly ServedResource[] = () => resources,
  ) {
    this.#storage = storage;
    this.#kinds = kinds;
    this.#schedule = schedule;
    this.#delayMs = delayMs;
    this.#now = now;
    this.#unobserve = storage
      .collection(namespaces.storage)
      .observe((change) => this.#noticed(change));
  }

  stop(): void {
    this.#unobserve();
    for (const cancel of this.#timers.values()) cancel();
    this.#timers.clear();
  }

  #noticed({ kind, object, key }: StorageChange): void {
    if (kind !== "DELETED" && object.metadata.deletionTimestamp !== undefined) this.#later(key);
  }

  #later(name: string): void {
    if (this.#timers.has(name)) return;
    const cancel = this.#schedule(() => {
      this.#timers.delete(name);
      this.#finish(name);
    }, this.#delayMs);
    this.#timers.set(name, cancel);
  }

  #finish(name: string): void {
    const all = this.#storage.collection(namespaces.storage);
    const namespace = all.get(name);
    if (namespace?.metadata.deletionTimestamp === undefined) return;
    if (this.#empty(name) > 0) {
      this.#later(name);
      return;
    }
    const held = asList(asObject(namespace["spec"])["finalizers"]);
    const left = held.filter((finalizer) => finalizer !== "kubernetes");
    const emptied = { ...namespace, spec: left.length === 0 ? {} : { finalizers: left } };
    if (isFinal(emptied)) all.remove(name);
    else if (left.length < held.length) all.put(name, emptied);
  }

  /** Deletes the contents of the namespace. Returns the number of objects that finalizers still hold. */
  #empty(name: string): number {
    let held = 0;
    const contents = this.#kinds().filter((row) => row.namespaced);
    for (const storage of new Set(contents.map((row) => row.storage))) {
      const collection = this.#storage.collection(storage);
      const prefix = `${name}/`;
      // All keys first: erasing changes the view.
      const keys = [...keysFrom(collection.view(), prefix, prefix)];
      for (const key of keys) held += erase(collection, key, this.#now()) === undefined ? 0 : 1;
    }
    return held;
  }
}
