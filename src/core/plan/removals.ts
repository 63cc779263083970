// Copies that nobody wants any more, gathered over a pass, because whether one of them may go depends
// on how many there are. Each waits for its grace and for the API server's word
// (removal-conditions.ts), then for what delete-guard.ts decides; what goes is deleted or, with `keep`,
// released.
import {
  removalHold,
  unconfirmed,
  type RemovalReason,
  type RemovalHold,
} from "./removal-conditions.ts";
import type { DeleteGuard, DueRemoval, GuardDecision } from "../state/delete-guard.ts";
import { type CopyObject, type PullingObject, type PlannerSettings } from "../model/cluster.ts";
import { awaited } from "../model/finalizers.ts";
import type { PlanBuilder } from "./plan-builder.ts";
import { unwantedVerdict } from "./verdict-table.ts";
import type { Tally } from "../model/verdicts.ts";
import type { OnDelete } from "../annotations/rules.ts";
import type { Ref } from "../annotations/names.ts";
import type { Action, EndAction } from "../model/actions.ts";
import { heldReason } from "../model/removal-holds.ts";
import { placeKey } from "../model/kinds.ts";

type Because = {
  readonly tally: Tally;
  readonly order: number;
  readonly lapse: RemovalReason;
};

type CopyEnding = Because & { readonly copy: CopyObject; readonly onDelete: OnDelete };
type PullEnding = Because & {
  readonly pull: PullingObject;
  readonly source: Ref;
};
type Ending = {
  readonly because: Because;
  readonly verdict: "delete" | "release";
  readonly action: EndAction;
};

const ENDINGS_PER_TURN = 1024;
/** An answer from before a hold is asked for once more. */
const FRESH_MS = 60_000;

export class Removals {
  readonly #due: Ending[] = [];
  readonly #pass: PlanBuilder;
  readonly #settings: PlannerSettings;

  constructor(pass: PlanBuilder, settings: PlannerSettings) {
    this.#pass = pass;
    this.#settings = settings;
  }

  add(ending: CopyEnding): void {
    const { copy, lapse, tally } = ending;
    const verdict = unwantedVerdict(copy.deleting ? "deleting" : "equal", ending.onDelete);
    const place = placeOf(copy);
    const { source } = copy;
    if (verdict === "wait") {
      const reason = `${lapse.reason}; ${awaited(copy)}`;
      this.#pass.report(tally, { verdict, place, source, reason });
      return;
    }
    const inputs = `${verdict} ${copy.sourceUid}`;
    const objectKind = this.#pass.kind;
    const write = { objectKind, place, source, inputs, ...why(lapse) };
    const action = { kind: verdict, target: copy, ...write } as const;
    this.#add({ because: ending, verdict, action });
  }

  addPull(ending: PullEnding): void {
    const { pull, source, lapse } = ending;
    const inputs = `unfill ${pull.sourceUid ?? ""}`;
    const place = placeOf(pull);
    const action = {
      kind: "unfill",
      objectKind: this.#pass.kind,
      place,
      source,
      inputs,
      target: pull,
      ...why(lapse),
    } as const;
    this.#add({ because: ending, verdict: "release", action });
  }

  #add(ending: Ending): void {
    const { because, action } = ending;
    const hold = removalHold(this.#pass, this.#settings, action.place, because.lapse);
    if (hold) this.#wait(ending, hold);
    else this.#due.push(ending);
  }

  #wait({ because, verdict, action }: Ending, hold: RemovalHold): void {
    const { place, source } = action;
    const pulling = action.kind === "unfill";
    this.#pass.report(because.tally, { verdict, place, source, pulling, ...hold });
  }

  get due(): readonly DueRemoval[] {
    return this.#due.map(({ because, action }) => {
      const place = placeKey(action.objectKind, action.place);
      return { place, vanished: because.lapse.vanished };
    });
  }

  /** Proposes what may go and notes what is held; a decision for each that is due, of `total` of all kinds. */
  *settle(decisions: readonly GuardDecision[], total: number): Generator<undefined, void> {
    for (const [index, ending] of this.#due.entries()) {
      if (index % ENDINGS_PER_TURN === 0) yield;
      const decision = decisions[index];
      if (decision?.kind === "held") this.#hold(ending, decision, total);
      else this.#go(ending);
    }
  }

  #go(ending: Ending): void {
    const { because, verdict, action } = ending;
    const { reason, follows } = because.lapse;
    const hold = unconfirmed(this.#pass, reason, follows, FRESH_MS);
    if (hold) this.#wait(ending, hold);
    else this.#pass.propose(because.tally, verdict, action, because.order);
  }

  #hold(
    { because, verdict: removal, action }: Ending,
    decision: GuardDecision & { kind: "held" },
    due: number,
  ): void {
    const pulling = action.kind === "unfill";
    const hold = "limit";
    const numbers = `${due} deletions are due and the limit is ${this.#settings.deleteLimit} (--delete-limit)`;
    const reason = heldReason(because.lapse.reason, hold, numbers);
    const { place, source } = action;
    const finding = {
      verdict: "held",
      place,
      source,
      reason,
      dueAt: decision.until,
      pulling,
      hold,
      removal,
      entry: action.target.entry,
      lost: because.lapse.cause === "gone",
    } as const;
    this.#pass.report(because.tally, finding);
    this.#pass.deletesHeld++;
  }
}

/** The endings of all kinds count together; to be run once, at the end of a plan. */
export function* settleRemovals(
  ofKinds: readonly Removals[],
  deletions: DeleteGuard,
  { deleteLimit: limit, deleteHoldMs: holdMs }: PlannerSettings,
  now: number,
): Generator<undefined, void> {
  const lists = ofKinds.map(({ due }) => due);
  const all = lists.flat();
  const decisions = deletions.check(all, { limit, holdMs }, now);
  let from = 0;
  for (const [index, removals] of ofKinds.entries()) {
    const count = lists[index]?.length ?? 0;
    yield* removals.settle(decisions.slice(from, from + count), all.length);
    from += count;
  }
}

type Why = Pick<Action, "cause" | "reason" | "vanished">;

function why({ cause, reason, vanished }: RemovalReason): Why {
  return { cause, reason, ...(vanished ? { vanished } : {}) };
}

function placeOf({ namespace, name }: Ref): Ref {
  return { namespace, name };
}
