// Makes the planner fast: targets are judged in batches, and within a batch each result is a bit or a field
// of the candidate itself, not an entry of a map.
//   candidate.wanted   the bits of those targets of the batch in which it wants its place: valid from
//                      the batch's beginning (MatchCache.evaluate) until the next batch begins
//   group.copyIn       the target in which a copy of the group's name was met last: valid while that
//                      target is judged
// Outside these times either value is meaningless, so both are read and set only here.

/** So many targets are judged together: as many as a small integer of V8 has bits. */
export const BATCH = 31;

/** One of a batch. `bit` identifies it within the batch. */
export type InBatch = { readonly bit: number };
export type WantedTargets = { wanted: number };
export type WithCopyIn<T extends InBatch> = { copyIn: T | undefined };

/** The bit of the target that comes `order`th. */
export function bitOf(order: number): number {
  return 1 << (order % BATCH);
}

/** `bits`: those of the targets of one batch that it wants. */
export function setWanted(candidate: WantedTargets, bits: number): void {
  candidate.wanted = bits;
}

/** Whether it wants its place in `target`, one of the batch that is being judged. */
export function isWanted(candidate: WantedTargets, target: InBatch): boolean {
  return (candidate.wanted & target.bit) !== 0;
}

/** A copy of the group's name is in `target`: the copy is judged, not the place. */
export function noteCopyIn<T extends InBatch>(group: WithCopyIn<T>, target: T): void {
  group.copyIn = target;
}

export function hasCopyIn<T extends InBatch>(group: WithCopyIn<T>, target: T): boolean {
  return group.copyIn === target;
}
