// Pauses a whole client when its API server accepts nothing: twenty answers in a row were 429. The pause lasts
// until the last of the times that they named in Retry-After is over. Fewer refusals delay only the requests
// that were refused.
// Promises: no wait ends during the pause. A wait that cannot end within its own time limit is refused at
// once. A wait ends as soon as its signal aborts and leaves no timer. If there are several pauses, the one that
// ends last counts.
// Does not promise an order among waiting requests, nor to spread them. They are few, because the pool of
// writes delays its own.
import { ApiError } from "./api-error.ts";
import { sleep, type Clock } from "../time/clock.ts";
import { RefusalRow } from "../time/refusal-row.ts";

/** How long a request can wait. A Deadline is one. */
export type RetryDeadline = { readonly leftMs: number; readonly signal: AbortSignal };

export class RetryAfter {
  readonly #clock: Clock;
  #endsAt = Number.NEGATIVE_INFINITY;
  readonly #row = new RefusalRow();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The rest of the pause, in ms. 0 without a pause. */
  get leftMs(): number {
    return Math.max(0, this.#endsAt - this.#clock.monotonic());
  }

  /** A request was answered with 429, which asks for a wait of `ms`. */
  refused(ms: number): void {
    if (this.#row.refused(this.#clock.monotonic() + ms)) this.#endsAt = this.#row.endsMs;
  }

  /** A request was answered with another status. */
  taken(): void {
    this.#row.taken();
  }

  /**
   * Resolves when the request `what` may start. Rejects with an ApiError of kind `throttled` when its time
   * limit would be over by then, and as soon as its signal aborts.
   */
  async wait(what: string, deadline: RetryDeadline): Promise<void> {
    for (let left = this.leftMs; left > 0; left = this.leftMs) {
      if (left >= deadline.leftMs) throw tooLate(what, left);
      await sleep(this.#clock, left, deadline.signal);
      if (deadline.signal.aborted) throw new Error("aborted");
      // After a blocked event loop both times may be over without a report.
      if (deadline.leftMs <= 0) throw tooLate(what, this.leftMs);
    }
  }
}

function tooLate(what: string, leftMs: number): ApiError {
  return new ApiError(what, {
    kind: "throttled",
    reason: "TooManyRequests",
    retryAfterMs: Math.ceil(leftMs),
    note: "not sent, because the server asks for a longer pause than this may wait",
  });
}
