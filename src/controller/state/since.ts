// Since when something has been so, asked again by every sync: a source absent, a place unwanted. No
// clock: `now` is milliseconds of a monotonic clock. What a sync does not ask for is forgotten, so
// what has been otherwise in between starts anew.

export class Since {
  #before: ReadonlyMap<string, number> = new Map();
  #current = new Map<string, number>();

  /** Since when `key` has been so: from now on, if the sync before did not ask. */
  of(key: string, now: number): number {
    const since = this.#current.get(key) ?? this.#before.get(key) ?? now;
    this.#current.set(key, since);
    return since;
  }

  beginPass(): void {
    this.#before = this.#current;
    this.#current = new Map();
  }
}
