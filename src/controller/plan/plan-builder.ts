// What one sync gathers of one kind: counts, rows and writes. It also holds back a write that is in flight, in
// back-off, or too close upon the last one at its place, and remembers when each becomes due.
import type { Reason } from "../model/reasons.ts";
import type { PlannerState } from "../state/planner-state.ts";
import type { PlaceBackoff } from "../state/backoff.ts";
import type { ResultAge, LiveReadResult } from "../state/live-reads.ts";
import { isPending, newTally, type Row, type Tally, type Verdict } from "../model/verdicts.ts";
import { type Ref, refText } from "../../text/names.ts";
import type { Action, LiveRead } from "../model/actions.ts";
import type { ClusterState, PlannerSettings } from "../model/cluster.ts";
import type { ObjectKind } from "../model/kinds.ts";
import type { Sources } from "../desired/sources.ts";
import { STEPS_PER_TURN } from "../desired/wants.ts";
import type { Proposals } from "./proposals.ts";

/** The verdict for one place, before it is known whether its write may start now. */
export type Finding = Pick<Row, "verdict" | "place" | "source" | "reason"> &
  Partial<Omit<Row, "since" | "kind">>;

/** One sync of one kind. */
export type KindSync = {
  readonly planBuilder: PlanBuilder;
  readonly settings: PlannerSettings;
  readonly sources: Sources;
  readonly clusterState: ClusterState;
};

/** About this many pairs are judged between two yields: half a millisecond. */
const PAIRS_PER_TURN = 4096;
/** A verdict with a row, or with a write. */
const STEPS_A_ROW = 256;

export class PlanBuilder {
  readonly kind: ObjectKind;
  readonly memory: PlannerState;
  readonly now: number;
  readonly rows: Row[] = [];
  /** Places whose source is not among the entries. */
  readonly withoutSource: Tally = newTally();
  pairs = 0;
  /** Places with the copy of another installation's source, or that pull from one. */
  others = 0;
  /** Steps of 10 ns at most that were taken beside the pairs, since the last yield. */
  steps = 0;
  /** Removals that wait for --delete-hold, by how the namespace of their source publishes. */
  readonly heldRemovals = { named: 0, any: 0 };
  nextAt: number | undefined;
  /** Those of all kinds. */
  readonly proposals: Proposals;
  readonly #inFlight: ReadonlySet<string>;
  /** Pairs at the last yield. */
  #turnPairs = 0;

  /** `inFlight`: places of this kind ("NAMESPACE/NAME") whose write is under way. */
  constructor(
    kind: ObjectKind,
    memory: PlannerState,
    now: number,
    proposals: Proposals,
    inFlight: ReadonlySet<string>,
  ) {
    this.kind = kind;
    this.memory = memory;
    this.now = now;
    this.proposals = proposals;
    this.#inFlight = inFlight;
  }

  isInFlight(place: Ref): boolean {
    return this.#inFlight.has(refText(place));
  }

