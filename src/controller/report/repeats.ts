// What happens again and again, told so many times a minute and counted between. It remembers no more
// than the happenings of the last minute, and never more than a fixed number of them.

const WINDOW_MS = 60_000;
const MOST = 10_000;

type Happening = {
  /** When it was reported, in the last minute, in ascending order; ms, monotonic. */
  reported: readonly number[];
  lastMs: number;
  count: number;
};

export class Repeats {
  readonly #most: number;
  /** In the order in which they happened last. */
  readonly #happenings = new Map<string, Happening>();
  #forgotMs = Number.NEGATIVE_INFINITY;

  /** `most`: how often one thing is reported in any minute. */
  constructor(most: number) {
    this.#most = most;
  }

  /**
   * `id` happened at `now` (ms, monotonic). How often it did since it was last reported, this time
   * included; undefined: not to be reported now.
   */
  happened(id: string, now: number): number | undefined {
    const before = this.#happenings.get(id);
    const known = before && now - before.lastMs < 2 * WINDOW_MS ? before : undefined;
    // Most of what happens too often ends here, and may happen a hundred thousand times a sync.
    if (known && this.#isFull(known, now)) {
      known.count++;
      known.lastMs = now;
      this.#happenings.delete(id);
      this.#happenings.set(id, known);
      return undefined;
    }
    const reported = known?.reported.filter((at) => now - at < WINDOW_MS) ?? [];
    const count = (known?.count ?? 0) + 1;
    const tells = reported.length < this.#most;
    this.#happenings.delete(id);
    this.#happenings.set(
      id,
      tells
        ? { reported: [...reported, now], lastMs: now, count: 0 }
        : { reported, lastMs: now, count },
    );
    this.#forget(now);
    return tells ? count : undefined;
  }

  /** Whether `id` would not be reported at `now`. */
  isFull(id: string, now: number): boolean {
    const known = this.#happenings.get(id);
    return known !== undefined && this.#isFull(known, now);
  }

  #isFull({ reported }: Happening, now: number): boolean {
    const [oldest = now] = reported;
    return reported.length >= this.#most && now - oldest < WINDOW_MS;
  }

  // The count of a thing that has not happened for a whole further minute is dropped. Many at a time: a Map
  // steps over all deleted entries before it comes to the first one, which takes 15 us here.
  #forget(now: number): void {
    const full = this.#happenings.size > MOST;
    if (!full && now - this.#forgotMs < WINDOW_MS) return;
    this.#forgotMs = now;
    const room = full ? MOST / 2 : MOST;
    for (const [id, { lastMs }] of this.#happenings) {
      if (now - lastMs < 2 * WINDOW_MS && this.#happenings.size <= room) return;
      this.#happenings.delete(id);
    }
  }
}

/** So many a minute in all, and of each namespace; of "", which is nobody's, as many as there are. */
export class Shares {
  readonly #each: Repeats;
  readonly #all: Repeats;

  constructor({ namespace, all }: { readonly namespace: number; readonly all: number }) {
    this.#each = new Repeats(namespace);
    this.#all = new Repeats(all);
  }

  /** Whether no further line is reported at `now` (ms, monotonic). */
  isFull(namespace: string, now: number): boolean {
    return this.#all.isFull("", now) || (namespace !== "" && this.#each.isFull(namespace, now));
  }

  /** Whether one more line is reported at `now` (ms, monotonic). */
  has(namespace: string, now: number): boolean {
    const own = namespace === "" || this.#each.happened(namespace, now) !== undefined;
    return own && this.#all.happened("", now) !== undefined;
  }
}
