// One index of a store, from a value to the objects that have it. Values without objects are removed, so that
// unused values do not accumulate.

/** The values under which an index has an object. */
export type IndexFunction<T> = (object: T) => readonly string[];

export class StoreIndex<T> {
  readonly #values: IndexFunction<T>;
  readonly #objects = new Map<string, Set<T>>();

  /** `values` must be deterministic. */
  constructor(values: IndexFunction<T>) {
    this.#values = values;
  }

  add(object: T): void {
    for (const value of this.#values(object)) {
      const set = this.#objects.get(value);
      if (set) set.add(object);
      else this.#objects.set(value, new Set([object]));
    }
  }

  delete(object: T): void {
    for (const value of this.#values(object)) {
      const set = this.#objects.get(value);
      if (set?.delete(object) && set.size === 0) this.#objects.delete(value);
    }
  }

  get(value: string): ReadonlySet<T> {
    return this.#objects.get(value) ?? new Set();
  }

  values(): readonly string[] {
    return [...this.#objects.keys()];
  }
}
