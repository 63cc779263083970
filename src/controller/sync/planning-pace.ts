// When the next sync may start. A sync starts at once as long as planning took less than a sixth of a core over
// the last second. Nothing counts the syncs: a plan of a millisecond may run for each of forty new namespaces in
// a second, and a plan of 400 ms runs once a second, whatever makes the events.
// Pure: times are milliseconds of a monotonic clock.

/** The share of one core that planning may take. */
const SHARE = 1 / 6;
const WINDOW_MS = 1000;
/**
 * What a sync costs at least. Reading the caches and reporting are not part of the measured plan. It also bounds the
 * syncs of a second, whatever the clock measures.
 */
const LEAST_COST_MS = 2;

export class PlanningPace {
  /** The plans of the last second, the oldest first; at most WINDOW_MS × SHARE / LEAST_COST_MS of them and one. */
  readonly #plans: { readonly endedMs: number; readonly costMs: number }[] = [];

  /** A sync ended at `nowMs`, and its plan took `tookMs`. */
  planned(nowMs: number, tookMs: number): void {
    this.#forget(nowMs);
    this.#plans.push({ endedMs: nowMs, costMs: Math.max(LEAST_COST_MS, tookMs) });
  }

  /** In how many milliseconds the next sync may start; 0 for at once. */
  waitMs(nowMs: number): number {
    this.#forget(nowMs);
    let spent = this.#plans.reduce((sum, { costMs }) => sum + costMs, 0);
    for (const { endedMs, costMs } of this.#plans) {
      if (spent < WINDOW_MS * SHARE) return 0;
      spent -= costMs;
      if (spent < WINDOW_MS * SHARE) return Math.max(0, endedMs + WINDOW_MS - nowMs);
    }
    return 0;
  }

  #forget(nowMs: number): void {
    const kept = this.#plans.findIndex(({ endedMs }) => endedMs > nowMs - WINDOW_MS);
    this.#plans.splice(0, kept === -1 ? this.#plans.length : kept);
  }
}
