// The one trick that the planner owes its speed to: targets are judged in batches, and within a batch
// each answer is a bit or a mark on the candidate itself, not an entry of a map.
//   candidate.wanted   the bits of those targets of the batch that it wants its place in: valid from
//                      the batch's beginning (Wants.ask) until the next batch begins
//   group.handledIn    the target in which a copy of the group's name was met last: valid while that
//                      target is judged
// Outside these times either value is meaningless, so both are read and set only here.

/** So many targets are judged together: as many as a small integer of V8 has bits. */
export const BATCH = 31;

/** One of a batch. `bit` identifies it within the batch. */
export type InBatch = { readonly bit: number };
export type Wanting = { wanted: number };
export type Handled<T extends InBatch> = { handledIn: T | undefined };

/** The bit of the target that comes `order`th. */
export function bitOf(order: number): number {
  return 1 << (order % BATCH);
}

/** `bits`: those of the targets of one batch that it wants. */
export function setWanted(candidate: Wanting, bits: number): void {
  candidate.wanted = bits;
}

/** Does it want its place in `target`, one of the batch that is being judged? */
export function wants(candidate: Wanting, target: InBatch): boolean {
  return (candidate.wanted & target.bit) !== 0;
}

/** A copy of the group's name is in `target`: the copy is judged, not the place. */
export function handle<T extends InBatch>(group: Handled<T>, target: T): void {
  group.handledIn = target;
}

export function isHandled<T extends InBatch>(group: Handled<T>, target: T): boolean {
  return group.handledIn === target;
}
