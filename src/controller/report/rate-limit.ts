// Limits how often a repeated message is reported per minute, and counts the rest. Memory is limited to the
// messages of the last minute and to a fixed number.

const WINDOW_MS = 60_000;
const MOST = 10_000;

type Happening = {
  /** When it was reported in the last minute, ascending. In ms, monotonic. */
  reported: readonly number[];
  lastMs: number;
  count: number;
};

export class Repeats {
  readonly #most: number;
  /** In the order of their last occurrence. */
  readonly #happenings = new Map<string, Happening>();
  #forgotMs = Number.NEGATIVE_INFINITY;

  /** `most`: how often one id is reported in any minute. */
  constructor(most: number) {
    this.#most = most;
  }

  /**
   * Counts `id` at `now` (ms, monotonic). Returns how often it happened since its last report, this time
   * included. Undefined means that it is not reported now.
   */
  happened(id: string, now: number): number | undefined {
    const before = this.#happenings.get(id);
    const known = before && now - before.lastMs < 2 * WINDOW_MS ? before : undefined;
    // The common case of ids over the limit, which may happen a hundred thousand times a sync.
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

  // Drops the counts of ids that have not happened for a whole further minute. It drops many at a time: a Map
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

/** Limits lines per minute, in all and per namespace. Lines of "", which is no namespace, count only in all. */
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
