// Reserved places (state/reservations.ts), as one plan sees them: which source has an empty place, and when
// a reservation ends.
//   its source wants the place            it gets the place before every other source of its rank
//   refused, being deleted, unreadable    nobody of its rank or below gets the place meanwhile
//   absent                                the same, until --source-grace is over and a live read confirms it
//   it does not want the place            others get the place at once. The reservation ends after
//                                         --delete-grace and a live read
//   another object is at the place, or    the reservation ends
//   the namespace is another
import type { KindSync } from "./plan-builder.ts";
import { isNameRead, nameToAdd } from "../annotations/name-scope.ts";
import { because, followedBy, type Reason } from "../model/reasons.ts";
import { isRead, sourceRank } from "../desired/namespace-rules.ts";
import type { Candidate, PlannedSource } from "../desired/sources.ts";
import { frozenIn, placeIn, matchOf, type TargetNamespace } from "../desired/targets.ts";
import { refText, type Ref } from "../../text/names.ts";
import type { HeldReservation } from "../state/reservations.ts";
import type { LiveRead } from "../model/actions.ts";
import { unreadableName } from "../model/verdicts.ts";
import {
  readOfNamespace,
  readOfSource,
  readsOfList,
  shownAt,
  unconfirmed,
} from "./removal-conditions.ts";

/** The source that has an empty place. */
export type PlaceHolder = {
  readonly source: Ref;
  readonly text: string;
  readonly rank: number;
  /** undefined: it gets no copy now. */
  readonly candidate: Candidate | undefined;
};

type Claim =
  | { readonly kind: "wanted"; readonly candidate: Candidate }
  | (Waiting & { readonly kind: "waits" | "absent" })
  | { readonly kind: "unwanted"; readonly reason: Reason; readonly evidence: readonly LiveRead[] };
type Waiting = {
  readonly verdict: "frozen" | "wait";
  readonly reason: Reason;
  readonly entry?: PlannedSource;
  readonly evidence: readonly LiveRead[];
};

const PER_TURN = 64;
/**
 * A delete of a process that ended may be carried out so much later: the longest time-out of a write.
 * Until then the copy may still be deleted.
 */
const LATE_DELETE_MS = 30_000;

export class ReservedPlaces {
  readonly #sync: KindSync;
  readonly #judged = new Set<string>();

  constructor(sync: KindSync) {
    this.#sync = sync;
  }

