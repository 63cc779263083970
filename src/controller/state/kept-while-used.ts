// Values that are remembered by key for as long as each sync uses them: since when a source has been absent, or
// what was written last. A key that one sync does not use starts anew.

export class KeptWhileUsed<T> {
  #before: ReadonlyMap<string, T> = new Map();
  #current = new Map<string, T>();

  /** The noted value, if the sync before used it or it was noted since. */
  get(key: string): T | undefined {
    const known = this.#current.get(key) ?? this.#before.get(key);
    if (known !== undefined) this.#current.set(key, known);
    return known;
  }

  /** As get. Notes `first()` where there is no value. */
  of(key: string, first: () => T): T {
    const known = this.get(key) ?? first();
    this.#current.set(key, known);
    return known;
  }

  note(key: string, value: T): void {
    this.#current.set(key, value);
  }

  beginSync(): void {
    this.#before = this.#current;
    this.#current = new Map();
  }
}
