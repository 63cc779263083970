// Prints tables like kubectl: columns three spaces apart, headers in capitals, no lines. User input cannot
// control the terminal, because each control character is escaped.
import type { KubectlFlags } from "./kubectl-flags.ts";
import { printable } from "../../text/printable.ts";
import type { Program } from "../../run/program-context.ts";

export type Colour = "green" | "yellow" | "red" | "cyan" | "grey" | "bold";

const CODES: Readonly<Record<Colour, string>> = {
  green: "32",
  yellow: "33",
  red: "31",
  cyan: "36",
  grey: "90",
  bold: "1",
};

/** Puts a text into a colour, or leaves it as it is. */
export type Paint = (colour: Colour | undefined, text: string) => string;

/** Colours are for a terminal whose user has not said NO_COLOR. */
export function painter({ env, stdout }: Pick<Program, "env" | "stdout">): Paint {
  const coloured = stdout.isTTY === true && !env["NO_COLOR"] && env["TERM"] !== "dumb";
  return (colour, text) =>
    coloured && colour !== undefined ? `\u001b[${CODES[colour]}m${text}\u001b[0m` : text;
}

export type Column<T> = {
  /** In capitals. */
  readonly header: string;
  /** Only with `-o wide`. */
  readonly wide?: true;
  readonly cell: (item: T) => string;
  readonly colour?: (item: T) => Colour | undefined;
};

const GAP = "   ";
// A longer cell does not widen its column beyond this.
const WIDEST = 80;

/** The lines of a table, each with its line end. "" for no items. */
export function* tableLines<T>(
  items: readonly T[],
  columns: readonly Column<T>[],
  { headers, output }: Pick<KubectlFlags, "headers" | "output">,
  paint: Paint,
): Generator<string> {
  if (items.length === 0) return;
  const shown = columns.filter(({ wide }) => wide !== true || output === "wide");
  const cells = (item: T): readonly string[] => shown.map(({ cell }) => printable(cell(item)));
  const widths = shown.map(({ header }) => (headers ? header.length : 0));
  for (const item of items)
    for (const [index, { length }] of cells(item).entries())
      widths[index] = Math.min(WIDEST, Math.max(widths[index] ?? 0, length));
  const line = (texts: readonly string[], colours: readonly (Colour | undefined)[]): string => {
    const last = texts.findLastIndex((text) => text !== "");
    const padded = texts.slice(0, last + 1).map((text, index) => {
      const gap = index === last ? "" : " ".repeat(Math.max(0, (widths[index] ?? 0) - text.length));
      return paint(colours[index], text) + gap;
    });
    return `${padded.join(GAP)}\n`;
  };
  if (headers)
    yield line(
      shown.map(({ header }) => header),
      shown.map(() => "bold"),
    );
  for (const item of items)
    yield line(
      cells(item),
      shown.map(({ colour }) => colour?.(item)),
    );
}
