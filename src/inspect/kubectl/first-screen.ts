// Limits two lists to one screen. Otherwise many refused sources would push important lines out of a
// terminal's scrollback. Other outputs get every line.
import type { Program } from "../../run/program-context.ts";

/** Height of a terminal that does not report it. */
const USUAL_ROWS = 24;
/** Lines of each list, even on a very low terminal. */
const LEAST = 5;
/** Other printed lines: two headers, an empty line, and the lines above and below. */
const BESIDE = 10;

/**
 * The number of lines for lists of `first` and `second` items. Infinity when the output is not a terminal.
 */
export function linesOfFirstScreen(
  first: number,
  second: number,
  { stdout }: Pick<Program, "stdout">,
): readonly [first: number, second: number] {
  if (stdout.isTTY !== true) return [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
  const lines = Math.max(2 * LEAST, (stdout.rows || USUAL_ROWS) - BESIDE);
  const half = Math.floor(lines / 2);
  // Each list gets half, and what the other one does not use.
  return [Math.max(half, lines - second), Math.max(lines - half, lines - first)];
}
