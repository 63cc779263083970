// What one plan proposes to write or to ask, of all kinds together: how much it holds, so that its memory
// is bounded however much is due, and in which order.
import { roundRobin } from "../flowcontrol/round-robin.ts";
import { because } from "../model/reasons.ts";
import { LIVE_READ_BATCHES } from "../state/live-reads.ts";
import type { SharedState } from "../state/planner-state.ts";
import { placeKey } from "../model/kinds.ts";
import { type Action, isEnding } from "../model/actions.ts";

// From this age on, younger writes do not all overtake a write: half of the writes that start are
// the oldest. Creates and updates reach it two seconds before they count as late.
const WRITE_AGED_MS = 3000;
/** Contract: a delete waits for creates and updates until it has been due for so long. */
const DELETE_AGED_MS = 5000;

// The most updates in one plan, and the most removals. The rest is counted, and planned once these are
// made: a thousand sources changed at once in a thousand namespaces would take half a gigabyte.
const MOST_ACTIONS = 50_000;
const FEWEST_OF_A_SOURCE = 16;
/** The most rows of verdicts that pass without any action. Further rows say nothing new and are counted. */
const MOST_ROWS = 50_000;

export class Proposals {
  readonly #shared: SharedState;
  readonly #now: number;
  readonly #inFlight: ReadonlySet<string>;
  /** Writes and live reads that may start now. */
  count = 0;
  /** How many sources want places. They share the room for updates. */
  sources = 1;
  /** Rows of verdicts that pass. */
  #passing = 0;
  /** Rows of places without a copy of their source. */
  #without = 0;
  readonly #withoutOf = new Map<string, number>();
  #ending = 0;
  #agedEnding = 0;
  readonly #agedWrites = new Map<string, number>();
  readonly #writes = new Map<string, Ordered[]>();
  readonly #ends = new Map<string, Ordered[]>();

  /** `inFlight`: keys of writes that are under way (actionKey). */
  constructor(shared: SharedState, now: number, inFlight: ReadonlySet<string>) {
    this.#shared = shared;
    this.#now = now;
    this.#inFlight = inFlight;
  }

  /** Whether there is room for one more row of a verdict that passes. */
  takesRow(): boolean {
    return this.#passing++ < MOST_ROWS;
  }

