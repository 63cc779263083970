// Finds the known name that a mistyped one most likely means.

/** One typing error is accepted per this many letters, because two flags differ by more. */
const LETTERS_A_SLIP = 3;
/** A shorter prefix matches too many candidates. */
const LEAST_BEGINNING = 3;

/**
 * The candidate with the fewest typing errors, otherwise the only one with that prefix. Undefined when none
 * is close.
 */
export function nearest(typed: string, words: readonly string[]): string | undefined {
  const mostSlips = Math.max(1, Math.floor(typed.length / LETTERS_A_SLIP));
  let best: string | undefined;
  let fewest = mostSlips + 1;
  for (const word of words) {
    // A text of megabytes is not a typing error.
    const slips =
      Math.abs(word.length - typed.length) < fewest ? slipsBetween(typed, word) : fewest;
    if (slips < fewest && slips < word.length) [best, fewest] = [word, slips];
  }
  const begun = words.filter((word) => word.startsWith(typed));
  const only = typed.length >= LEAST_BEGINNING && begun.length === 1 ? begun[0] : undefined;
  return best ?? only;
}

/** Counts missing, additional, different and swapped letters (optimal string alignment). */
function slipsBetween(a: string, b: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1] ? 0 : 1;
      const changed = (last[j - 1] ?? 0) + same;
      const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      const cost = Math.min(changed, (last[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1);
      row.push(swapped ? Math.min(cost, (beforeLast[j - 2] ?? 0) + 1) : cost);
    }
    [beforeLast, last] = [last, row];
  }
  return last[b.length] ?? 0;
}
