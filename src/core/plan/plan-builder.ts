// What one pass gathers: counts, rows and writes. It also holds back a write that is in flight, in
// back-off, or too close upon the last one at its place, and remembers when each becomes due.
import type { PlannerState } from "../state/planner-state.ts";
import type { PlaceBackoff } from "../state/write-backoff.ts";
import { LIVE_READ_FLIGHTS, type LiveReadReply } from "../state/live-reads.ts";
import { isPending, newTally, type Row, type Tally, type Verdict } from "../model/verdicts.ts";
import { type Ref, refText } from "../annotations/names.ts";
import {
  type Ordered,
  listsBySource,
  alternate,
  takeTurns,
  longestDue,
  youngestFirst,
} from "./action-order.ts";
import { type Action, isEnding, type LiveRead } from "../model/actions.ts";

/** One place's verdict, before it is known whether its write may go now. */
export type Finding = {
  readonly verdict: Verdict;
  readonly place: Ref;
  readonly source: Ref;
  readonly reason: string;
  readonly cause?: string | undefined;
  readonly dueAt?: number;
  readonly triedAt?: number;
  readonly differs?: boolean | undefined;
  readonly pulling?: boolean;
  /** Of a conflict: the source that has the place. */
  readonly winner?: Ref;
};
// From then on a write is no longer overtaken by every younger one: half of those that start are the
// oldest. Two seconds before a write may have waited for too long.
const AGED_MS = 3000;

// A plan holds so many updates, and as many removals; what is beyond is counted, and planned once these are
// made: a thousand sources changed at once in a thousand namespaces would take half a gigabyte.
const MOST_ACTIONS = 50_000;
const FEWEST_OF_A_SOURCE = 16;
/** Rows of what will be so without anybody's doing; beyond, they say nothing new and are counted. */
const MOST_ROWS = 50_000;

export class PlanBuilder {
  readonly memory: PlannerState;
  readonly now: number;
  readonly rows: Row[] = [];
  /** Places whose source is not among the entries. */
  readonly withoutSource: Tally = newTally();
  pairs = 0;
  /** Writes and looks that may go now. */
  proposed = 0;
  /** Steps of 10 ns at most that were taken beside the pairs, since the last yield. */
  steps = 0;
  deletesHeld = 0;
  nextAt: number | undefined;
  /** How many sources want places; they share the room for updates. */
  sources = 1;
  /** Rows of verdicts that pass. */
  #passing = 0;
  #ending = 0;
  #agedEnding = 0;
  readonly #agedWrites = new Map<string, number>();
  readonly #inFlight: ReadonlySet<string>;
  readonly #writes = new Map<string, Ordered[]>();
  /** Where a copy was deleted for its successor. */
  readonly #owed = new Map<string, Ordered[]>();
  readonly #ends = new Map<string, Ordered[]>();

  constructor(memory: PlannerState, now: number, inFlight: ReadonlySet<string>) {
    this.memory = memory;
    this.now = now;
    this.#inFlight = inFlight;
  }

  /** A verdict without a write. */
  report(tally: Tally, finding: Finding): void {
    tally[finding.verdict]++;
    if (finding.verdict === "current" || finding.verdict === "skip") return;
    const { verdict, reason, cause, dueAt, triedAt, differs, pulling = false } = finding;
    const winner = finding.winner && bare(finding.winner);
    const [place, source] = [bare(finding.place), bare(finding.source)];
    if (dueAt !== undefined) this.wake(dueAt);
    if (!pulling && isPending(verdict) && this.#passing++ >= MOST_ROWS) return;
    const since = this.#since(verdict, place, source);
    this.rows.push({
      since,
      triedAt,
      differs,
      verdict,
      place,
      source,
      reason,
      cause,
      dueAt,
      pulling,
      winner,
    });
  }

  // A write that failed is due again in between, and one that is due waits in several ways.
  #since(verdict: Verdict, place: Ref, source: Ref): number {
    const due = isPending(verdict);
    const what = due || verdict === "backoff" ? "due" : verdict;
    const key = `${what} ${refText(place)} ${refText(source)}`;
    const since = this.memory.standing.since(key, this.now);
    return due ? Math.min(since, this.pendingSince(source)) : since;
  }

  /** Since when places of this source have been pending: of a large fan-out each gets its row in its turn. */
  pendingSince(source: Ref): number {
    return this.memory.standing.since(`pending ${refText(source)}`, this.now);
  }

