// UIDs of sources that were there and are not any more, for as long as copies name them: what becomes
// of those is known then not to follow from a cache that never held their source. No clock: `now` is
// milliseconds of a monotonic clock.

/** Beyond this many those that longest nobody named are forgotten; their copies count as any others. */
const MOST = 10_000;
/** Copies that were on their way when their source went are long in the cache by then. */
const UNNAMED_MS = 10 * 60_000;

export class GoneSources {
  /** When each went or was last named, in that order. */
  readonly #named = new Map<string, number>();

  get size(): number {
    return this.#named.size;
  }

  add(uid: string, now: number): void {
    this.#named.delete(uid);
    this.#named.set(uid, now);
    for (const oldest of this.#named.keys()) {
      if (this.#named.size <= MOST) return;
      this.#named.delete(oldest);
    }
  }

  /** Whether this is one, asked for a copy that names it. */
  has(uid: string, now: number): boolean {
    if (!this.#named.delete(uid)) return false;
    this.#named.set(uid, now);
    return true;
  }

  /** A sync that began at `now` has asked for every copy. */
  endPass(now: number): void {
    for (const [uid, at] of this.#named) {
      if (now - at < UNNAMED_MS) return;
      this.#named.delete(uid);
    }
  }
}
