// Which source wants a copy in which namespace: one table for each sync, with a bit for each pair. It follows from the
// source's rule, the namespace's labels and its `accept`, and from nothing of an earlier sync.
import { NAMESPACE_GLOBS } from "../../text/globs.ts";
import { accepts, covers, stepsOf, type MatchingSource, type TargetNamespace } from "./targets.ts";

/** A source and its row of the table. */
export type Wanting = MatchingSource & {
  /** Bits of the targets, by their order. */
  wanted: Int32Array;
  /** How many targets it wants. */
  wantedTotal: number;
};

export const NOTHING_WANTED = new Int32Array(0);

/** About two milliseconds of matching, of 10 ns at most a step. */
export const STEPS_PER_TURN = 4096 * 64;

export function isWanted({ wanted }: Pick<Wanting, "wanted">, { order }: TargetNamespace): boolean {
  return (((wanted[order >> 5] ?? 0) >> (order & 31)) & 1) !== 0;
}

/** Fills the rows of all sources. Yields after STEPS_PER_TURN steps. */
export function* noteWants(
  sources: readonly Wanting[],
  targets: readonly TargetNamespace[],
): Generator<undefined, void> {
  const turn = { left: STEPS_PER_TURN };
  for (const source of sources) {
    source.wanted = new Int32Array((targets.length >> 5) + 1);
    source.wantedTotal = 0;
    for (let at = 0; at < targets.length;) {
      at = noteFrom(at, source, targets, turn);
      if (turn.left > 0) continue;
      yield;
      turn.left = STEPS_PER_TURN;
    }
  }
}

// Until the turn is over: the order of the next target. No generator, so that V8 optimizes the loop.
function noteFrom(
  from: number,
  source: Wanting,
  targets: readonly TargetNamespace[],
  turn: { left: number },
): number {
  const { wanted, namespace: own, text, to } = source;
  // No namespace has a longer name.
  const matching = stepsOf(to, NAMESPACE_GLOBS.longest);
  let { left } = turn;
  let at = from;
  for (; at < targets.length && left > 0; at++) {
    const target = targets[at];
    if (!target) break;
    const { accept, name, namespace, excluded } = target;
    left -= accept.kind === "sources" ? accept.globs.steps(text.length) : 1;
    // Asked first: where the namespace declines, no globs are matched.
    if (name === own || excluded !== undefined || !accepts(accept, text)) continue;
    left -= matching;
    if (!covers(to, namespace)) continue;
    wanted[at >> 5] = (wanted[at >> 5] ?? 0) | (1 << (at & 31));
    source.wantedTotal++;
  }
  turn.left = left;
  return at;
}
