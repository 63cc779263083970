// Counts answers of 429 in a row. A server that refuses half of all requests at random never refuses twenty in
// a row, so after that many it accepts nothing.

const NOTHING_TAKEN = 20;

export class RefusalRow {
  #count = 0;
  #endsMs = Number.NEGATIVE_INFINITY;

  /** One more, which asks to wait until then (ms, monotonic). Whether the server accepts nothing. */
  refused(untilMs: number): boolean {
    this.#endsMs = Math.max(this.#endsMs, untilMs);
    return ++this.#count >= NOTHING_TAKEN;
  }

  /** Another answer ends the row. */
  taken(): void {
    this.#count = 0;
    this.#endsMs = Number.NEGATIVE_INFINITY;
  }

  /** The latest of the times that the row named. */
  get endsMs(): number {
    return this.#endsMs;
  }
}
