// Which of the words that there are was meant by one that there is not.

/** One slip in so many letters is believed to be one: two flags differ by more. */
const LETTERS_A_SLIP = 3;
/** Fewer letters begin too many words. */
const LEAST_BEGINNING = 3;

/** The word with the fewest slips; else the only one that begins so; undefined where none is near. */
export function nearest(typed: string, words: readonly string[]): string | undefined {
  const mostSlips = Math.max(1, Math.floor(typed.length / LETTERS_A_SLIP));
  let best: string | undefined;
  let fewest = mostSlips + 1;
  for (const word of words) {
    // Whoever types a text of megabytes meant no word of ours.
    const slips =
      Math.abs(word.length - typed.length) < fewest ? slipsBetween(typed, word) : fewest;
    if (slips < fewest && slips < word.length) [best, fewest] = [word, slips];
  }
  const begun = words.filter((word) => word.startsWith(typed));
  const only = typed.length >= LEAST_BEGINNING && begun.length === 1 ? begun[0] : undefined;
  return best ?? only;
}

/** Letters left out, too many, others, or two that changed places (optimal string alignment). */
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
