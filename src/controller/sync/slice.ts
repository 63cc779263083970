// How long a sync waits for its writes before a newer plan replaces them. Pure: times are milliseconds of a
// monotonic clock. How much of a core all plans take is the rule of planning-pace.ts.
import type { WritePool } from "../flowcontrol/write-pool.ts";

// The least time before a newer plan replaces this one.
const SLICE_MS = 250;
// The same for an urgent plan where no write waits to start. Namespaces that are made at once share a plan.
const BURST_MS = 10;
// A plan that is not urgent waits for this many times the last planning time. With hundreds of thousands of
// missing copies, the process would otherwise only plan. The limit is the longest wait of a write for its retry.
const PAUSE_AFTER_A_PLAN = 2;
const LONGEST_PAUSE_MS = 2000;
// How often a sync that waits for writes checks whether to wait on.
const TICK_MS = 500;

type SliceTimes = {
  /** When the sync began, and how long it planned. */
  readonly started: number;
  readonly planMs: number;
  /** When something else becomes due. */
  readonly nextAt: number;
};

export class Slice {
  readonly #pool: Pick<WritePool<never>, "waiting">;
  readonly #times: SliceTimes;
  readonly #pauseEnds: number;

  constructor(pool: Pick<WritePool<never>, "waiting">, times: SliceTimes) {
    this.#pool = pool;
    this.#times = times;
    const pauseMs = Math.min(LONGEST_PAUSE_MS, PAUSE_AFTER_A_PLAN * times.planMs);
    this.#pauseEnds = times.started + times.planMs + pauseMs;
  }

  /** When the slice may end, or something becomes due. */
  nextCheck(now: number): number {
    const { started, nextAt } = this.#times;
    const next = [started + BURST_MS, started + SLICE_MS, this.#pauseEnds, nextAt, now + TICK_MS];
    return Math.min(...next.filter((at) => at > now));
  }

  /** `retryAt`: the earliest retry of a write that was refused. */
  isOver(now: number, dirty: boolean, urgent: boolean, retryAt: number): boolean {
    const { started, nextAt } = this.#times;
    if (!dirty && now < Math.min(nextAt, retryAt)) return false;
    // Writes in flight go on, and none waits that a newer plan could starve. One answer may take long: an API server
    // that has not seen a new namespace itself waits 50 ms before it judges a write there.
    if (now - started < (urgent && this.#pool.waiting === 0 ? BURST_MS : SLICE_MS)) return false;
    return urgent || this.#pool.waiting === 0 || now >= this.#pauseEnds;
  }
}
