// Unwanted copies, gathered over a sync, because how many there are decides whether one of them is held. Each
// waits for its grace and for a live read (removal-conditions.ts), and then for what delete-guard.ts
// decides. A copy is then deleted or, with `keep`, released.
import { because, followedBy, type Reason } from "../model/reasons.ts";
import {
  accountOf,
  ownHold,
  removalHold,
  unconfirmed,
  type RemovalReason,
  type RemovalHold,
} from "./removal-conditions.ts";
import type { ResultAge } from "../state/live-reads.ts";
import { EVERYWHERE } from "../state/recent-removals.ts";
import { EditedSources } from "./edited-sources.ts";
import type {
  DeleteGuard,
  DueRemoval,
  GuardDecision,
  LimitNumbers,
} from "../state/delete-guard.ts";
import {
  recordOn,
  type CopyObject,
  type PullingObject,
  type PlannerSettings,
} from "../model/cluster.ts";
import type { UnwantedPlace } from "../state/planner-state.ts";
import { awaited } from "../model/finalizers.ts";
import type { Finding, KindSync } from "./plan-builder.ts";
import { unwantedVerdict } from "./verdict-table.ts";
import type { RemovalHoldCause, Tally } from "../model/verdicts.ts";
import type { OnDelete } from "../annotations/rules.ts";
import { type Ref, refText } from "../../text/names.ts";
import type { CountedAs, CountedRemoval, EndAction } from "../model/actions.ts";
import { heldBy } from "../model/removal-holds.ts";
import { type ObjectKind, placeKey } from "../model/kinds.ts";

type Because = {
  readonly tally: Tally;
  readonly order: number;
  readonly removalReason: RemovalReason;
};

type CopyEnding = Because & { readonly copy: CopyObject; readonly onDelete: OnDelete };
type PullEnding = Because & { readonly pull: PullingObject; readonly source: Ref };
type Ending = {
  readonly because: Because;
  readonly verdict: "delete" | "release";
  readonly action: EndAction & { readonly removal: CountedRemoval };
};

const ENDINGS_PER_TURN = 1024;
/** An answer from before a hold is asked for once more. */
const FRESH: ResultAge = { same: 60_000, newer: 60_000 };

export class Removals {
  readonly #due: Ending[] = [];
  readonly #edited = new EditedSources();
  readonly #sync: KindSync;

  constructor(sync: KindSync) {
    this.#sync = sync;
  }

