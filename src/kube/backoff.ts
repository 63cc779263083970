// The waits between the attempts of one loop that must never give up (list, watch, reconnect).
// Promises: waits grow by `factor` up to `maxMs`; each is drawn anew from [d, d + jitter × d); the
// sequence starts again only when the loop then ran for `resetAfterMs` without asking for a wait.
// Does not promise: to wait. It says how long; the caller sleeps.
import type { Clock } from "./clock.ts";

export type BackoffOptions = {
  readonly clock: Pick<Clock, "monotonic" | "random">;
  /** First wait before jitter, in ms, > 0. 800 as in client-go's reflector. */
  readonly initialMs?: number;
  /** Longest wait before jitter, in ms, >= initialMs. 30,000 as in client-go's reflector. */
  readonly maxMs?: number;
  /** Growth from one wait to the next, >= 1. */
  readonly factor?: number;
  /** Share of the wait added at random, >= 0; 1 draws from [d, 2d). */
  readonly jitter?: number;
  /** Quiet time in ms, counted from the end of the last wait, after which the sequence restarts. */
  readonly resetAfterMs?: number;
};

export class Backoff {
  readonly #clock: Pick<Clock, "monotonic" | "random">;
  readonly #initialMs: number;
  readonly #maxMs: number;
  readonly #factor: number;
  readonly #jitter: number;
  readonly #resetAfterMs: number;
  #nextMs: number;
  #waitEnds = Number.POSITIVE_INFINITY;

  constructor(options: BackoffOptions) {
    const { initialMs = 800, maxMs = 30_000, factor = 2, jitter = 1 } = options;
    const { resetAfterMs = 120_000 } = options;
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
    this.#resetAfterMs = resetAfterMs;
    this.#nextMs = initialMs;
  }

  /** The time to wait now, in ms; counts an attempt. */
  next(): number {
    const now = this.#clock.monotonic();
    if (now - this.#waitEnds >= this.#resetAfterMs) this.#nextMs = this.#initialMs;
    const base = this.#nextMs;
    this.#nextMs = Math.min(this.#maxMs, base * this.#factor);
    const wait = base * (1 + this.#jitter * this.#clock.random());
    this.#waitEnds = now + wait;
    return wait;
  }
}