  /**
   * Whether there is room for one more row of a place without a copy of `source`. A user asks for as many places as
   * there are namespaces with each source, so beyond the first rows a source has a few.
   */
  takesRowOf(source: string): boolean {
    if (this.#without++ < MOST_ROWS) return true;
    const rows = (this.#withoutOf.get(source) ?? 0) + 1;
    this.#withoutOf.set(source, rows);
    return rows <= FEWEST_OF_A_SOURCE;
  }

  /** Whether there is room for it. */
  push(action: Action, order: number): boolean {
    const ends = isEnding(action);
    const lists = ends ? this.#ends : this.#writes;
    const key = placeKey(action.objectKind, action.source);
    // Asked for even where there is no room, so that it ages.
    const since = this.#shared.dueSince.since(placeKey(action.objectKind, action.place), this.#now);
    const list = lists.get(key) ?? [];
    const aged = this.#isAged(action, since);
    if (ends ? !this.#mayEnd(aged) : !this.#mayWrite(action, key, list.length, aged)) return false;
    this.count++;
    list.push({ action, order, since });
    lists.set(key, list);
    return true;
  }

  #isAged(action: Action, since: number): boolean {
    return this.#now - since >= (isEnding(action) ? DELETE_AGED_MS : WRITE_AGED_MS);
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
   * Live reads, then creates and updates, then deletes. In each the namespaces of sources take
   * turns, and so do the sources of each, the youngest namespace first. Actions that have long been due
   * alternate with them, deletes included (#isAged).
   */
  *actions(): Generator<undefined, readonly Action[]> {
    const writes = listsBySource(this.#writes);
    const ends = listsBySource(this.#ends);
    const young: Ordered[] = [];
    yield* takeTurns(writes, youngestFirst, young);
    yield* takeTurns(ends, youngestFirst, young);
    const aged = [...writes, ...ends].flatMap((list) => {
      const old = list.filter(({ action, since }) => this.#isAged(action, since));
      return old.length > 0 ? [old] : [];
    });
    const old: Ordered[] = [];
    yield* takeTurns(aged, longestDue, old);
    const { oldestFirst } = this.#shared.dueSince;
    const rest = yield* alternate(young, old, oldestFirst);
    return [...this.#liveReads(), ...rest];
  }

  #liveReads(): readonly Action[] {
    const free = LIVE_READ_BATCHES.filter((batch) => !this.#inFlight.has(batch));
    return this.#shared.liveReads.batches(free.length).flatMap((liveReads, index) => {
      const [batch, first] = [free[index], liveReads[0]];
      if (batch === undefined || first === undefined) return [];
      const reason = because("ConfirmRemovals");
      const [place, source] = [first.ref, first.ref];
      return [
        {
          kind: "confirm",
          // A batch reads objects of all kinds, so the kind that it is filed under does not matter.
          objectKind: "Secret",
          place,
          source,
          cause: "unwanted",
          reason,
          decisionKey: "",
          batch,
          liveReads,
        },
      ];
    });
  }
}

type Ordered = {
  readonly action: Action;
  readonly order: number;
  /** When it became due. */
  readonly since: number;
};

const ACTIONS_PER_TURN = 8192;

/** By source and its kind. */
function listsBySource(bySource: ReadonlyMap<string, Ordered[]>): readonly (readonly Ordered[])[] {
  return [...bySource.keys()].toSorted().map((key) => bySource.get(key) ?? []);
}

/** All of `young`, with one of `old` after each while any are left, without duplicates. */
function* alternate(
  young: readonly Ordered[],
  old: readonly Ordered[],
  oldFirst: boolean,
): Generator<undefined, readonly Action[]> {
  if (old.length === 0) return young.map(({ action }) => action);
  const taken = new Set<Ordered>();
  const actions: Action[] = [];
  const take = (ordered: Ordered): boolean => {
    if (taken.has(ordered)) return false;
    taken.add(ordered);
    actions.push(ordered.action);
    return true;
  };
  let next = 0;
  const takeOldest = (): void => {
    while (next < old.length) {
      const oldest = old[next++];
      if (oldest && take(oldest)) return;
    }
  };
  if (oldFirst) takeOldest();
  for (const [index, ordered] of young.entries()) {
    if (index % ACTIONS_PER_TURN === 0) yield;
    if (take(ordered)) takeOldest();
  }
  return actions;
}

function* takeTurns(
  lists: readonly (readonly Ordered[])[],
  first: (a: Ordered, b: Ordered) => number,
  into: Ordered[],
): Generator<undefined, void> {
  const namespaces = Map.groupBy(lists, ([one]) => one?.action.source.namespace);
  const merged: Ordered[][] = [];
  for (const own of namespaces.values()) {
    const sorted: (readonly Ordered[])[] = [];
    for (const list of own) {
      sorted.push(list.toSorted(first));
      yield;
    }
    const turns: Ordered[] = [];
    yield* collect(roundRobin(sorted), turns);
    merged.push(turns);
  }
  yield* collect(roundRobin(merged), into);
}

function* collect(from: Iterable<Ordered>, into: Ordered[]): Generator<undefined, void> {
  for (const one of from) if (into.push(one) % ACTIONS_PER_TURN === 0) yield;
}

function longestDue(a: Ordered, b: Ordered): number {
  return a.since === b.since ? youngestFirst(a, b) : a.since - b.since;
}

function youngestFirst(a: Ordered, b: Ordered): number {
  if (a.order !== b.order) return a.order - b.order;
  return a.action.place.name < b.action.place.name ? -1 : 1;
}
