// How much of two lists stands on one screen. A flood of refused sources would else push what matters out of
// a terminal's memory; what is no terminal gets every line.
import type { Program } from "../../run/program-context.ts";

/** Of a terminal that does not say how high it is. */
const USUAL_ROWS = 24;
/** Of each list, however low the terminal is. */
const LEAST = 5;
/** What else is printed: two headers, an empty line, and what stands above and below. */
const BESIDE = 10;

/** Lines for lists of `first` and `second` ones; Infinity where nobody reads a screen. */
export function screenful(
  first: number,
  second: number,
  { stdout }: Pick<Program, "stdout">,
): readonly [first: number, second: number] {
  if (stdout.isTTY !== true) return [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
  const lines = Math.max(2 * LEAST, (stdout.rows || USUAL_ROWS) - BESIDE);
  const half = Math.floor(lines / 2);
  // Each has its half, and what the other leaves.
  return [Math.max(half, lines - second), Math.max(lines - half, lines - first)];
}
