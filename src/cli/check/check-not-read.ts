// Whether --only-names leaves objects out that somebody may take for current.
import { readNamesNotRead, type NamesQuestion } from "../../inspect/cluster/names-not-read.ts";
import { finding, type CheckFinding } from "./finding.ts";

const ABOUT = { area: "copies", check: "names that are not read" } as const;

/** Nothing without --only-names. */
export async function checkNotRead(question: NamesQuestion): Promise<readonly CheckFinding[]> {
  if (!question.settings.onlyNames) return [];
  const { lines, isMissing, unknown } = await readNamesNotRead(question);
  const state = isMissing ? "missing" : "ok";
  const found = lines.map((line) => finding(ABOUT, state, line));
  const unread = unknown.map((line) => finding(ABOUT, "unknown", line));
  if (found.length + unread.length > 0) return [...found, ...unread];
  return [finding(ABOUT, "ok", "no object of another name takes part")];
}
