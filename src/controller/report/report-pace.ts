// Decides when telemetry reports a plan: as soon as a plan is settled, and at the latest ten seconds after the
// last report. A constant stream of changes leaves no plan settled.
import type { Clock } from "../../kube/time/clock.ts";

const LONGEST_UNSETTLED_MS = 10_000;

export class ReportPace {
  readonly #clock: Pick<Clock, "monotonic">;
  #lastMs = Number.NEGATIVE_INFINITY;

  constructor(clock: Pick<Clock, "monotonic">) {
    this.#clock = clock;
  }

  /** Whether the current plan is reported. If so, the next plan that is not settled waits. */
  isDue(settled: boolean): boolean {
    const now = this.#clock.monotonic();
    if (!settled && now - this.#lastMs < LONGEST_UNSETTLED_MS) return false;
    this.#lastMs = now;
    return true;
  }

  /** Milliseconds until a report is due, if no plan is settled before. */
  get leftMs(): number {
    return Math.max(0, this.#lastMs + LONGEST_UNSETTLED_MS - this.#clock.monotonic());
  }
}
