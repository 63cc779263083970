// When something was last so, by key, in the order of time. Expired times are forgotten from the front, so a sync
// pays for those alone. No clock: `now` is milliseconds of a monotonic clock.

export class RecentTimes {
  readonly #at = new Map<string, number>();
  readonly #forMs: number;
  readonly #most: number;

  /** `most`: beyond so many, the oldest are forgotten. */
  constructor(forMs: number, most = Number.POSITIVE_INFINITY) {
    this.#forMs = forMs;
    this.#most = most;
  }

  get size(): number {
    return this.#at.size;
  }

  touch(key: string, now: number): void {
    this.#at.delete(key);
    this.#at.set(key, now);
    for (const oldest of this.#at.keys()) {
      if (this.#at.size <= this.#most) return;
      this.#at.delete(oldest);
    }
  }

  /** As touch, where it is known. Returns whether it is. */
  touchKnown(key: string, now: number): boolean {
    const known = this.#at.has(key);
    if (known) this.touch(key, now);
    return known;
  }

  /** undefined: not within the time. */
  at(key: string, now: number): number | undefined {
    const at = this.#at.get(key);
    return at !== undefined && now - at < this.#forMs ? at : undefined;
  }

  delete(key: string): void {
    this.#at.delete(key);
  }

  expire(now: number): void {
    for (const [key, at] of this.#at) {
      if (now - at < this.#forMs) return;
      this.#at.delete(key);
    }
  }
}
