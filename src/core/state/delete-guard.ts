// The guard against mass deletion. Deletions and releases that are due, together with those made
// within the last hold, are counted; above the limit none is made before it has itself been due for
// the hold. Not counted are the copies of the first source that vanishes within a hold: deleting one
// source is ordinary. Copies of sources that this process has never seen are counted by themselves:
// anybody may write such a copy, and it takes neither that exemption nor the others' room. The memory
// starts anew with the process. No clock: `now` is milliseconds of a monotonic clock.
import type { SourceAbsence } from "../model/actions.ts";

/** Something to delete or release; `vanished` is the absent source that it belongs to, if any. */
export type DueRemoval = { readonly place: string; readonly vanished: SourceAbsence | undefined };
export type DeleteGuardLimits = { readonly limit: number; readonly holdMs: number };

export type GuardDecision =
  | { readonly kind: "go" }
  /** Kept back until `until` (ms, monotonic). */
  | { readonly kind: "held"; readonly until: number };

const GO: GuardDecision = { kind: "go" };

export class DeleteGuard {
  /** Since when each place has been due. */
  #due = new Map<string, number>();
  readonly #made: number[] = [];
  /** Of sources never seen. */
  readonly #madeUnseen: number[] = [];
  #exempt: SourceAbsence | undefined;

  /** One ruling for each of `due`, in its order; to be asked once a pass with all that is due. */
  check(
    due: readonly DueRemoval[],
    guard: DeleteGuardLimits,
    now: number,
  ): readonly GuardDecision[] {
    if (guard.limit === 0) return due.map(() => GO);
    this.#exempt = this.#choose(due, guard, now);
    const since = new Map<string, number>();
    for (const { place } of due) since.set(place, this.#due.get(place) ?? now);
    this.#due = since;
    for (const made of [this.#made, this.#madeUnseen]) {
      while ((made[0] ?? now) < now - guard.holdMs) made.shift();
    }
    const unseen = due.filter(isUnseen).length;
    const seen = due.filter((one) => !isUnseen(one) && !this.#exempts(one)).length;
    const within = seen + this.#made.length <= guard.limit;
    const unseenWithin = unseen + this.#madeUnseen.length <= guard.limit;
    return due.map((one) => {
      if (isUnseen(one) ? unseenWithin : within || this.#exempts(one)) return GO;
      const until = (since.get(one.place) ?? now) + guard.holdMs;
      return until <= now ? GO : { kind: "held", until };
    });
  }

  /** A counted deletion or release was made. */
  made(vanished: SourceAbsence | undefined, now: number): void {
    if (vanished?.seen === false) this.#madeUnseen.push(now);
    else if (vanished === undefined || vanished.key !== this.#exempt?.key) this.#made.push(now);
  }

  #exempts(one: DueRemoval): boolean {
    return one.vanished !== undefined && one.vanished.key === this.#exempt?.key;
  }

  // The exempt source stays so while its hold lasts or its copies are still being deleted.
  #choose(
    due: readonly DueRemoval[],
    guard: DeleteGuardLimits,
    now: number,
  ): SourceAbsence | undefined {
    const exempt = this.#exempt;
    if (exempt && now - exempt.since < guard.holdMs) return exempt;
    if (due.some((one) => this.#exempts(one))) return exempt;
    let first: SourceAbsence | undefined;
    for (const { vanished } of due) {
      if (vanished?.seen !== true) continue;
      if (first === undefined || earlier(vanished, first)) first = vanished;
    }
    return first && { ...first, since: now };
  }
}

function isUnseen({ vanished }: DueRemoval): boolean {
  return vanished?.seen === false;
}

function earlier(a: SourceAbsence, b: SourceAbsence): boolean {
  return a.since < b.since || (a.since === b.since && a.key < b.key);
}
