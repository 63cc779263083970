// Limits how often a repeated message is reported per minute, and counts the rest. Memory is limited to the
// messages of the last minute and to a fixed number.

const WINDOW_MS = 60_000;
const MOST = 10_000;

type Occurrences = {
  /** When it was reported in the last minute, ascending. In ms, monotonic. */
  reported: readonly number[];
  lastMs: number;
  count: number;
};

export class RateLimit {
  readonly #most: number;
  /** In the order of their last occurrence. */
  readonly #occurrences = new Map<string, Occurrences>();
  #forgotMs = Number.NEGATIVE_INFINITY;

  /** `most`: how often one id is reported in any minute. */
  constructor(most: number) {
    this.#most = most;
  }

  /**
   * Counts `id` at `now` (ms, monotonic). Returns how often it happened since its last report, this time
   * included. Undefined means that it is not reported now.
   */
  tryTake(id: string, now: number): number | undefined {
    const before = this.#occurrences.get(id);
    const known = before && now - before.lastMs < 2 * WINDOW_MS ? before : undefined;
    // The common case of ids over the limit, which may happen a hundred thousand times a sync.
    if (known && this.isFull(id, now, known)) {
      known.count++;
      known.lastMs = now;
      this.#occurrences.delete(id);
      this.#occurrences.set(id, known);
      return undefined;
    }
    const reported = known?.reported.filter((at) => now - at < WINDOW_MS) ?? [];
    const count = (known?.count ?? 0) + 1;
    const isReported = reported.length < this.#most;
    this.#occurrences.delete(id);
    const reportedAt = isReported ? [...reported, now] : reported;
    this.#occurrences.set(id, { reported: reportedAt, lastMs: now, count: isReported ? 0 : count });
    this.#forget(now);
    return isReported ? count : undefined;
  }

  /** Whether `id` would not be reported at `now`. */
  isFull(id: string, now: number, known = this.#occurrences.get(id)): boolean {
    const { reported = [] } = known ?? {};
    const [oldest = now] = reported;
    return reported.length >= this.#most && now - oldest < WINDOW_MS;
  }

  // Drops the counts of ids that have not happened for a whole further minute. It drops many at a time: a Map
  // steps over all deleted entries before it comes to the first one, which takes 15 us here.
  #forget(now: number): void {
    const full = this.#occurrences.size > MOST;
    if (!full && now - this.#forgotMs < WINDOW_MS) return;
    this.#forgotMs = now;
    const room = full ? MOST / 2 : MOST;
    for (const [id, { lastMs }] of this.#occurrences) {
      if (now - lastMs < 2 * WINDOW_MS && this.#occurrences.size <= room) return;
      this.#occurrences.delete(id);
    }
  }
}

/** Groups of namespaces. None is empty. */
export type Groups = readonly (readonly string[])[];

/** Limits lines per minute, in all and per namespace. A line needs room in one namespace of each group. */
export class NamespaceRateLimit {
  readonly #each: RateLimit;
  readonly #all: RateLimit;

  constructor({ namespace, all }: { readonly namespace: number; readonly all: number }) {
    this.#each = new RateLimit(namespace);
    this.#all = new RateLimit(all);
  }

  /** Whether no further line is reported at `now` (ms, monotonic). */
  isFull(groups: Groups, now: number): boolean {
    const isFull = (namespace: string): boolean => this.#each.isFull(namespace, now);
    return this.#all.isFull("", now) || groups.some((group) => group.every(isFull));
  }

  /** Whether one more line is reported at `now` (ms, monotonic). It counts in all namespaces of its groups. */
  tryTake(groups: Groups, now: number): boolean {
    if (this.isFull(groups, now)) return false;
    for (const namespace of new Set(groups.flat())) this.#each.tryTake(namespace, now);
    return this.#all.tryTake("", now) !== undefined;
  }
}
