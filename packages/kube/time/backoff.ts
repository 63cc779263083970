// The waits between the attempts of a loop that must never give up (list, watch, reconnect).
// Promises: waits grow by `factor` up to `maxMs`. Each wait is drawn from [d, d + jitter × d). The sequence
// starts again only when the caller resets it.
// Does not wait itself: it returns the time, and the caller sleeps.
import type { Clock } from "./clock.ts";

/** Options of a {@link Backoff}. */
export type BackoffOptions = {
  readonly clock: Pick<Clock, "random">;
  /** First wait before jitter, in ms, > 0. 800 as in client-go's reflector. */
  readonly initialMs?: number;
  /** Longest wait before jitter, in ms, >= initialMs. 30,000 as in client-go's reflector. */
  readonly maxMs?: number;
  /** Growth from one wait to the next, >= 1. */
  readonly factor?: number;
  /** Share of the wait added at random, >= 0. 1 draws from [d, 2d). */
  readonly jitter?: number;
};

/** The waits between the attempts of a loop that never gives up. */
export class Backoff {
  readonly #clock: Pick<Clock, "random">;
  readonly #initialMs: number;
  readonly #maxMs: number;
  readonly #factor: number;
  readonly #jitter: number;
  #nextMs: number;

  /** Throws a RangeError for waits that cannot grow. */
  constructor(options: BackoffOptions) {
    const { initialMs = 800, maxMs = 30_000, factor = 2, jitter = 1 } = options;
    if (!(initialMs > 0 && maxMs >= initialMs))
      throw new RangeError(
        `Cannot make a backoff from ${initialMs} ms to ${maxMs} ms: both must be positive and the second not below the first`,
      );
    if (!(factor >= 1 && jitter >= 0))
      throw new RangeError(
        `Cannot make a backoff with factor ${factor} and jitter ${jitter}: the factor must be at least 1 and the jitter at least 0`,
      );
    this.#clock = options.clock;
    this.#initialMs = initialMs;
    this.#maxMs = maxMs;
    this.#factor = factor;
    this.#jitter = jitter;
    this.#nextMs = initialMs;
  }

  /** Returns the time to wait now, in ms, and counts an attempt. */
  next(): number {
    const base = this.#nextMs;
    this.#nextMs = Math.min(this.#maxMs, base * this.#factor);
    return base * (1 + this.#jitter * this.#clock.random());
  }

  /** Starts again with the first wait. */
  reset(): void {
    this.#nextMs = this.#initialMs;
  }
}
