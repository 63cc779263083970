// A table of a document, as the formatter writes it.

/** Its columns are as wide as their longest cells. */
export function markdownTable(
  head: readonly string[],
  body: readonly (readonly string[])[],
): string {
  const widths = head.map((_, at) =>
    Math.max(3, ...[head, ...body].map((row) => row[at]?.length ?? 0)),
  );
  const line = (row: readonly string[], by = " "): string =>
    `| ${row.map((text, at) => text.padEnd(widths[at] ?? 0, by)).join(" | ")} |`;
  const rule = line(
    head.map(() => ""),
    "-",
  );
  return [line(head), rule, ...body.map((row) => line(row))].join("\n");
}

export const code = (text: string): string => `\`${text}\``;
/** Plain text as a cell. */
export const cell = (text: string): string => text.replaceAll(/[|*<]/g, String.raw`\$&`);
