// A map with a limited number of entries. A new entry replaces the least recently used one.

export class LruMap<K, V> {
  readonly #limit: number;
  readonly #onEvict: (value: V) => void;
  readonly #entries = new Map<K, V>();

  constructor(limit: number, onEvict: (value: V) => void = () => {}) {
    this.#limit = limit;
    this.#onEvict = onEvict;
  }

  get size(): number {
    return this.#entries.size;
  }

  /** Counts as a use. */
  get(key: K): V | undefined {
    const value = this.#entries.get(key);
    if (value === undefined) return undefined;
    this.#entries.delete(key);
    this.#entries.set(key, value);
    return value;
  }

  set(key: K, value: V): void {
    this.#entries.delete(key);
    this.#entries.set(key, value);
    if (this.#entries.size <= this.#limit) return;
    const [oldest] = this.#entries;
    if (!oldest) return;
    this.#entries.delete(oldest[0]);
    this.#onEvict(oldest[1]);
  }

  delete(key: K): void {
    this.#entries.delete(key);
  }

  values(): IterableIterator<V> {
    return this.#entries.values();
  }
}
