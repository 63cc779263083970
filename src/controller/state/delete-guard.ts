// The guard against removals that could be a mistake. A removal with a condition of its own, or beyond
// the limit, is held until it has been due for the hold. Two numbers are limited: removals that are due
// together with those made within the last hold, absolutely and as a share of all copies. Not counted are
// the copies of one seen source that is deleted within a hold, because the deletion of one source is
// ordinary. That source is chosen only when the limit would hold it.
//
// The users of one namespace never hold removals in another. What they control themselves (their consent,
// copies that this process never saw wanted, records on pulling objects, sources where every namespace may
// publish) counts fully in their own namespace, and as one removal elsewhere. Where every namespace may
// publish, what the other publishers remove also counts, without the one of them that removes most: a mistake
// in many namespaces is held. The deletion of one of their sources is exempt in its namespace alone. The
// memory starts anew with the process. No clock: `now` is milliseconds of a monotonic clock.
import type { CountedRemoval, EndAction, SourceAbsence } from "../model/actions.ts";
import type { RemovalHoldCause } from "../model/verdicts.ts";
import { KeptWhileUsed } from "./kept-while-used.ts";
import { change, EVERYWHERE, type OfVanished, RecentRemovals } from "./recent-removals.ts";

/** A removal that is due: its grace is over and the API server has confirmed it. */
export type DueRemoval = CountedRemoval & {
  readonly place: string;
  /** Its own condition, or undefined: only the limit can hold it. */
  readonly hold: RemovalHoldCause | undefined;
};

/** `copies`: those that are kept, of all sources. */
export type DeleteGuardLimits = {
  readonly limit: number;
  readonly holdMs: number;
  readonly copies: number;
};

export type GuardDecision =
  | { readonly kind: "go" }
  /** Kept back until `until` (ms, monotonic). */
  | {
      readonly kind: "held";
      readonly until: number;
      readonly hold: RemovalHoldCause;
      /** With the limit: the numbers. */
      readonly numbers?: LimitNumbers;
    };

export type LimitNumbers = {
  readonly due: number;
  readonly made: number;
  /** What they exceed. */
  readonly limit: number | "share";
  readonly copies: number;
};

const GO: GuardDecision = { kind: "go" };
/** More than one in five of all copies, and at least so many. */
const SHARE = 5;
const FEWEST_OF_SHARE = 10;

export class DeleteGuard {
  /** Since when each place has been due. */
  readonly #due = new KeptWhileUsed<number>();
  readonly recent = new RecentRemovals();
  /** By account: the deleted source whose copies do not count. */
  readonly #exempt = new Map<string, SourceAbsence>();

