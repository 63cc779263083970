// Changed readers as Markdown, for a comment on a pull request: a heading, one table, the worst row first.
// Promises: at most MOST_CHARACTERS, and what does not fit is counted. Only names that the API accepts are in it, so
// no text of a file is formatted or mentions a user.
import { listed } from "../../text/listed.ts";
import type { ReaderChange } from "./reader-changes.ts";

/** GitHub refuses a comment of more than 65,536 characters. */
export const MOST_CHARACTERS = 65_536;
/** For the last line, which counts what is left out. */
const RESERVED = 200;
const NAMES = 10;

export function readersMarkdown(changes: readonly ReaderChange[]): string {
  if (changes.length === 0)
    return "### Readers of credentials\n\nNo namespace gains or loses a copy.\n";
  const gained = changes.reduce((sum, change) => sum + change.gained.length, 0);
  const lost = changes.reduce((sum, change) => sum + change.lost.length, 0);
  const refused = changes.filter((change) => change.refused).length;
  const head = [
    "### Readers of credentials",
    "",
    `**${gained} gained, ${lost} lost**${refused > 0 ? `, **${refused} refused**` : ""}, by ${changes.length} of the sources in these files.`,
    "",
    "| source | gains | loses |",
    "| --- | --- | --- |",
  ].join("\n");
  let text = `${head}\n`;
  for (const [index, change] of changes.entries()) {
    const row = `${rowOf(change)}\n`;
    if (text.length + row.length > MOST_CHARACTERS - RESERVED)
      return `${text}\n${changes.length - index} more sources are left out. \`secretcast plan --base\` lists all.\n`;
    text += row;
  }
  return text;
}

function rowOf({
  resource,
  namespace,
  name,
  gained,
  lost,
  outside,
  refused,
}: ReaderChange): string {
  const kind = resource === "secrets" ? "" : "ConfigMap ";
  const mark = outside.length > 0 ? "**" : "";
  const gains = refused ? "refused: an annotation is invalid" : `${mark}${namesOf(gained)}${mark}`;
  return `| ${kind}\`${namespace}/${name}\` | ${gains} | ${namesOf(lost)} |`;
}

function namesOf(names: readonly string[]): string {
  if (names.length === 0) return "";
  const count = names.length > 1 ? `${names.length}: ` : "";
  return (
    count +
    listed(
      names.map((name) => `\`${name}\``),
      NAMES,
    )
  );
}
