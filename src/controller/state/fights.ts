// Repairs that look like a fight: another client undoes what is written, again and again, or a webhook changes each
// write. No clock: `now` is milliseconds of a monotonic clock.
import { because, type Reason } from "../model/reasons.ts";
import { RecentTimes } from "./recent-times.ts";

/** No GitOps tool applies more often: Flux and Argo CD take ten seconds at least. */
const REFILL_DISTANCE_MS = 5000;
/** More repairs than this within a minute are made less often. */
const MOST_A_MINUTE = 5;
const MINUTE_MS = 60_000;
/** So many repairs within the time are reported, at whatever pace. */
const REPORTED = 3;
/** A fight is reported until nobody has undone a repair for this long. */
export const FIGHT_OVER_MS = 60 * 60_000;
/** Afterwards repairs are made at once again. */
const CALM_MS = 10 * 60_000;

/** `times`: the last few within the hour. `level`: how often in a row a repair was one of too many. */
type Repairs = { readonly times: readonly number[]; readonly level: number };

/** `altered`: a webhook or a policy changes what is written before it is stored. */
export function fightReason(altered: boolean): Reason {
  return because(altered ? "ChangedByWebhook" : "ChangedRepeatedly");
}

export class Fights {
  /** In the order of their last repair. */
  readonly #repairs = new Map<string, Repairs>();
  readonly #refilled = new RecentTimes(REFILL_DISTANCE_MS);

  /** A write repaired `place`. `certain`: it is a fight. `level`: 0 if the next repair is made at once. */
  repaired(
    place: string,
    now: number,
    certain: boolean,
  ): { readonly level: number; readonly isReported: boolean } {
    const { times: before = [], level: last = 0 } = this.#repairs.get(place) ?? {};
    const reached = now - (before.at(-1) ?? Number.NEGATIVE_INFINITY) > CALM_MS ? 0 : last;
    const times = [...before.filter((time) => now - time < FIGHT_OVER_MS), now];
    const inMinute = times.filter((time) => now - time < MINUTE_MS).length;
    const isFast = certain || reached > 0 || inMinute > MOST_A_MINUTE;
    const level = isFast ? reached + 1 : 0;
    this.#repairs.delete(place);
    this.#repairs.set(place, { times: times.slice(-MOST_A_MINUTE), level });
    // A plan shows the place while its next repair waits.
    return { level, isReported: isFast ? level === 1 : times.length >= REPORTED };
  }

  /**
   * Entries of a pulling Secret were filled again after a manifest had emptied them. True: that was so less than
   * five seconds ago as well. A GitOps tool takes longer from one apply to the next, so this is a fight.
   */
  refilled(place: string, now: number): boolean {
    const isRepeated = this.#refilled.at(place, now) !== undefined;
    this.#refilled.touch(place, now);
    return isRepeated;
  }

  expire(now: number): void {
    this.#refilled.expire(now);
    for (const [place, { times }] of this.#repairs) {
      if (now - (times.at(-1) ?? 0) <= FIGHT_OVER_MS) return;
      this.#repairs.delete(place);
    }
  }
}
