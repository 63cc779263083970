// How long a sync waits for its writes before a newer plan replaces them. Pure: times are milliseconds of a
// monotonic clock.
import type { WritePool } from "../flowcontrol/write-pool.ts";

// The least work before a newer plan replaces this one, so that a stream of events cannot starve the writes.
// If writes are slow, the time limit applies.
const SLICE_MS = 250;
const SLICE_WRITES = 64;
const LONGEST_SLICE_MS = 500;
// A plan that is not urgent waits for this many times the last planning time. With hundreds of thousands of
// missing copies, the process would otherwise only plan. The limit is the longest wait of a write for its retry.
const PAUSE_AFTER_A_PLAN = 2;
const LONGEST_PAUSE_MS = 2000;
// If writes wait and none has started for this long, a newer plan costs them nothing.
const STUCK_MS = 100;
// How often a sync that waits for writes checks whether to wait on.
const TICK_MS = 500;

type Pool = Pick<WritePool<never>, "started" | "lastStartedMs" | "paused" | "waiting">;

type SliceTimes = {
  /** When the sync began, and how long it planned. */
  readonly started: number;
  readonly planMs: number;
  /** When something else becomes due. */
  readonly nextAt: number;
};

export class Slice {
  readonly #pool: Pool;
  readonly #times: SliceTimes;
  readonly #startedBefore: number;
  readonly #planned: number;
  readonly #pauseMs: number;

  constructor(pool: Pool, times: SliceTimes) {
    this.#pool = pool;
    this.#times = times;
    this.#startedBefore = pool.started;
    this.#planned = times.started + times.planMs;
    this.#pauseMs = Math.min(LONGEST_PAUSE_MS, PAUSE_AFTER_A_PLAN * times.planMs);
  }

  /** When the slice may end, or something becomes due. */
  nextCheck(now: number): number {
    const { started, nextAt } = this.#times;
    const next = [started + SLICE_MS, this.#planned + this.#pauseMs, nextAt, now + TICK_MS];
    return Math.min(...next.filter((at) => at > now));
  }

  /** `retryAt`: the earliest retry of a write that was refused. */
  isOver(now: number, dirty: boolean, urgent: boolean, retryAt: number): boolean {
    const { started, nextAt } = this.#times;
    if (!dirty && now < Math.min(nextAt, retryAt)) return false;
    // Writes in flight go on, and none waits that a newer plan could starve. One answer may take long: an API server
    // that has not seen a new namespace itself waits 50 ms before it judges a write there.
    if (urgent && this.#pool.waiting === 0) return true;
    if (now - started < SLICE_MS) return false;
    if (this.#pool.waiting === 0) return true;
    return (urgent || now - this.#planned >= this.#pauseMs) && !this.#moves(now);
  }

  #moves(now: number): boolean {
    const { started, lastStartedMs, paused } = this.#pool;
    return (
      started - this.#startedBefore < SLICE_WRITES &&
      now - this.#planned < LONGEST_SLICE_MS &&
      now - lastStartedMs < STUCK_MS &&
      !paused
    );
  }
}
