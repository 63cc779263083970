// Reads what the documentation's tests compare with the code: the tables of a Markdown text.
// Not a Markdown parser: a table is lines that begin with a bar, the second of them the rule.

/** The rows of the table whose header cells are these, each as its cells' text. */
export function tableRows(
  markdown: string,
  headers: readonly string[],
): readonly (readonly string[])[] {
  const lines = markdown.split("\n");
  const head = lines.findIndex((line) => cells(line).join("|") === headers.join("|"));
  if (head < 0) throw new Error(`no table with the columns ${headers.join(", ")}`);
  const after = lines.slice(head + 2);
  const end = after.findIndex((line) => !line.startsWith("|"));
  return after.slice(0, end < 0 ? undefined : end).map(cells);
}

/** The text without the marks of code. */
export function uncoded(cell: string): string {
  return cell.replaceAll("`", "");
}

function cells(line: string): readonly string[] {
  return line
    .trim()
    .replace(/^\||\|$/g, "")
    .split(/(?<!\\)\|/)
    .map((cell) => cell.trim().replaceAll(/\\([|*_])/g, "$1"));
}

export type CodeBlock = { readonly language: string; readonly text: string };

/** The blocks of code under the heading `## TITLE`, as they stand. */
export function codeBlocks(markdown: string, title: string): readonly CodeBlock[] {
  const section = markdown.split(/^## /m).find((part) => part.startsWith(`${title}\n`));
  if (section === undefined) throw new Error(`no section "${title}"`);
  const blocks = section.matchAll(/^```(\w+)\n(.*?)^```$/gms);
  return Array.from(blocks, ([, language = "", text = ""]) => ({ language, text }));
}
