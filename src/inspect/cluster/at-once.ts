// Does the same work for many items, several at a time.

/** Resolves with the results in the order of the items. Rejects at the first failure. */
export async function mapAtOnce<T, R>(
  items: readonly T[],
  atOnce: number,
  work: (item: T) => Promise<R>,
): Promise<readonly R[]> {
  const results: R[] = [];
  const left = items.entries();
  await Promise.all(
    Array.from({ length: atOnce }, async () => {
      for (const [index, item] of left) results[index] = await work(item);
    }),
  );
  return results;
}
