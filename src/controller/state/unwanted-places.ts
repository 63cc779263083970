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
  /** The places with this key count together. */
  readonly of: string;
  readonly keepMs: number;
  /** Its namespace refuses every copy, so the source did not lose it. */
  counts: boolean;
  /** It was unwanted in the running sync, and in the sync before, and when it last was. */
  isNow: boolean;
  wasBefore: boolean;
  at: number;
  /** Since when it is asked for on purpose. */
  askedSince: number | undefined;
  reported: ReportedWait | undefined;
};

/** The places that count together. */
type Losses = {
  readonly places: Map<string, Loss>;
  /** The number of namespaces, once the running sync has counted them. */
  count: number | undefined;
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

  get size(): number {
    return this.#places.size;
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
    const goesOn = known?.of === of && (known.isNow || known.wasBefore);
    if (known && !goesOn) this.#forget(key, known);
    const loss =
      known && goesOn ? known : this.#begin(key, { namespace, keepMs, since: now, counts }, of);
    loss.counts = counts;
    loss.isNow = true;
    loss.at = now;
    return { since: loss.since, loss };
  }

  /** In how many namespaces places of the same key became unwanted since `from`. Runs after all were noted. */
  lostNamespaces({ loss: { of } }: UnwantedPlace, from: number): number {
    const losses = this.#losses.get(of);
    if (!losses) return 0;
    if (losses.count !== undefined) return losses.count;
    const namespaces = new Set<string>();
    for (const { namespace, since, counts } of losses.places.values())
      if (counts && since >= from) namespaces.add(namespace);
    losses.count = namespaces.size;
    return losses.count;
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
      loss.wasBefore = loss.isNow;
      loss.isNow = false;
      if (loss.wasBefore) continue;
      const before = this.#former.get(loss.namespace) ?? 0;
      if (now - loss.at > loss.keepMs || before > MOST_FORMER_OF_A_NAMESPACE) {
        this.#forget(key, loss);
        this.#former.set(loss.namespace, before - 1);
      } else former.set(loss.namespace, (former.get(loss.namespace) ?? 0) + 1);
    }
    this.#former = former;
    for (const losses of this.#losses.values()) losses.count = undefined;
  }

  #begin(
    key: string,
    of: Pick<Loss, "namespace" | "keepMs" | "since" | "counts">,
    together: string,
  ): Loss {
    const losses = this.#losses.get(together) ?? { places: new Map(), count: undefined };
    this.#losses.set(together, losses);
    const loss: Loss = {
      ...of,
      of: together,
      isNow: true,
      wasBefore: false,
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
    const losses = this.#losses.get(of);
    losses?.places.delete(key);
    if (losses?.places.size === 0) this.#losses.delete(of);
  }
}
