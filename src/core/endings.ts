// Copies that nobody wants any more, gathered over a pass, because whether one of them may go depends
// on how many there are. The rulings come from deletions.ts; what goes is deleted or, with `keep`,
// released.
import type { Deletions, Due, Ruling, Vanished } from "./deletions.ts";
import {
  refText,
  type CopySecret,
  type OnDelete,
  type PullSecret,
  type Ref,
  type Settings,
} from "./model.ts";
import type { Pass } from "./pass.ts";
import type { Tally } from "./tally.ts";
import { endingOf } from "./table.ts";
import type { Action, Confirm, Fill } from "./verdicts.ts";

type Because = {
  readonly tally: Tally;
  readonly order: number;
  readonly cause: "unwanted" | "gone";
  readonly reason: string;
  readonly confirm: Confirm | undefined;
  readonly vanished: Vanished | undefined;
};

type CopyEnding = Because & { readonly copy: CopySecret; readonly onDelete: OnDelete };
type PullEnding = Because & {
  readonly pull: PullSecret;
  readonly source: Ref;
  readonly fill: Fill;
};

const ENDINGS_PER_TURN = 1024;

export class Endings {
  readonly #endings: {
    readonly because: Because;
    readonly verdict: "delete" | "release";
    readonly action: Action;
  }[] = [];
  readonly #pass: Pass;

  constructor(pass: Pass) {
    this.#pass = pass;
  }

  add(ending: CopyEnding): void {
    const { copy, reason, tally } = ending;
    const verdict = endingOf(copy, ending.onDelete);
    const { place, source } = { place: placeOf(copy), source: copy.source };
    if (verdict === "wait") {
      this.#pass.note(tally, { verdict, place, source, reason: `${reason}; it is being deleted` });
      return;
    }
    const inputs = `${verdict} ${copy.sourceUid}`;
    const action = { kind: verdict, place, source, inputs, target: copy, ...why(ending) };
    this.#endings.push({ because: ending, verdict, action });
  }

  addPull(ending: PullEnding): void {
    const { pull, source, fill } = ending;
    const inputs = `unfill ${pull.sourceUid ?? ""}`;
    const kind = "unfill" as const;
    const action = {
      kind,
      place: placeOf(pull),
      source,
      inputs,
      target: pull,
      fill,
      ...why(ending),
    };
    this.#endings.push({ because: ending, verdict: "release", action });
  }

  /** Proposes what may go and notes what is held; to be run once, at the end of the pass. */
  *settle(deletions: Deletions, settings: Settings): Generator<undefined, void> {
    const due = this.#endings.map(({ because, action }): Due => {
      return { place: refText(action.place), vanished: because.vanished };
    });
    const guard = { limit: settings.deleteLimit, holdMs: settings.deleteHoldMs };
    const rulings = deletions.rule(due, guard, this.#pass.now);
    for (const [index, { because, verdict, action }] of this.#endings.entries()) {
      if (index % ENDINGS_PER_TURN === 0) yield;
      const ruling = rulings[index];
      if (ruling?.kind === "held") this.#hold(because, action, ruling, due.length, settings);
      else this.#pass.propose(because.tally, verdict, action, because.order);
    }
  }

  #hold(
    because: Because,
    action: Action,
    ruling: Ruling & { kind: "held" },
    due: number,
    settings: Settings,
  ): void {
    const pulling = action.kind === "unfill";
    const reason = `${because.reason}; held, because ${due} deletions are due and the limit is ${settings.deleteLimit} (--delete-limit)`;
    const { place, source } = action;
    const finding = {
      verdict: "held",
      place,
      source,
      reason,
      dueAt: ruling.until,
      pulling,
    } as const;
    this.#pass.note(because.tally, finding);
    this.#pass.deletesHeld++;
  }
}

type Why = Pick<Action, "cause" | "reason" | "confirm" | "vanished">;

function why({ cause, reason, confirm, vanished }: Because): Why {
  const because: Why = { cause, reason, ...(confirm ? { confirm } : {}) };
  return vanished ? { ...because, vanished: vanished.key } : because;
}

function placeOf({ namespace, name }: Ref): Ref {
  return { namespace, name };
}
