// What one pass gathers: counts, rows and writes. It also holds back a write that is in flight, in
// back-off, or too close upon the last one at its place, and remembers when each becomes due.
import type { Memory } from "./memory.ts";
import { refText, type Ref } from "./model.ts";
import type { Trouble } from "./pairs.ts";
import { newTally, type Tally } from "./tally.ts";
import type { Action, Row, Verdict } from "./verdicts.ts";

/** One place's verdict, before it is known whether its write may go now. */
export type Finding = {
  readonly verdict: Verdict;
  readonly place: Ref;
  readonly source: Ref;
  readonly reason: string;
  readonly dueAt?: number;
  readonly pulling?: boolean;
};

type Ordered = { readonly action: Action; readonly order: number };

export class Pass {
  readonly memory: Memory;
  readonly now: number;
  readonly rows: Row[] = [];
  /** Places whose source is not among the entries. */
  readonly orphans: Tally = newTally();
  pairs = 0;
  deletesHeld = 0;
  nextAt: number | undefined;
  readonly #inFlight: ReadonlySet<string>;
  readonly #writes = new Map<string, Ordered[]>();
  readonly #ends = new Map<string, Ordered[]>();

  constructor(memory: Memory, now: number, inFlight: ReadonlySet<string>) {
    this.memory = memory;
    this.now = now;
    this.#inFlight = inFlight;
  }

  /** A verdict without a write. */
  note(tally: Tally, finding: Finding): void {
    tally[finding.verdict]++;
    if (finding.verdict === "current" || finding.verdict === "skip") return;
    const { verdict, reason, dueAt, pulling = false } = finding;
    const [place, source] = [bare(finding.place), bare(finding.source)];
    if (dueAt !== undefined) this.wake(dueAt);
    this.rows.push({ verdict, place, source, reason, dueAt, pulling });
  }

  /** A verdict with its write; `order`: the target's, the youngest namespace first. */
  propose(tally: Tally, verdict: Verdict, action: Action, order: number): void {
    const { place, source, reason } = action;
    const pulling = action.kind === "fill" || action.kind === "unfill";
    const finding = { verdict, place, source, reason, pulling };
    const key = refText(place);
    if (this.#inFlight.has(key)) {
      this.note(tally, finding);
      return;
    }
    const trouble = this.memory.pairs.trouble(key, action.inputs);
    if (trouble && trouble.until > this.now) {
      this.note(tally, { ...finding, ...delayed(trouble, verdict, reason) });
      return;
    }
    const dueAt = this.memory.pairs.nextWriteAt(key, this.now);
    if (dueAt === undefined) {
      this.note(tally, finding);
      this.#push(action, order);
    } else this.note(tally, { ...finding, dueAt });
  }

  /** Asks to be run again at `at`. */
  wake(at: number): void {
    if (this.nextAt === undefined || at < this.nextAt) this.nextAt = at;
  }

  /** Looks at a place again by a live GET, which is no write. */
  look(action: Action & { kind: "look" }, order: number): void {
    if (!this.#inFlight.has(refText(action.place))) this.#push(action, order);
  }

  #push(action: Action, order: number): void {
    const ends = action.kind === "delete" || action.kind === "release" || action.kind === "unfill";
    const lists = ends ? this.#ends : this.#writes;
    const key = refText(action.source);
    const list = lists.get(key);
    if (list) list.push({ action, order });
    else lists.set(key, [{ action, order }]);
  }

  /** Creates and updates before deletes; in both the sources take turns, youngest namespace first. */
  *actions(): Generator<undefined, readonly Action[]> {
    const actions: Action[] = [];
    yield* takeTurns(this.#writes, actions);
    yield* takeTurns(this.#ends, actions);
    return actions;
  }
}

// A row is printed: it must not carry the object that was given as its place.
function bare({ namespace, name }: Ref): Ref {
  return { namespace, name };
}

function delayed(trouble: Trouble, verdict: Verdict, reason: string): Partial<Finding> {
  if (trouble.kind === "stale") return { verdict, reason, dueAt: trouble.until };
  return { verdict: "backoff", reason: trouble.reason, dueAt: trouble.until };
}

const ACTIONS_PER_TURN = 8192;

function* takeTurns(
  lists: ReadonlyMap<string, Ordered[]>,
  into: Action[],
): Generator<undefined, void> {
  let waiting: (readonly Ordered[])[] = [];
  for (const key of [...lists.keys()].toSorted()) {
    waiting.push((lists.get(key) ?? []).toSorted(youngestFirst));
    yield;
  }
  for (let round = 0; waiting.length > 0; round++) {
    for (const list of waiting) {
      const turn = list[round];
      if (turn && into.push(turn.action) % ACTIONS_PER_TURN === 0) yield;
    }
    waiting = waiting.filter((list) => list.length > round + 1);
  }
}

function youngestFirst(a: Ordered, b: Ordered): number {
  if (a.order !== b.order) return a.order - b.order;
  return a.action.place.name < b.action.place.name ? -1 : 1;
}
