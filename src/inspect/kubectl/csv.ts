// Prints rows as CSV by RFC 4180: CRLF, quotes where they are needed. A spreadsheet takes a cell that begins with a
// sign of a formula for one. Names of users and certificates are not ours, so such a cell gets an apostrophe first.
import { printable } from "../../text/printable.ts";

/** Signs with which a spreadsheet begins a formula, also in full width. */
const FORMULA = /^[=+\-@\uff0b\uff0d\uff1d\uff20]/;
const QUOTED = /[",\r\n]|^\s|\s$/;

/** One line with its end. */
export function csvLine(cells: readonly string[]): string {
  return `${cells.map(csvCell).join(",")}\r\n`;
}

// Control characters, such as the tab before a formula, are escaped.
function csvCell(cell: string): string {
  const text = printable(cell);
  const safe = FORMULA.test(text.trimStart()) ? `'${text}` : text;
  return QUOTED.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
