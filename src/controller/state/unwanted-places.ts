// Which places are unwanted, since when, and when their copies were reported to be removed. It is the only
// memory behind the rule for removals (plan/removal-wait.ts). A place is remembered as long as it is unwanted, and
// for one hold afterwards, so that slow losses count together. No clock: `now` is milliseconds of a monotonic clock.
import type { Reason } from "../model/reasons.ts";
import type { RemovalHoldCause } from "../model/verdicts.ts";

/** Why a removal waits for --delete-hold: a value of a closed list, and the sentence. */
export type HoldReason = { readonly cause: RemovalHoldCause; readonly why: Reason };

/** When a copy is removed, as it was reported. Without `hold`, it waits for --delete-grace. */
export type ReportedWait = {
  readonly dueAt: number;
  readonly hold: HoldReason | undefined;
};

/** What the rule says of an unwanted place now. */
export type CurrentWait = {
  readonly ms: number;
  readonly hold: HoldReason | undefined;
  /** The namespace or the source asks for it on purpose: only then a reported time may become earlier. */
  readonly isAskedFor: boolean;
};

type Loss = {
  readonly namespace: string;
  /** Unwanted without interruption since then. */
  readonly since: number;
  readonly of: Losses;
  readonly keepMs: number;
  /** Its namespace refuses every copy, so the source did not lose it. */
  counts: boolean;
  /** The last sync in which it was unwanted, and when that was. */
  sync: number;
  at: number;
  /** Since when it is asked for on purpose. */
  askedSince: number | undefined;
  reported: ReportedWait | undefined;
};

/** The places that count together. */
type Losses = {
  readonly key: string;
  readonly places: Map<string, Loss>;
  /** The number of namespaces, as the sync `countedIn` counted them. */
  count: number;
  countedIn: number;
};

export type UnwantedPlace = Pick<Loss, "since"> & { readonly loss: Loss };

const PLACES_PER_TURN = 4096;
/** A tenant may create and delete unwanted copies all the time: the oldest of one namespace are forgotten. */
const MOST_FORMER_OF_A_NAMESPACE = 1000;

export class UnwantedPlaces {
  readonly #places = new Map<string, Loss>();
  readonly #losses = new Map<string, Losses>();
  /** By namespace: the places that are remembered although they are no longer unwanted. */
  #former = new Map<string, number>();
  #sync = 0;

  get size(): number {
    return this.#places.size;
  }

  beginSync(): void {
    this.#sync++;
  }

  /** The place is unwanted in this sync. `key` identifies it. `of`: the places of this key count together. */
  note(
    key: string,
    {
      namespace,
      of,
      counts,
      keepMs,
    }: Pick<Loss, "namespace" | "counts" | "keepMs"> & { readonly of: string },
    now: number,
  ): UnwantedPlace {
    const known = this.#places.get(key);
    const goesOn = known?.of.key === of && known.sync >= this.#sync - 1;
    if (known && !goesOn) this.#forget(key, known);
    const loss =
      known && goesOn ? known : this.#begin(key, { namespace, keepMs, since: now, counts }, of);
    loss.counts = counts;
    loss.sync = this.#sync;
    loss.at = now;
    return { since: loss.since, loss };
  }

  /** In how many namespaces places of the same key became unwanted since `from`. Runs after all were noted. */
  lostNamespaces({ loss: { of } }: UnwantedPlace, from: number): number {
    if (of.countedIn === this.#sync) return of.count;
    const namespaces = new Set<string>();
    for (const { namespace, since, counts } of of.places.values())
      if (counts && since >= from) namespaces.add(namespace);
    of.count = namespaces.size;
    of.countedIn = this.#sync;
    return of.count;
  }

  /**
   * When the copy is removed. A time that was reported becomes later only, unless the removal is now asked for
   * on purpose.
   */
  report({ loss }: UnwantedPlace, wait: CurrentWait, now: number): ReportedWait {
    loss.askedSince = wait.isAskedFor ? (loss.askedSince ?? now) : undefined;
    const current = {
      dueAt: (loss.askedSince ?? loss.since) + wait.ms,
      hold: wait.hold,
    };
    const before = loss.reported;
    const isCurrent =
      before === undefined ||
      (wait.isAskedFor ? current.dueAt <= before.dueAt : current.dueAt >= before.dueAt);
    loss.reported = isCurrent ? current : before;
    return loss.reported;
  }

  /** Forgets what has expired. Runs once, after all places were noted. */
  *endSync(now: number): Generator<undefined, void> {
    const former = new Map<string, number>();
    let count = 0;
    for (const [key, loss] of this.#places) {
      if (++count % PLACES_PER_TURN === 0) yield;
      if (loss.sync === this.#sync) continue;
      const before = this.#former.get(loss.namespace) ?? 0;
      if (now - loss.at > loss.keepMs || before > MOST_FORMER_OF_A_NAMESPACE) {
        this.#forget(key, loss);
        this.#former.set(loss.namespace, before - 1);
      } else former.set(loss.namespace, (former.get(loss.namespace) ?? 0) + 1);
    }
    this.#former = former;
  }

  #begin(
    key: string,
    of: Pick<Loss, "namespace" | "keepMs" | "since" | "counts">,
    together: string,
  ): Loss {
    const losses = this.#losses.get(together) ?? {
      key: together,
      places: new Map<string, Loss>(),
      count: 0,
      countedIn: -1,
    };
    this.#losses.set(together, losses);
    const loss: Loss = {
      ...of,
      of: losses,
      sync: this.#sync,
      at: of.since,
      askedSince: undefined,
      reported: undefined,
    };
    losses.places.set(key, loss);
    this.#places.set(key, loss);
    return loss;
  }

  #forget(key: string, { of }: Loss): void {
    this.#places.delete(key);
    of.places.delete(key);
    if (of.places.size === 0) this.#losses.delete(of.key);
  }
}
