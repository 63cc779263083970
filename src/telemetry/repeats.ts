// What happens again and again, told so many times a minute and counted between. It remembers no more
// than the happenings of the last minute, and never more than a fixed number of them.

const WINDOW_MS = 60_000;
const MOST = 10_000;

type Happening = { began: number; told: number; count: number };

export class Repeats {
  readonly #most: number;
  /** In the order in which their windows began. */
  readonly #happenings = new Map<string, Happening>();

  /** `most`: how often one thing is told a minute. */
  constructor(most: number) {
    this.#most = most;
  }

  /**
   * `id` happened at `now` (ms, monotonic). How often it did since it was last told, this time
   * included; undefined: not to be told now.
   */
  happened(id: string, now: number): number | undefined {
    const known = this.#happenings.get(id);
    const count = (known?.count ?? 0) + 1;
    if (known && now - known.began < WINDOW_MS) {
      if (known.told < this.#most) {
        known.told++;
        known.count = 0;
        return count;
      }
      known.count = count;
      return undefined;
    }
    this.#happenings.delete(id);
    this.#happenings.set(id, { began: now, told: 1, count: 0 });
    this.#forget(now);
    return count;
  }

  // What was counted for a thing that has not happened for a whole further minute is not told any more.
  #forget(now: number): void {
    for (const [id, { began }] of this.#happenings) {
      if (now - began < 2 * WINDOW_MS && this.#happenings.size <= MOST) return;
      this.#happenings.delete(id);
    }
  }
}
