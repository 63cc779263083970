// The order of a plan's actions: the sources take turns, the youngest namespace first. Actions that have
// long been due are inserted between them.
import type { Action } from "../model/actions.ts";

export type Ordered = {
  readonly action: Action;
  readonly order: number;
  /** When it became due. */
  readonly since: number;
};

const ACTIONS_PER_TURN = 8192;

/** By source and its kind. */
export function listsBySource(
  bySource: ReadonlyMap<string, Ordered[]>,
): readonly (readonly Ordered[])[] {
  return [...bySource.keys()].toSorted().map((key) => bySource.get(key) ?? []);
}

/** All of `young`, with one of `old` after each while any are left, without duplicates. */
export function* alternate(
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

export function* takeTurns(
  lists: readonly (readonly Ordered[])[],
  first: (a: Ordered, b: Ordered) => number,
  into: Ordered[],
): Generator<undefined, void> {
  let waiting: (readonly Ordered[])[] = [];
  for (const list of lists) {
    waiting.push(list.toSorted(first));
    yield;
  }
  for (let round = 0; waiting.length > 0; round++) {
    for (const list of waiting) {
      const turn = list[round];
      if (turn && into.push(turn) % ACTIONS_PER_TURN === 0) yield;
    }
    waiting = waiting.filter((list) => list.length > round + 1);
  }
}

export function longestDue(a: Ordered, b: Ordered): number {
  return a.since === b.since ? youngestFirst(a, b) : a.since - b.since;
}

export function youngestFirst(a: Ordered, b: Ordered): number {
  if (a.order !== b.order) return a.order - b.order;
  return a.action.place.name < b.action.place.name ? -1 : 1;
}