  /** Nothing more comes: what is remembered is kept for what was asked for. */
  end(): void {
    this.memory.endSync(this.#inFlight);
  }

  /** Whether so much was done since the last yield that the event loop should have its turn now. */
  turnIsOver(): boolean {
    if (this.pairs - this.#turnPairs < PAIRS_PER_TURN && this.steps < STEPS_PER_TURN) return false;
    this.#turnPairs = this.pairs;
    this.steps = 0;
    return true;
  }

  /** A verdict without a write. `without`: at a place without a copy of this source. */
  report(tally: Tally, finding: Finding, without = finding.winner !== undefined): void {
    tally[finding.verdict]++;
    if (finding.verdict === "current" || finding.verdict === "skip") return;
    this.steps += STEPS_A_ROW;
    const { verdict, reason, dueAt, differs, pulling = false } = finding;
    const { forOwner, failure, removal } = finding;
    const winner = finding.winner && bare(finding.winner);
    const [place, source] = [bare(finding.place), bare(finding.source)];
    if (dueAt !== undefined) this.wake(dueAt);
    if (!pulling && isPending(verdict) && !this.proposals.takesRow()) return;
    if (without && !this.proposals.takesRowOf(refText(source))) return;
    const since = this.#since(verdict, place, source);
    this.rows.push({
      since,
      differs,
      verdict,
      kind: this.kind,
      place,
      source,
      reason,
      dueAt,
      pulling,
      winner,
      ...(forOwner && { forOwner }),
      ...(failure && { failure }),
      ...(removal && { removal }),
    });
  }

  // A write that failed is due again in between, and one that is due waits in several ways.
  #since(verdict: Verdict, place: Ref, source: Ref): number {
    const due = isPending(verdict);
    const what = due || verdict === "backoff" ? "due" : verdict;
    const key = `${what} ${refText(place)} ${refText(source)}`;
    const since = this.memory.reportedSince.since(key, this.now);
    return due ? Math.min(since, this.pendingSince(source)) : since;
  }

  /** Since when places of this source have been pending: of a large fan-out each gets its row in its turn. */
  pendingSince(source: Ref): number {
    return this.memory.reportedSince.since(`pending ${refText(source)}`, this.now);
  }

  /** A verdict with its write. `order`: the target's, the youngest namespace first. */
  propose(tally: Tally, verdict: Verdict, action: Action, order: number): void {
    const { place, source, reason } = action;
    const pulling = action.kind === "fill" || action.kind === "clear";
    const finding = { verdict, place, source, reason, pulling };
    const key = refText(place);
    if (this.#inFlight.has(key)) {
      this.report(tally, finding);
      return;
    }
    const placeBackoff = this.memory.places.placeBackoff(key, action.decisionKey);
    // Nobody's value is in dispute at an absent place: it is filled at once, however often its copy was
    // changed or deleted. The distance between two writes still bounds it.
    const fills = placeBackoff?.kind === "fight" && action.kind === "create";
    if (placeBackoff && !fills && placeBackoff.until > this.now) {
      this.report(tally, { ...finding, ...delayed(placeBackoff, verdict, reason) });
      return;
    }
    const dueAt = this.memory.places.nextWriteAt(key, this.now);
    if (dueAt === undefined) {
      if (this.proposals.push(action, order)) this.report(tally, finding);
      else tally[verdict]++;
    } else this.report(tally, { ...finding, dueAt });
  }

  /** Asks to be run again at `at`. */
  wake(at: number): void {
    if (this.nextAt === undefined || at < this.nextAt) this.nextAt = at;
  }

  /** Looks at a place again by a live GET, which is no write. */
  look(action: Action & { kind: "liveGet" }, order: number): void {
    if (!this.#inFlight.has(refText(action.place))) this.proposals.push(action, order);
  }

  /**
   * Whether live reads of at most this age confirm what the cache shows of all these. It asks for the others.
   * `asker`: the namespace of the place that depends on them.
   */
  confirm(liveReads: readonly LiveRead[], asker: string, age?: ResultAge): LiveReadResult {
    let worst: LiveReadResult = { kind: "confirmed" };
    for (const liveRead of liveReads) {
      const result = this.memory.shared.liveReads.resultOf(liveRead, this.now, asker, age);
      if (result.kind === "confirmed" || worst.kind === "unreadable") continue;
      if (result.until !== undefined) this.wake(result.until);
      worst = result;
    }
    return worst;
  }
}

// A row is printed: it must not carry the object that was given as its place.
function bare({ namespace, name }: Ref): Ref {
  return { namespace, name };
}

function delayed(placeBackoff: PlaceBackoff, verdict: Verdict, reason: Reason): Partial<Finding> {
  if (placeBackoff.kind === "stale") return { verdict, reason, dueAt: placeBackoff.until };
  return {
    verdict: "backoff",
    reason: placeBackoff.reason,
    dueAt: placeBackoff.until,
    failure: { cause: placeBackoff.cause, triedAt: placeBackoff.triedAt },
  };
}
