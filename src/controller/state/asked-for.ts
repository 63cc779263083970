// What is remembered of a key for as long as each sync asks for it: since when a source has been absent, or what was
// written last. What has been otherwise in between starts anew.

export class AskedFor<T> {
  #before: ReadonlyMap<string, T> = new Map();
  #current = new Map<string, T>();

  /** As it was noted, if the sync before asked for it or it was noted since. */
  get(key: string): T | undefined {
    const known = this.#current.get(key) ?? this.#before.get(key);
    if (known !== undefined) this.#current.set(key, known);
    return known;
  }

  /** As get, or else what is noted now. */
  of(key: string, first: () => T): T {
    const known = this.get(key) ?? first();
    this.#current.set(key, known);
    return known;
  }

  note(key: string, value: T): void {
    this.#current.set(key, value);
  }

  beginPass(): void {
    this.#before = this.#current;
    this.#current = new Map();
  }
}
