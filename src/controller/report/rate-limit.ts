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
    if (known && this.isFull(id, now, known)) {
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
    const told = tells ? [...reported, now] : reported;
    this.#happenings.set(id, { reported: told, lastMs: now, count: tells ? 0 : count });
    this.#forget(now);
    return tells ? count : undefined;
  }

  /** Whether `id` would not be reported at `now`. */
  isFull(id: string, now: number, known = this.#happenings.get(id)): boolean {
    const { reported = [] } = known ?? {};
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

/** Groups of namespaces. None is empty. */
export type Groups = readonly (readonly string[])[];

/** Limits lines per minute, in all and per namespace. A line needs room in one namespace of each group. */
export class Shares {
  readonly #each: Repeats;
  readonly #all: Repeats;

  constructor({ namespace, all }: { readonly namespace: number; readonly all: number }) {
    this.#each = new Repeats(namespace);
    this.#all = new Repeats(all);
  }

  /** Whether no further line is reported at `now` (ms, monotonic). */
  isFull(groups: Groups, now: number): boolean {
    const isFull = (namespace: string): boolean => this.#each.isFull(namespace, now);
    return this.#all.isFull("", now) || groups.some((group) => group.every(isFull));
  }

  /** Whether one more line is reported at `now` (ms, monotonic). It counts in all namespaces of its groups. */
  has(groups: Groups, now: number): boolean {
    if (this.isFull(groups, now)) return false;
    for (const namespace of new Set(groups.flat())) this.#each.happened(namespace, now);
    return this.#all.happened("", now) !== undefined;
  }
}
