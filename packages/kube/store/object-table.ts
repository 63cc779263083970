// Objects by namespace and name, with indices: what a store shows.
// Promises: a change is complete (objects and indices) before any other code runs. A namespace without objects
// takes no memory. Several stores can share a table, if each of them has objects of one name.
import { StoreIndex } from "./store-index.ts";
import type { IndexFunction } from "./store-index.ts";
import type { Stored } from "./stored.ts";

type Named = { readonly namespace?: string | undefined; readonly name: string };

const NOTHING: ReadonlyMap<string, never> = new Map<string, never>();

export class ObjectTable<T extends Named> {
  readonly #objects = new Map<string, Map<string, T>>();
  readonly #indices = new Map<string, StoreIndex<T>>();

  get(namespace: string | undefined, name: string): T | undefined {
    return this.#objects.get(namespace ?? "")?.get(name);
  }

  inNamespace(namespace: string): ReadonlyMap<string, T> {
    return this.#objects.get(namespace) ?? NOTHING;
  }

  /** All objects, or those of one name. */
  list(name?: string): readonly T[] {
    const all: T[] = [];
    for (const objects of this.#objects.values()) {
      if (name === undefined) for (const object of objects.values()) all.push(object);
      else {
        const object = objects.get(name);
        if (object) all.push(object);
      }
    }
    return all;
  }

  addIndex(name: string, values: IndexFunction<T>): void {
    if (this.#indices.has(name)) throw new Error(`index "${name}" exists already`);
    const index = new StoreIndex(values);
    for (const object of this.list()) index.add(object);
    this.#indices.set(name, index);
  }

  byIndex(name: string, value: string): ReadonlySet<T> {
    return this.#index(name).get(value);
  }

  listIndexValues(name: string): readonly string[] {
    return this.#index(name).values();
  }

  /** Shows `object`, or nothing, and returns what was shown before. */
  set({ namespace = "", name }: Named, object: T | undefined): T | undefined {
    let objects = this.#objects.get(namespace);
    const old = objects?.get(name);
    if (old) for (const index of this.#indices.values()) index.delete(old);
    if (object) {
      if (!objects) this.#objects.set(namespace, (objects = new Map()));
      objects.set(name, object);
      for (const index of this.#indices.values()) index.add(object);
    } else if (objects?.delete(name) && objects.size === 0) this.#objects.delete(namespace);
    return old;
  }

  #index(name: string): StoreIndex<T> {
    const index = this.#indices.get(name);
    if (!index)
      throw new Error(`no index "${name}"; there are ${[...this.#indices.keys()].join(", ")}`);
    return index;
  }
}

/** A table that several stores share. Each store has the objects of one name. */
export type SharedTable<T extends Stored> = {
  readonly table: ObjectTable<T>;
  readonly name: string;
};
