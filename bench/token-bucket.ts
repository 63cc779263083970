// So many a second, and so many at once.

export class TokenBucket {
  readonly #aSecond: number;
  readonly #most: number;
  #tokens: number;
  #at = Number.NEGATIVE_INFINITY;

  constructor(aSecond: number, most: number) {
    this.#aSecond = aSecond;
    this.#most = most;
    this.#tokens = most;
  }

  /** Whether there is one for somebody who comes at this time, in ms. */
  take(now: number): boolean {
    const gained = ((now - this.#at) / 1000) * this.#aSecond;
    this.#tokens = Math.min(this.#most, this.#tokens + gained);
    this.#at = now;
    if (this.#tokens < 1) return false;
    this.#tokens--;
    return true;
  }
}
