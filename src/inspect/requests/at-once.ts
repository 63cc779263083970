// Does the same work for many items, several at a time.

/** Resolves with the results in the order of the items. Rejects at the first failure, after which no work begins. */
export async function mapAtOnce<T, R>(
  items: readonly T[],
  atOnce: number,
  work: (item: T) => Promise<R>,
): Promise<readonly R[]> {
  const results: R[] = [];
  const left = [...items.entries()].toReversed();
  const next = async (): Promise<void> => {
    for (let one = left.pop(); one !== undefined; one = left.pop())
      results[one[0]] = await work(one[1]);
  };
  try {
    await Promise.all(Array.from({ length: atOnce }, next));
  } finally {
    left.length = 0;
  }
  return results;
}
