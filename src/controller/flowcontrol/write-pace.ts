// Limits the writes in flight and the writes started per second, according to the share refused with 429. A
// refused write itself waits as long as the server asks. This limit is for all the others. In rounds of about a
// second it measures the share that was refused. If it is more than a tenth, the rate drops to the rate that
// was accepted, and the limit in flight is halved. If load was the reason, almost no write is refused from then
// on, and the rate grows again until some are. If the same share of a lower rate is refused, the share does not
// depend on the rate. The previous rate is restored and tested again half a minute later. After twenty refusals
// in a row the server accepts nothing. All writes then wait until the last of the times that it named is over.
// Promises: never more in flight than allowed, and no write starts in a pause. If a server refuses more than
// two thirds, the rate drops each round, down to twenty a second. Pure: times are milliseconds of a monotonic
// clock.
import { RefusalRow } from "../../../packages/kube/time/refusal-row.ts";

// Without Retry-After: the API server's own default in that header.
const PAUSE_MS = 1000;
const FEWEST_IN_FLIGHT = 4;
// A common rate limit of controllers.
const FEWEST_PER_SECOND = 20;
const BURST_MS = 25;

const ROUND_MS = 1000;
/** A round with this many refusals ends early. */
const MANY_REFUSALS = 50;
const SHORTEST_ROUND_MS = 100;
const LONGEST_ROUND_MS = 5000;
/** With fewer answers no share is computed. */
const FEWEST_ANSWERS = 20;

const FEW = 0.02;
const MANY = 0.1;
/** If the server refuses more, the rate is always lowered. */
const MOST = 2 / 3;
/** How much a share may differ from round to round. */
const SCATTER = 0.15;
/** A share counts as unchanged above this part of the earlier share. */
const AS_LARGE = 0.6;
const TOLERANCE_MS = 30_000;
const FIRST_STEP = 0.1;
// A limit of this many times the actual rate has no effect, so it is removed.
const LOOSE = 4;

/** The limits before they were lowered, and the share that was refused under them. */
type Reduction = { readonly share: number; readonly perSecond: number; readonly limit: number };

export class WritePace {
  readonly #most: number;
  #limit: number;
  #successes = 0;
  #perSecond = Number.POSITIVE_INFINITY;
  #step = FIRST_STEP;
  /** When the next write would start if writes started at an even rate. */
  #nextMs = Number.NEGATIVE_INFINITY;
  #round = { sinceMs: Number.NEGATIVE_INFINITY, taken: 0, refused: 0 };
  #reduction: Reduction | undefined;
  #tolerated = { share: 0, untilMs: Number.NEGATIVE_INFINITY };
  readonly #row = new RefusalRow();
  #pausedUntilMs = Number.NEGATIVE_INFINITY;

  /** `most`: the maximum in flight, at least 1. */
  constructor(most: number) {
    this.#most = most;
    this.#limit = most;
  }

  /** Maximum writes in flight. */
  get limit(): number {
    return this.#limit;
  }

  /** Maximum writes started per second. Infinity: no limit. */
  get perSecond(): number {
    return this.#perSecond;
  }

  isPaused(now: number): boolean {
    return now < this.#pausedUntilMs;
  }

  /** Milliseconds until a write may start. 0: now. */
  waitMs(now: number): number {
    return Math.max(0, this.#pausedUntilMs - now, this.#nextMs - BURST_MS - now);
  }

  /** A write starts. */
  began(now: number): void {
    const { sinceMs, taken, refused } = this.#round;
    const stale = now - sinceMs > LONGEST_ROUND_MS && taken + refused < FEWEST_ANSWERS;
    if (stale) this.#beginRound(now);
    this.#nextMs = Math.max(this.#nextMs, now) + 1000 / this.#perSecond;
  }

  /** A write that started at `beganMs` was answered, and not with 429. */
  taken(beganMs: number, now: number): void {
    this.#row.taken();
    if (this.#limit < this.#most && ++this.#successes >= this.#limit) this.#setLimit(1);
    if (beganMs >= this.#round.sinceMs) this.#round.taken++;
    this.#endRound(now);
  }

  /** A write that started at `beganMs` was refused with 429 and a wait of `retryAfterMs`. */
  refused(beganMs: number, now: number, retryAfterMs = 0): void {
    if (beganMs >= this.#round.sinceMs) this.#round.refused++;
    const waitMs = retryAfterMs > 0 ? retryAfterMs : PAUSE_MS;
    const takesNothing = this.#row.refused(now + waitMs);
    // If some were accepted recently, the server may only be out of tokens.
    if (takesNothing && this.#round.taken === 0) this.#pause(now);
    else this.#endRound(now);
  }

  // Writes that were sent together are refused together: halve once a pause, not once a write.
  #pause(now: number): void {
    if (!this.isPaused(now)) this.#halve();
    this.#pausedUntilMs = this.#row.endsMs;
    this.#reduction = undefined;
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
    const reduction = this.#reduction;
    this.#reduction = undefined;
    if (reduction && share > AS_LARGE * reduction.share && share <= MOST) {
      this.#perSecond = reduction.perSecond;
      this.#limit = Math.max(this.#limit, reduction.limit);
      const tolerated = Math.min(MOST, Math.max(share, reduction.share) + SCATTER);
      this.#tolerated = { share: tolerated, untilMs: now + TOLERANCE_MS };
      return;
    }
    const tolerates = now < this.#tolerated.untilMs;
    if (share > (tolerates ? this.#tolerated.share : MANY)) {
      this.#reduction = { share, perSecond: this.#perSecond, limit: this.#limit };
      this.#lowerTo(taken / seconds);
      this.#halve();
    } else if (tolerates || share < FEW) {
      const next = this.#perSecond * (1 + this.#step);
      this.#step = Math.min(1, 2 * this.#step);
      const asked = (taken + refused) / seconds;
      this.#perSecond = next > LOOSE * asked ? Number.POSITIVE_INFINITY : next;
    } else this.#step = FIRST_STEP;
  }

  #lowerTo(perSecond: number): void {
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
