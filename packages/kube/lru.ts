// A map with a limit: of entries, or of what its values weigh. A new entry replaces the least recently used
// ones. An entry that is heavier than the limit is not kept.

type Options<V> = {
  /** Default: 1. */
  readonly weigh?: (value: V) => number;
  readonly onEvict?: (value: V) => void;
};

export class LruMap<K, V> {
  readonly #limit: number;
  readonly #weigh: (value: V) => number;
  readonly #onEvict: (value: V) => void;
  /** The least recently used first. */
  readonly #entries = new Map<K, V>();
  #weight = 0;

  constructor(limit: number, { weigh = () => 1, onEvict = () => {} }: Options<V> = {}) {
    this.#limit = limit;
    this.#weigh = weigh;
    this.#onEvict = onEvict;
  }

  /** Of all entries. */
  get weight(): number {
    return this.#weight;
  }

  /** Counts as a use. */
  get(key: K): V | undefined {
    const value = this.#entries.get(key);
    if (value === undefined) return undefined;
    this.#entries.delete(key);
    this.#entries.set(key, value);
    return value;
  }

  /** As get, but does not count as a use. */
  peek(key: K): V | undefined {
    return this.#entries.get(key);
  }

  set(key: K, value: V): void {
    this.delete(key);
    const weight = this.#weigh(value);
    if (weight > this.#limit) return;
    this.#entries.set(key, value);
    this.#weight += weight;
    for (const [oldest, evicted] of this.#entries) {
      if (this.#weight <= this.#limit) return;
      this.delete(oldest);
      this.#onEvict(evicted);
    }
  }

  delete(key: K): void {
    const value = this.#entries.get(key);
    if (value !== undefined && this.#entries.delete(key)) this.#weight -= this.#weigh(value);
  }

  values(): IterableIterator<V> {
    return this.#entries.values();
  }
}
