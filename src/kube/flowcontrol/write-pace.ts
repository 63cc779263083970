// How many writes may fly and how many may begin a second, learned from which of them are refused by
// 429. The refused write itself waits as long as the server asks; this is about all the others.
// In rounds of about a second it looks at the share that was refused. Where that is more than a tenth,
// only as many go on as were taken, and half as many at once. If that was the reason, next to none is
// refused from then on, and what is asked grows again until some are. If as large a share of fewer is
// refused, it does not depend on how much we ask: we go back to what we asked before, and look again
// half a minute later. When twenty in a row are refused, the server takes nothing: all wait until the
// last of the times that it named is over.
// Promises: never more in flight than allowed, nothing begins in a pause; of a server that refuses more
// than two thirds, less is asked each round, down to twenty a second. Pure: times are milliseconds of a
// monotonic clock.

/** As many refusals in a row as half of them at random never bring. */
const NOTHING_TAKEN = 20;
// Without Retry-After: the server's own default in that header.
const PAUSE_MS = 1000;
const FEWEST_IN_FLIGHT = 4;
// What controllers are commonly given as their bound.
const FEWEST_PER_SECOND = 20;
const BURST_MS = 25;

const ROUND_MS = 1000;
/** With so many refusals a round is over before its time. */
const MANY_REFUSALS = 50;
const SHORTEST_ROUND_MS = 100;
const LONGEST_ROUND_MS = 5000;
/** Of fewer answers no share is reported. */
const FEWEST_ANSWERS = 20;

const FEW = 0.02;
const MANY = 0.1;
/** Of a server that refuses more, less is asked whatever comes of it. */
const MOST = 2 / 3;
/** By as much a share may differ from round to round. */
const SCATTER = 0.15;
/** From this part of it on, a share of fewer is as large as that of more. */
const AS_LARGE = 0.6;
const TOLERANCE_MS = 30_000;
const FIRST_STEP = 0.1;
// What would allow so many times what is asked bounds nothing.
const LOOSE = 4;

/** What was asked before it was made less, and the share that was refused of it. */
type Cut = { readonly share: number; readonly perSecond: number; readonly limit: number };

export class WritePace {
  readonly #most: number;
  #limit: number;
  #successes = 0;
  #perSecond = Number.POSITIVE_INFINITY;
  #step = FIRST_STEP;
  /** When the next would begin if all came evenly. */
  #nextMs = Number.NEGATIVE_INFINITY;
  #round = { sinceMs: Number.NEGATIVE_INFINITY, taken: 0, refused: 0 };
  #cut: Cut | undefined;
  #tolerated = { share: 0, untilMs: Number.NEGATIVE_INFINITY };
  #inARow = 0;
  /** The last of the times that refusals in a row named. */
  #rowEndsMs = Number.NEGATIVE_INFINITY;
  #pausedUntilMs = Number.NEGATIVE_INFINITY;

  /** `most`: in flight, at least 1. */
  constructor(most: number) {
    this.#most = most;
    this.#limit = most;
  }

  /** So many may fly. */
  get limit(): number {
    return this.#limit;
  }

  /** So many may begin a second; Infinity: any. */
  get perSecond(): number {
    return this.#perSecond;
  }

  isPaused(now: number): boolean {
    return now < this.#pausedUntilMs;
  }

  /** Milliseconds until one may begin; 0: now. */
  waitMs(now: number): number {
    return Math.max(0, this.#pausedUntilMs - now, this.#nextMs - BURST_MS - now);
  }

  /** One begins. */
  began(now: number): void {
    const { sinceMs, taken, refused } = this.#round;
    const stale = now - sinceMs > LONGEST_ROUND_MS && taken + refused < FEWEST_ANSWERS;
    if (stale) this.#beginRound(now);
    this.#nextMs = Math.max(this.#nextMs, now) + 1000 / this.#perSecond;
  }

  /** One that began at `beganMs` was answered, and not by 429. */
  taken(beganMs: number, now: number): void {
    this.#inARow = 0;
    this.#rowEndsMs = Number.NEGATIVE_INFINITY;
    if (this.#limit < this.#most && ++this.#successes >= this.#limit) this.#setLimit(1);
    if (beganMs >= this.#round.sinceMs) this.#round.taken++;
    this.#endRound(now);
  }

  /** One that began at `beganMs` was refused by 429, which asks for a wait of `retryAfterMs`. */
  refused(beganMs: number, now: number, retryAfterMs = 0): void {
    if (beganMs >= this.#round.sinceMs) this.#round.refused++;
    const waitMs = retryAfterMs > 0 ? retryAfterMs : PAUSE_MS;
    this.#rowEndsMs = Math.max(this.#rowEndsMs, now + waitMs);
    // Where some were taken of late, it may only be out of tokens.
    if (++this.#inARow >= NOTHING_TAKEN && this.#round.taken === 0) this.#pause(now);
    else this.#endRound(now);
  }

  // What was sent together is refused together: halve once a pause, not once a write.
  #pause(now: number): void {
    if (!this.isPaused(now)) this.#halve();
    this.#pausedUntilMs = this.#rowEndsMs;
    this.#cut = undefined;
    this.#beginRound(this.#pausedUntilMs);
  }

  #endRound(now: number): void {
    const { sinceMs, taken, refused } = this.#round;
    const tookMs = now - sinceMs;
    const over = tookMs >= ROUND_MS || (refused >= MANY_REFUSALS && tookMs >= SHORTEST_ROUND_MS);
    if (!over || taken + refused < FEWEST_ANSWERS) return;
    this.#judge(taken, refused, tookMs / 1000, now);
    this.#beginRound(now);
  }

  #judge(taken: number, refused: number, seconds: number, now: number): void {
    const share = refused / (taken + refused);
    const cut = this.#cut;
    this.#cut = undefined;
    if (cut && share > AS_LARGE * cut.share && share <= MOST) {
      this.#perSecond = cut.perSecond;
      this.#limit = Math.max(this.#limit, cut.limit);
      const tolerated = Math.min(MOST, Math.max(share, cut.share) + SCATTER);
      this.#tolerated = { share: tolerated, untilMs: now + TOLERANCE_MS };
      return;
    }
    const tolerates = now < this.#tolerated.untilMs;
    if (share > (tolerates ? this.#tolerated.share : MANY)) {
      this.#cut = { share, perSecond: this.#perSecond, limit: this.#limit };
      this.#askFor(taken / seconds);
      this.#halve();
    } else if (tolerates || share < FEW) {
      const next = this.#perSecond * (1 + this.#step);
      this.#step = Math.min(1, 2 * this.#step);
      const asked = (taken + refused) / seconds;
      this.#perSecond = next > LOOSE * asked ? Number.POSITIVE_INFINITY : next;
    } else this.#step = FIRST_STEP;
  }

  #askFor(perSecond: number): void {
    this.#perSecond = Math.min(this.#perSecond, Math.max(FEWEST_PER_SECOND, perSecond));
    this.#step = FIRST_STEP;
  }

  #beginRound(sinceMs: number): void {
    this.#round = { sinceMs, taken: 0, refused: 0 };
  }

  #halve(): void {
    this.#setLimit(-Math.ceil(this.#limit / 2));
  }

  #setLimit(change: number): void {
    const fewest = Math.min(this.#most, FEWEST_IN_FLIGHT);
    this.#limit = Math.max(fewest, this.#limit + change);
    this.#successes = 0;
  }
}
