// Repairs that look like a fight: another client undoes what is written, again and again, or a webhook changes each
// write. No clock: `now` is milliseconds of a monotonic clock.
import { RecentTimes } from "./recent-times.ts";

/** No GitOps tool applies more often: Flux and Argo CD take ten seconds at least. */
const REFILL_DISTANCE_MS = 5000;
const FIGHT_WINDOW_MS = 60_000;
export const FIGHT_REPAIRS = 5;
/** A fight is over when nobody undid our repair for this long. */
const FIGHT_OVER_MS = 10 * 60_000;

type Repairs = { readonly times: readonly number[]; readonly level: number };

export class Fights {
  readonly #repairs = new Map<string, Repairs>();
  readonly #refilled = new RecentTimes(REFILL_DISTANCE_MS);

  /** A write repaired `place`. Returns how often in a row that was a fight. `certain`: it is one. */
  repaired(place: string, now: number, certain: boolean): number {
    const { times: before = [], level: last = 0 } = this.#repairs.get(place) ?? {};
    const level = now - (before.at(-1) ?? Number.NEGATIVE_INFINITY) > FIGHT_OVER_MS ? 0 : last;
    const times = [...before.filter((time) => now - time < FIGHT_WINDOW_MS), now];
    const isFight = certain || level > 0 || times.length > FIGHT_REPAIRS;
    this.#repairs.set(place, { times, level: isFight ? level + 1 : 0 });
    return isFight ? level + 1 : 0;
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
    for (const [place, { times }] of this.#repairs)
      if (now - (times.at(-1) ?? 0) > FIGHT_OVER_MS) this.#repairs.delete(place);
  }
}