  add(ending: CopyEnding): void {
    const { copy, removalReason, tally } = ending;
    const { source, sourceUid } = copy.template;
    const verdict = unwantedVerdict(copy.deleting ? "deleting" : "equal", ending.onDelete);
    const place = placeOf(copy);
    if (verdict === "wait") {
      const reason = followedBy(removalReason.reason, awaited(copy));
      this.#sync.planBuilder.report(tally, { verdict, place, source, reason });
      return;
    }
    const { since, wasWanted } = this.#unwanted(place, source);
    const isCounted = wasWanted && removalReason.declined !== true;
    const write = {
      ...this.#write(place, source, removalReason, isCounted),
      decisionKey: `${verdict} ${sourceUid}`,
    };
    this.#countEdit(write, removalReason, since, wasWanted);
    this.#add(
      { because: ending, verdict, action: { kind: verdict, target: copy, ...write } },
      since,
    );
  }

  addPull(ending: PullEnding): void {
    const { pull, source, removalReason } = ending;
    const place = placeOf(pull);
    const write = this.#write(place, source, removalReason, false);
    const removal = { ...write.removal, byEdit: false };
    const decisionKey = `clear ${pull.sourceUid ?? ""}`;
    const action = { kind: "clear", target: pull, ...write, decisionKey, removal } as const;
    const { since } = this.#unwanted(place, source);
    this.#add({ because: ending, verdict: "release", action }, since);
  }

  /** `isCounted`: the users of the copy's namespace do not control it. */
  #write(place: Ref, source: Ref, removalReason: RemovalReason, isCounted: boolean) {
    const { kind: objectKind } = this.#sync.planBuilder;
    const { cause, reason, vanished } = removalReason;
    const account = accountOf(this.#sync, source);
    const byWhom = account === EVERYWHERE ? "everywhere" : "publisher";
    const countedAs: CountedAs = isCounted ? byWhom : "namespace";
    const namespace = countedAs === "publisher" ? account : place.namespace;
    const key = sourceKey(objectKind, refText(source));
    const byEdit = isByEdit(removalReason);
    const removal = { source: key, countedAs, namespace, byEdit, vanished };
    return { objectKind, place, source, cause, reason, removal };
  }

  /** Its namespace keeps a copy of `source`, although it accepts nothing new. */
  kept(source: string): void {
    this.#edited.kept(source);
  }

  /** Whether an edit left the source without any copy. `wasEmptied`: the sync before found it so. */
  isEmptied(source: string, wasEmptied: boolean): boolean {
    return this.#edited.isEmptied(this.#sync.planBuilder.memory.wants, source, wasEmptied);
  }

  #unwanted(place: Ref, source: Ref): UnwantedPlace {
    const { memory, now } = this.#sync.planBuilder;
    return memory.unwantedPlaces.of(refText(place), () => {
      return { since: now, wasWanted: memory.wants.wasWanted(refText(source), place) };
    });
  }

  #countEdit(
    { source, place, removal }: Pick<Ending["action"], "source" | "place" | "removal">,
    { covered }: RemovalReason,
    since: number,
    wasWanted: boolean,
  ): void {
    const text = refText(source);
    const found = since === this.#sync.planBuilder.memory.shared.beganAt;
    if (covered) this.#edited.declined(text);
    else if (removal.byEdit) this.#edited.removed(text, place.namespace, wasWanted, found);
  }

  #add(ending: Ending, unwantedSince: number): void {
    const { removalReason } = ending.because;
    const hold = removalHold(this.#sync, unwantedSince, removalReason);
    if (hold) this.#wait(ending, hold);
    else this.#due.push(ending);
  }

  // A removal that is certain to be held afterwards says so already, and when it is made.
  #wait(ending: Ending, waiting: RemovalHold): void {
    const { verdict } = ending;
    const { deleteHoldMs } = this.#sync.settings;
    const hold = deleteHoldMs > 0 ? ownHold(ending.because.removalReason) : undefined;
    if (hold === undefined || waiting.verdict !== undefined || waiting.dueAt === undefined) {
      this.#report(ending, { verdict, ...waiting });
      return;
    }
    this.#sync.planBuilder.wake(waiting.dueAt);
    const dueAt = waiting.dueAt + deleteHoldMs;
    this.#report(ending, { verdict, reason: waiting.reason, dueAt }, hold);
  }

  #report(
    { because, verdict: removal, action }: Ending,
    finding: Pick<Finding, "verdict" | "reason" | "dueAt">,
    hold?: RemovalHoldCause,
  ): void {
    const { place, source, target } = action;
    const { cause, succeeded } = because.removalReason;
    const lost = cause === "gone" && succeeded !== true;
    const held = hold && { hold, removal, entry: recordOn(target).entry, lost };
    const pulling = action.kind === "clear";
    this.#sync.planBuilder.report(because.tally, { place, source, pulling, ...finding, ...held });
  }

  /** All that is due, each with the condition of its own that holds it. */
  due(): readonly DueRemoval[] {
    const { kind, memory } = this.#sync.planBuilder;
    memory.editedFrom = this.#edited.settle(
      memory.wants,
      memory.shared.deleteGuard.recent,
      memory.editedFrom,
      (source) => sourceKey(kind, source),
    );
    return this.#due.map(({ because: { removalReason }, action }) => {
      const { place, source, removal } = action;
      const edited = removal.byEdit ? this.#edited.holdOf(refText(source)) : undefined;
      return {
        ...removal,
        place: placeKey(action.objectKind, place),
        hold: ownHold(removalReason) ?? edited,
      };
    });
  }

  /** Proposes what is removed now and reports what is held. `decisions`: one for each removal that is due. */
  *settle(decisions: readonly GuardDecision[]): Generator<undefined, void> {
    for (const [index, ending] of this.#due.entries()) {
      if (index % ENDINGS_PER_TURN === 0) yield;
      const decision = decisions[index];
      if (decision?.kind === "held") this.#hold(ending, decision);
      else this.#go(ending);
    }
  }

  #go(ending: Ending): void {
    const { because, verdict, action } = ending;
    const { reason, evidence } = because.removalReason;
    const hold = unconfirmed(this.#sync.planBuilder, reason, evidence, FRESH);
    if (hold) this.#wait(ending, hold);
    else this.#sync.planBuilder.propose(because.tally, verdict, action, because.order);
  }

  #hold(ending: Ending, { hold, until: dueAt, numbers }: GuardDecision & { kind: "held" }): void {
    const why = numbers ? this.#arithmetic(numbers) : heldBy(hold);
    const reason = followedBy(ending.because.removalReason.reason, why);
    this.#report(ending, { verdict: "held", reason, dueAt }, hold);
    this.#sync.planBuilder.deletesHeld++;
  }

  #arithmetic({ due, made, limit, copies }: LimitNumbers): Reason {
    const window = spanText(this.#sync.settings.deleteHoldMs);
    const count = made > 0 ? `${due} due, and ${made} made within ${window}` : `${due} due`;
    return limit === "share"
      ? because("HeldByShare", { count, copies })
      : because("HeldByLimit", { count, limit });
  }
}

/**
 * The removals of all kinds count together. Runs once, at the end of a plan. `copies`: those that are
 * kept, of all kinds.
 */
export function* settleRemovals(
  ofKinds: readonly Removals[],
  deletions: DeleteGuard,
  { deleteLimit: limit, deleteHoldMs: holdMs }: PlannerSettings,
  copies: number,
  now: number,
): Generator<undefined, void> {
  const lists = ofKinds.map((removals) => removals.due());
  const decisions = deletions.check(lists.flat(), { limit, holdMs, copies }, now);
  let from = 0;
  for (const [index, removals] of ofKinds.entries()) {
    const count = lists[index]?.length ?? 0;
    yield* removals.settle(decisions.slice(from, from + count));
    from += count;
  }
}

/** The source exists, and does not want the place. */
function isByEdit({ cause, declined, succeeded }: RemovalReason): boolean {
  return declined !== true && (cause === "unwanted" || succeeded === true);
}

function sourceKey(kind: ObjectKind, source: string): string {
  return `${kind} ${source}`;
}

const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;

function spanText(ms: number): string {
  return ms % MINUTE_MS === 0 ? `${ms / MINUTE_MS}m` : `${ms / SECOND_MS}s`;
}

function placeOf({ namespace, name }: Ref): Ref {
  return { namespace, name };
}
