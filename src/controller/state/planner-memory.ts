// All that is remembered between two syncs: of each kind by itself, and of all together. A new process begins without
// it. A test compares the table with the fields. Before a field is added, look for a rule that makes it unnecessary.
//
//   memory               why no object says it
//   liveReads            what a live read showed: the cache may be older
//   reservations         for whom a copy was deleted that is being made again: nothing is there to say it
//   dueSince             since when a write has been due: it orders writes, and no object has the time
//   beganAt              when the first sync began: what it found may have been so before
//   places               which writes failed or were undone, and until when they wait
//   unwantedPlaces       since when a place is unwanted, and which time was reported: no object has either
//   reportedSince        since when a row has been so: no object has the time
//   pullResults          what a look at a pulling object showed: the cache has digests of it, not its content
//   lastFills            what was filled last: its owner may have removed the record
//   currentFingerprints  what all copies of a source once were: only so is an edit known from a rotation
//   fights               repairs that were undone too often, until they are reported
//   FormerRules          the rule of a source before an edit or its deletion, for the way out
//
//   cache                made anew, it is the same
//   flags                the entries of flags, and a namespace that each matched
//   consents             whether a rule names a namespace, for two objects that do not change
//   pullableDigests      what a version of a source offers to the keys of a pulling object
import { OBJECT_KINDS, type ObjectKind } from "../model/kinds.ts";
import { type Fight, PlannerState, SharedState } from "./planner-state.ts";

export class PlannerMemory {
  readonly shared = new SharedState();
  readonly #states = new Map(
    OBJECT_KINDS.map((kind) => [kind, new PlannerState(this.shared)] as const),
  );

  of(kind: ObjectKind): PlannerState {
    const state = this.#states.get(kind);
    if (!state)
      throw new Error(`Cannot remember anything of ${kind}: it is not in the table of kinds`);
    return state;
  }

  /** The API server answers again after an outage: what failed for want of it is due now. */
  serverIsBack(): void {
    this.shared.liveReads.serverIsBack();
    for (const state of this.#states.values()) state.places.serverIsBack();
  }

  /** A failed write may recover by itself. */
  get mayRecover(): boolean {
    return [...this.#states.values()].some(({ places }) => places.mayRecover);
  }

  /** A Namespace was changed: failed writes in it are tried sooner. */
  namespaceChanged(name: string): void {
    for (const state of this.#states.values()) state.places.namespaceChanged(name);
  }

  /** Fights since the last call. */
  takeFights(): readonly Fight[] {
    return [...this.#states.values()].flatMap((state) => state.takeFights());
  }
}
