// The pause of a whole client whose API server takes nothing: twenty answers in a row were 429, and it
// lasts until the last of the times that they named in Retry-After is over. Fewer refusals hold back
// nobody but those that were refused.
// Promises: while it lasts no turn comes; a turn that cannot come within its own time limit is refused
// at once; a wait ends as soon as its signal aborts and leaves no timer. Of several pauses the one
// that ends last counts. Does not promise an order among those who wait, nor to spread them: they are
// few, for the pool of writes holds back its own.
import { ApiError } from "./api-error.ts";
import { sleep } from "../time/clock.ts";
import type { Clock } from "../time/clock.ts";

/** How long somebody can wait for a turn; a Deadline is one. */
export type RetryDeadline = { readonly leftMs: number; readonly signal: AbortSignal };

/** As many refusals in a row as half of all at random never bring. */
const NOTHING_TAKEN = 20;

export class RetryAfter {
  readonly #clock: Clock;
  #endsAt = Number.NEGATIVE_INFINITY;
  #inARow = 0;
  #rowEndsAt = Number.NEGATIVE_INFINITY;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** What is left of the pause, in ms; 0 when there is none. */
  get leftMs(): number {
    return Math.max(0, this.#endsAt - this.#clock.monotonic());
  }

  /** A request was answered by 429, which asks for `ms` of patience. */
  refused(ms: number): void {
    this.#rowEndsAt = Math.max(this.#rowEndsAt, this.#clock.monotonic() + ms);
    if (++this.#inARow >= NOTHING_TAKEN) this.#endsAt = this.#rowEndsAt;
  }

  /** A request was answered otherwise. */
  taken(): void {
    this.#inARow = 0;
    this.#rowEndsAt = Number.NEGATIVE_INFINITY;
  }

  /**
   * Resolves when the request `what` may begin. Rejects with an ApiError of kind `throttled` when its
   * patience would be over by then, and as soon as its signal aborts.
   */
  async turn(what: string, patience: RetryDeadline): Promise<void> {
    for (let left = this.leftMs; left > 0; left = this.leftMs) {
      if (left >= patience.leftMs) throw tooLate(what, left);
      await sleep(this.#clock, left, patience.signal);
      if (patience.signal.aborted) throw new Error("aborted");
      // An event loop that was held up comes here with both times over, and nothing said so yet.
      if (patience.leftMs <= 0) throw tooLate(what, this.leftMs);
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