  /** A verdict with its write; `order`: the target's, the youngest namespace first. */
  propose(tally: Tally, verdict: Verdict, action: Action, order: number): void {
    const { place, source, reason } = action;
    const pulling = action.kind === "fill" || action.kind === "unfill";
    const finding = { verdict, place, source, reason, pulling };
    const key = refText(place);
    if (this.#inFlight.has(key)) {
      this.report(tally, finding);
      return;
    }
    const owed = this.memory.backoff.owesAny && this.memory.backoff.isOwed(key);
    const trouble = this.memory.backoff.trouble(key, action.inputs);
    if (trouble && trouble.until > this.now) {
      this.report(tally, { ...finding, ...delayed(trouble, verdict, reason) });
      return;
    }
    const dueAt = this.memory.backoff.nextWriteAt(key, this.now);
    if (dueAt === undefined) {
      if (this.#push(action, order, owed)) this.report(tally, finding);
      else tally[verdict]++;
    } else this.report(tally, { ...finding, dueAt });
  }

  /** Asks to be run again at `at`. */
  wake(at: number): void {
    if (this.nextAt === undefined || at < this.nextAt) this.nextAt = at;
  }

  /** Looks at a place again by a live GET, which is no write. */
  look(action: Action & { kind: "liveGet" }, order: number): void {
    if (!this.#inFlight.has(refText(action.place))) this.#push(action, order);
  }

  /** Whether the API server says what the cache shows of all these; where it is not known it is asked. */
  confirm(questions: readonly LiveRead[], freshMs?: number): LiveReadReply {
    let worst: LiveReadReply = { kind: "confirmed" };
    for (const question of questions) {
      const reply = this.memory.liveReads.reply(question, this.now, freshMs);
      if (reply.kind === "confirmed" || worst.kind === "unreadable") continue;
      if (reply.until !== undefined) this.wake(reply.until);
      worst = reply;
    }
    return worst;
  }

  #asks(): readonly Action[] {
    const free = LIVE_READ_FLIGHTS.filter((flight) => !this.#inFlight.has(flight));
    return this.memory.liveReads.flights(free.length).flatMap((questions, index) => {
      const [flight, first] = [free[index], questions[0]];
      if (flight === undefined || first === undefined) return [];
      const reason = "copies of it, or there, are about to end";
      const [place, source] = [first.ref, first.ref];
      return [
        {
          kind: "confirm",
          place,
          source,
          cause: "unwanted",
          reason,
          inputs: "",
          flight,
          questions,
        },
      ];
    });
  }

  /** Whether there is room for it. */
  #push(action: Action, order: number, owed = false): boolean {
    const ends = isEnding(action);
    const lists = ends ? this.#ends : owed ? this.#owed : this.#writes;
    const key = refText(action.source);
    // Asked for even where there is no room, so that it ages.
    const since = this.memory.due.since(refText(action.place), this.now);
    const list = lists.get(key) ?? [];
    const aged = this.now - since >= AGED_MS;
    if (ends ? !this.#mayEnd(aged) : !this.#mayWrite(action, key, list.length, aged)) return false;
    this.proposed++;
    list.push({ action, order, since });
    lists.set(key, list);
    return true;
  }

  #mayEnd(aged: boolean): boolean {
    if (this.#ending < MOST_ACTIONS) return this.#ending++ < MOST_ACTIONS;
    return aged && this.#agedEnding++ < MOST_ACTIONS;
  }

  // Creates are counted where they are gathered. What has waited for long finds room of its own.
  #mayWrite({ kind }: Action, source: string, writes: number, aged: boolean): boolean {
    if (kind !== "update" && kind !== "replace") return true;
    const share = Math.max(FEWEST_OF_A_SOURCE, Math.floor(MOST_ACTIONS / this.sources));
    if (writes < share) return true;
    const before = this.#agedWrites.get(source) ?? 0;
    if (!aged || before >= share) return false;
    this.#agedWrites.set(source, before + 1);
    return true;
  }

  /**
   * Questions, what is owed, then creates and updates, then deletes; in each the sources take turns, the
   * youngest namespace first. Between them, one to one, what has been due for long, deletes included.
   */
  *actions(): Generator<undefined, readonly Action[]> {
    const owed = listsBySource(this.#owed);
    const writes = listsBySource(this.#writes);
    const ends = listsBySource(this.#ends);
    const first: Ordered[] = [];
    const young: Ordered[] = [];
    yield* takeTurns(owed, youngestFirst, first);
    yield* takeTurns(writes, youngestFirst, young);
    yield* takeTurns(ends, youngestFirst, young);
    const aged = [...writes, ...ends].flatMap((list) => {
      const old = list.filter(({ since }) => this.now - since >= AGED_MS);
      return old.length > 0 ? [old] : [];
    });
    const old: Ordered[] = [];
    yield* takeTurns(aged, longestDue, old);
    const { oldestFirst } = this.memory.due;
    const rest = yield* alternate(young, old, oldestFirst);
    return [...this.#asks(), ...first.map(({ action }) => action), ...rest];
  }
}

// A row is printed: it must not carry the object that was given as its place.
function bare({ namespace, name }: Ref): Ref {
  return { namespace, name };
}

function delayed(trouble: PlaceBackoff, verdict: Verdict, reason: string): Partial<Finding> {
  if (trouble.kind === "stale") return { verdict, reason, dueAt: trouble.until };
  return {
    verdict: "backoff",
    reason: trouble.reason,
    cause: trouble.cause,
    dueAt: trouble.until,
    triedAt: trouble.triedAt,
  };
}