  get #reservations() {
    return this.#sync.planBuilder.memory.shared.reservations;
  }

  /** A copy may be due there although the namespace accepts nothing new. */
  mayKeepIn({ accept }: TargetNamespace): boolean {
    return accept.kind === "kept" && this.#reservations.any;
  }

  /** A namespace that accepts nothing new gets back the copy that was deleted for its successor. */
  isKeptFor(candidate: Candidate, target: TargetNamespace): boolean {
    if (!this.mayKeepIn(target)) return false;
    const reservation = this.#at(candidate.source.rule.copyName, target);
    return (
      reservation !== undefined &&
      refText(reservation.source) === candidate.text &&
      matchOf(candidate, target) === "kept"
    );
  }

  isReserved(candidate: Candidate, target: TargetNamespace): boolean {
    const reservation = this.#at(candidate.source.rule.copyName, target);
    return reservation !== undefined && refText(reservation.source) === candidate.text;
  }

  /** The holder of a place without an object, or undefined if the place is not reserved. */
  holderAt(copyName: string, target: TargetNamespace): PlaceHolder | undefined {
    const reservation = this.#at(copyName, target);
    if (!reservation) return undefined;
    const claim = this.#claimOf(reservation, target);
    if (claim.kind === "unwanted") return undefined;
    this.#judged.add(refText(reservation.place));
    const { source } = reservation;
    const candidate = claim.kind === "wanted" ? claim.candidate : undefined;
    const rank = candidate?.rank ?? this.#rankOf(source);
    if (claim.kind !== "wanted") this.#report(reservation, claim);
    return { source, text: refText(source), rank, candidate };
  }

  /** Ends reservations that are over. Runs once, after every place is judged. */
  *settle(targets: ReadonlyMap<string, TargetNamespace>): Generator<undefined, void> {
    for (const [index, reservation] of this.#reservations
      .of(this.#sync.planBuilder.kind)
      .entries()) {
      if (index % PER_TURN === PER_TURN - 1) yield;
      const { place } = reservation;
      if (this.#sync.planBuilder.isInFlight(place)) continue;
      this.#settle(reservation, targets.get(place.namespace));
    }
  }

  #at(copyName: string, target: TargetNamespace): HeldReservation | undefined {
    if (!this.#reservations.any) return undefined;
    const reservation = this.#reservations.at(
      this.#sync.planBuilder.kind,
      placeIn(target, copyName),
    );
    return reservation?.namespaceUid === target.namespace.uid ? reservation : undefined;
  }

  #settle(reservation: HeldReservation, target: TargetNamespace | undefined): void {
    const { place, namespaceUid, copyUid, madeAt } = reservation;
    if (!target) {
      if (this.#isKnown(place.namespace)) this.#reservations.end(reservation);
      return;
    }
    const unread = this.#unreadPlace(place, target);
    if (unread !== undefined) {
      this.#reservations.wanted(reservation);
      if (!this.#judged.has(refText(place)))
        this.#report(reservation, { verdict: "frozen", reason: unread, evidence: [] });
      return;
    }
    const present = target.secrets.get(place.name);
    if (target.namespace.uid !== namespaceUid) {
      this.#reservations.end(reservation);
    } else if (present?.role === "copy") {
      const until = madeAt + LATE_DELETE_MS;
      const mayVanish =
        present.uid === copyUid && (present.deleting || until > this.#sync.planBuilder.now);
      if (!mayVanish) this.#reservations.end(reservation);
      else if (!present.deleting) this.#sync.planBuilder.wake(until);
    } else this.#settleEmpty(reservation, target, present === undefined);
  }

  #settleEmpty(reservation: HeldReservation, target: TargetNamespace, empty: boolean): void {
    const claim = this.#claimOf(reservation, target);
    const judged = this.#judged.has(refText(reservation.place));
    if (empty && !judged && (claim.kind === "waits" || claim.kind === "absent"))
      this.#report(reservation, claim);
    if (claim.kind === "wanted" || claim.kind === "waits") {
      this.#reservations.wanted(reservation);
      return;
    }
    const { now } = this.#sync.planBuilder;
    const { deleteGraceMs, sourceGraceMs } = this.#sync.settings;
    const graceMs =
      claim.kind === "absent" ? Math.max(deleteGraceMs, sourceGraceMs) : deleteGraceMs;
    const until = this.#reservations.unwanted(reservation, now) + graceMs;
    if (until > now) this.#sync.planBuilder.wake(until);
    else if (!unconfirmed(this.#sync.planBuilder, claim.reason, claim.evidence)) {
      this.#reservations.end(reservation);
      // Others may have waited for it.
      this.#sync.planBuilder.wake(now);
    }
  }

  /** Whether the cache would show the namespace and its objects. */
  #isKnown(namespace: string): boolean {
    return (
      isRead(this.#sync.settings, namespace) &&
      this.#sync.clusterState.isUnreadable?.(namespace) !== true
    );
  }

  /** Why the cache does not show what is at the place, or undefined: it does. */
  #unreadPlace({ name }: Ref, target: TargetNamespace): Reason | undefined {
    const { onlyNames } = this.#sync.settings;
    if (onlyNames && !isNameRead(onlyNames, name))
      return because("NameNotRead", { name, advice: nameToAdd(onlyNames, name) });
    return target.unreadable.has(name) ? unreadableName(name) : undefined;
  }

  #report({ place, source }: HeldReservation, { verdict, reason, entry }: Waiting): void {
    const why = followedBy(reason, because("ReservedForSuccessor"));
    const tally = entry?.tally ?? this.#sync.planBuilder.withoutSource;
    this.#sync.planBuilder.report(tally, { verdict, place, source, reason: why });
  }

  #rankOf(source: Ref): number {
    if (this.#sync.sources.entryOf(source)) return -1;
    const status = this.#sync.sources.statusAnywhere(source);
    if (status.kind === "entry") return status.entry.rank;
    const rank = sourceRank(this.#sync.settings, source.namespace);
    return rank < 0 ? Number.POSITIVE_INFINITY : rank;
  }

  #claimOf({ place, source }: HeldReservation, target: TargetNamespace): Claim {
    const status = this.#sync.sources.statusAnywhere(source);
    const text = refText(source);
    const reads = (): readonly LiveRead[] => [
      readOfSource(this.#sync.planBuilder.kind, source, shownAt(status)),
      readOfNamespace(target),
      ...readsOfList(this.#sync.sources.list, this.#sync.sources.entryOf(source)),
    ];
    const unwanted = (reason: Reason): Claim => ({ kind: "unwanted", reason, evidence: reads() });
    const waits = (verdict: "frozen" | "wait", reason: Reason, entry?: PlannedSource): Claim => {
      return { kind: "waits", verdict, reason, evidence: [], ...(entry && { entry }) };
    };
    switch (status.kind) {
      case "frozen":
      case "wait":
        return waits(status.kind, status.reason);
      case "notASource":
        return unwanted(because("NotASource", { source: text }));
      case "absent":
        return {
          kind: "absent",
          verdict: "wait",
          reason: because("SourceAbsent", { source: text }),
          evidence: reads(),
        };
      case "entry":
        break;
    }
    const { entry, candidate } = status;
    const frozen = entry.frozen ?? frozenIn(target);
    if (frozen !== undefined) return waits("frozen", frozen, entry);
    if (!candidate || candidate.source.rule.copyName !== place.name)
      return unwanted(because("NoLongerWanted", { source: text }));
    const match = matchOf(candidate, target);
    if (match === "wanted" || match === "kept") return { kind: "wanted", candidate };
    return unwanted(
      because(match === "declined" ? "NotAccepted" : "NoLongerWanted", { source: text }),
    );
  }
}
