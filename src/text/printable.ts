// Text that others wrote, on its way to a terminal, a log, a file or a page: it takes one line and controls nothing
// that shows it. For a shell, see shell-word.ts. No output of such text uses neither.

/** Control characters, line breaks, and invisible characters that reverse, join or hide their neighbours. */
export const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;
const UNPRINTABLE_EXCEPT_LINE_END = /[^\n\P{Cc}]|[\p{Cf}\p{Zl}\p{Zp}]/gu;

/** One line, with `\u001b` in place of ESC, and the same for each other character of its kind. */
export function printable(text: string): string {
  return text.replace(UNPRINTABLE, escaped);
}

/** The same for a text that has lines of its own, such as JSON: its line ends stay. */
export function printableLines(text: string): string {
  return text.replace(UNPRINTABLE_EXCEPT_LINE_END, escaped);
}

const UNPRINTABLE_BUT_LINES = /[^\n\t\P{Cc}]|[\p{Cf}\p{Zl}\p{Zp}]/u;
// Line ends, tabs, the colours of a terminal, and a line of progress that is written over.
const LAID_OUT = new RegExp(
  String.raw`(\r?\n|\t|\u001b\[(?:[012]|22|3\d|90)m|\r\u001b\[2K)|${UNPRINTABLE.source}`,
  "gu",
);

/** The same for a whole output: its lines and colours stay. */
export function printableOutput(text: string): string {
  // Almost every output is only searched: 2 ms for each MB, where to match its line ends takes 19 ms.
  if (text.search(UNPRINTABLE_BUT_LINES) < 0) return text;
  return text.replace(LAID_OUT, (sign, kept: string | undefined) => kept ?? escaped(sign));
}

/** Whether `printable` changes the text. */
export function isPrintable(text: string): boolean {
  return text.search(UNPRINTABLE) < 0;
}

// By unit of UTF-16, as JSON does.
function escaped(sign: string): string {
  return Array.from(
    { length: sign.length },
    (_, at) => `\\u${sign.charCodeAt(at).toString(16).padStart(4, "0")}`,
  ).join("");
}
