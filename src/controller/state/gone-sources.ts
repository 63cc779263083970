// UIDs of deleted sources that the cache once held, for as long as copies name them. The decision about
// those copies then does not follow from a cache that never held their source. No clock: `now` is
// milliseconds of a monotonic clock.

/** Beyond this many, the sources that were unnamed for longest are forgotten. Their copies count as any others. */
const MOST = 10_000;
/** Copies that were in flight when their source was deleted are long in the cache by then. */
const UNNAMED_MS = 10 * 60_000;

export class GoneSources {
  /** When each was deleted or last named, in that order. */
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
