// The offset of this machine's clock from the API server's, by the Date header of an answer.
// Promises: it checks one answer a minute at most. A difference that the request's duration and
// whole seconds explain counts as 0.
import type { Clock } from "../time/clock.ts";

const DISTANCE_MS = 60_000;
/** A Date header has whole seconds, and its second may be over. */
const RESOLUTION_MS = 1000;

export class ClockOffset {
  readonly #clock: Clock;
  readonly #onOffset: (offsetMs: number) => void;
  #lookedAt = Number.NEGATIVE_INFINITY;

  /** `onOffset`: positive if this machine's clock is ahead. */
  constructor(clock: Clock, onOffset: (offsetMs: number) => void) {
    this.#clock = clock;
    this.#onOffset = onOffset;
  }

  /** An answer with this Date header, for a request that was sent at `sentMs` (monotonic). */
  measure(date: string | undefined, sentMs: number): void {
    const now = this.#clock.monotonic();
    if (date === undefined || now - this.#lookedAt < DISTANCE_MS) return;
    const serverMs = Date.parse(date);
    if (Number.isNaN(serverMs)) return;
    this.#lookedAt = now;
    const ahead = this.#clock.now() - serverMs;
    // The answer was dated at some time between the request and now.
    const slack = now - sentMs + RESOLUTION_MS;
    this.#onOffset(ahead < 0 ? Math.min(0, ahead + RESOLUTION_MS) : Math.max(0, ahead - slack));
  }
}
