// A token bucket by the monotonic clock, filled continuously.
// Promises: at most `burst` tokens at once, and `perSecond` on average after that.
// Does not promise order or fairness: it is a counter, not a queue.
import type { Clock } from "./clock.ts";

export type TokenBucketOptions = {
  readonly clock: Pick<Clock, "monotonic">;
  /** Tokens a second, > 0. */
  readonly perSecond: number;
  /** Tokens of a full bucket, >= 1. It starts full. */
  readonly burst: number;
};

export class TokenBucket {
  readonly #clock: Pick<Clock, "monotonic">;
  readonly #perMs: number;
  readonly #burst: number;
  #tokens: number;
  #filledAt: number;

  constructor({ clock, perSecond, burst }: TokenBucketOptions) {
    if (!(perSecond > 0 && burst >= 1))
      throw new RangeError(
        `Cannot make a token bucket of ${burst} with ${perSecond} a second: the burst must be at least 1 and the rate positive`,
      );
    this.#clock = clock;
    this.#perMs = perSecond / 1000;
    this.#burst = burst;
    this.#tokens = burst;
    this.#filledAt = clock.monotonic();
  }

  /** Takes a token if one is available. */
  tryTake(): boolean {
    this.#fill();
    if (this.#tokens < 1) return false;
    this.#tokens -= 1;
    return true;
  }

  /** In how many ms the bucket is full, if no token is taken. At 0 it can be dropped. */
  get fullInMs(): number {
    this.#fill();
    return (this.#burst - this.#tokens) / this.#perMs;
  }

  #fill(): void {
    const now = this.#clock.monotonic();
    this.#tokens = Math.min(this.#burst, this.#tokens + (now - this.#filledAt) * this.#perMs);
    this.#filledAt = now;
  }
}