  /** One decision for each of `due`, in its order. Called once in each sync with all that is due. */
  check(
    due: readonly DueRemoval[],
    guard: DeleteGuardLimits,
    now: number,
  ): readonly GuardDecision[] {
    this.#due.beginSync();
    const since = due.map(({ place }) => this.#due.of(place, () => now));
    this.recent.forget(now - guard.holdMs);
    if (guard.holdMs === 0) return due.map(() => GO);
    const beyond = this.#beyondLimit(due, guard, now);
    return due.map((one, index) => {
      const numbers = one.hold === undefined ? beyond(one) : undefined;
      const hold = one.hold ?? (numbers && "limit");
      const until = (since[index] ?? now) + guard.holdMs;
      if (hold === undefined || until <= now) return GO;
      return { kind: "held", until, hold, ...(numbers && { numbers }) };
    });
  }

  /** A removal was made. */
  made({ removal }: EndAction, now: number): void {
    if (removal) this.recent.add(removal, now);
  }

  #beyondLimit(
    due: readonly DueRemoval[],
    guard: DeleteGuardLimits,
    now: number,
  ): (one: DueRemoval) => LimitNumbers | undefined {
    if (guard.limit === 0) return () => undefined;
    const going = new Set(due.map(({ vanished }) => vanished?.key));
    for (const [account, { key, since }] of this.#exempt)
      if (now - since >= guard.holdMs && !going.has(key)) this.#exempt.delete(account);
    let counted = this.#count(due, guard);
    for (const { absence } of this.#largestDeleted(due)) {
      const { account } = absence;
      if (this.#exempt.has(account) || counted(account) === undefined) continue;
      this.#exempt.set(account, { ...absence, since: now });
      // What is exempt everywhere relieves all others.
      if (account === EVERYWHERE) counted = this.#count(due, guard);
    }
    const exceeded = this.#count(due, guard);
    const everywhere = exceeded(EVERYWHERE);
    return (one) => {
      const isExempt = this.#exempts(one);
      if (isExempt && one.vanished?.account === EVERYWHERE) return undefined;
      return everywhere ?? exceeded(one.namespace, isExempt);
    };
  }

  /** What is exceeded in the whole cluster together with all that counts in a namespace. */
  #count(due: readonly DueRemoval[], { limit, copies }: DeleteGuardLimits) {
    const own = new Map(this.recent.byAccount);
    const published = new Map(this.recent.byPublisher);
    const ownDue = new Set<string>();
    let dueEverywhere = 0;
    for (const one of due) {
      if (one.countedAs === "publisher") change(published, one.namespace, 1);
      if (this.#exempts(one)) continue;
      if (one.countedAs === "everywhere") dueEverywhere++;
      else {
        change(own, one.namespace, 1);
        ownDue.add(one.namespace);
      }
    }
    for (const [account, { key }] of this.#exempt)
      change(own, account, -(this.recent.ofVanished.get(key)?.count ?? 0));
    const madeEverywhere = own.get(EVERYWHERE) ?? 0;
    own.delete(EVERYWHERE);
    const all = copies + due.length + this.recent.size;
    const others = beyondOne(published);
    const madeByOthers = beyondOne(this.recent.byPublisher);
    /** `isExempt`: what its own namespace removes does not count. */
    return (namespace: string, isExempt = false): LimitNumbers | undefined => {
      const more = isExempt ? 0 : Math.max(0, (own.get(namespace) ?? 0) - 1);
      const elsewhere = others(namespace);
      const madeElsewhere = Math.min(elsewhere, madeByOthers(namespace));
      const made = madeEverywhere + own.size - ownDue.size + madeElsewhere;
      const dueHere = dueEverywhere + ownDue.size + more;
      const numbers = { due: dueHere + elsewhere - madeElsewhere, made, copies: all };
      const count = numbers.due + made;
      if (count > limit) return { ...numbers, limit };
      const isShare = count >= FEWEST_OF_SHARE && count * SHARE > all;
      return isShare ? { ...numbers, limit: "share" } : undefined;
    };
  }

  #exempts({ vanished }: DueRemoval): boolean {
    return vanished !== undefined && this.#exempt.get(vanished.account)?.key === vanished.key;
  }

  // By account, that of the whole cluster first: the source with most copies among the seen sources that were
  // deleted within the hold. A tie: the first.
  #largestDeleted(due: readonly DueRemoval[]): readonly OfVanished[] {
    const counts = new Map(this.recent.ofVanished);
    for (const { vanished, hold } of due) {
      if (vanished?.seen !== true || hold !== undefined) continue;
      const { absence = vanished, count = 0 } = counts.get(vanished.key) ?? {};
      counts.set(vanished.key, { absence, count: count + 1 });
    }
    const largest = new Map<string, OfVanished>();
    for (const one of counts.values()) {
      if (!one.absence.seen) continue;
      const other = largest.get(one.absence.account);
      const isMore = other === undefined || one.count > other.count;
      const isFirst = other?.count === one.count && isEarlier(one.absence, other.absence);
      if (isMore || isFirst) largest.set(one.absence.account, one);
    }
    return [...largest.values()].toSorted((a, b) =>
      a.absence.account < b.absence.account ? -1 : 1,
    );
  }
}

/** What namespaces other than `namespace` count beyond one each, without the one of them with most. */
function beyondOne(counts: ReadonlyMap<string, number>): (namespace: string) => number {
  let [sum, first, second] = [0, 1, 1];
  for (const count of counts.values()) {
    sum += count - 1;
    [first, second] = [Math.max(first, count), Math.max(second, Math.min(first, count))];
  }
  return (namespace) => {
    const own = counts.get(namespace) ?? 1;
    return sum - own - (own === first ? second : first) + 2;
  };
}

function isEarlier(a: SourceAbsence, b: SourceAbsence): boolean {
  return a.since < b.since || (a.since === b.since && a.key < b.key);
}
