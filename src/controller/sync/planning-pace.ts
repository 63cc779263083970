// When the next sync may start. A sync for a new namespace or source starts at once as long as planning took less
// than a sixth of a core over the last second. Any other sync leaves half of that to them: the one that follows
// each write and only finds that all is done would otherwise use up what the next namespace needs.
// Nothing counts the syncs: a plan of a millisecond may run for each of forty new namespaces in a second, and a
// plan of 400 ms runs once a second, whatever makes the events.
// Pure: times are milliseconds of a monotonic clock. Costs are CPU time: other programs on the machine make a plan
// take longer, but they do not make it cost more.

/** The share of one core that planning may take. */
const SHARE = 1 / 6;
/** The part of it for syncs that no new namespace or source waits for. */
const NOT_URGENT = 1 / 2;
const WINDOW_MS = 1000;
/**
 * What a sync costs at least. Reading the caches and reporting are not part of the measured plan. It also bounds the
 * syncs of a second, whatever the clock measures.
 */
const LEAST_COST_MS = 2;

export class PlanningPace {
  /** The plans of the last second, the oldest first; at most WINDOW_MS × SHARE / LEAST_COST_MS of them and one. */
  readonly #plans: { readonly endedMs: number; readonly costMs: number }[] = [];

  /** A sync ended at `nowMs`, and its plan took `cpuMs`. */
  planned(nowMs: number, cpuMs: number): void {
    this.#forget(nowMs);
    this.#plans.push({ endedMs: nowMs, costMs: Math.max(LEAST_COST_MS, cpuMs) });
  }

  /** In how many milliseconds the next sync may start; 0 for at once. `urgent`: a namespace or source is new. */
  waitMs(nowMs: number, urgent: boolean): number {
    this.#forget(nowMs);
    const most = WINDOW_MS * SHARE * (urgent ? 1 : NOT_URGENT);
    let spent = this.#plans.reduce((sum, { costMs }) => sum + costMs, 0);
    for (const { endedMs, costMs } of this.#plans) {
      if (spent < most) return 0;
      spent -= costMs;
      if (spent < most) return Math.max(0, endedMs + WINDOW_MS - nowMs);
    }
    return 0;
  }

  #forget(nowMs: number): void {
    const kept = this.#plans.findIndex(({ endedMs }) => endedMs > nowMs - WINDOW_MS);
    this.#plans.splice(0, kept === -1 ? this.#plans.length : kept);
  }
}
