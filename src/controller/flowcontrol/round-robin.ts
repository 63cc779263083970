// Lists that take turns, so that a long one does not delay a short one.

/** The first of each list, then the second of each, and so on. At most `most` of them. */
export function* roundRobin<T extends object>(
  lists: Iterable<readonly T[]>,
  most = Number.POSITIVE_INFINITY,
): Generator<T, void> {
  let left = most;
  let waiting = [...lists];
  for (let round = 0; waiting.length > 0; round++) {
    for (const list of waiting) {
      const one = list[round];
      if (one === undefined) continue;
      if (left-- <= 0) return;
      yield one;
    }
    waiting = waiting.filter((list) => list.length > round + 1);
  }
}
