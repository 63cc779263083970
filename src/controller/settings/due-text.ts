// When something happens by itself, as every output says it: in UTC, as a duration, and for a removal
// with what prevents it.
import { REMOVAL_HOLDS } from "../model/removal-holds.ts";
import type { Row } from "../model/verdicts.ts";
import { formatDuration } from "./units.ts";

type DueRow = Pick<Row, "verdict" | "pulling" | "removal">;

/** The last moment that a Date can hold: a grace may be longer. */
const LATEST_MS = 8.64e15;

/** RFC 3339. `ms`: since the epoch. */
export function isoTime(ms: number): string {
  return new Date(Math.min(Math.round(ms), LATEST_MS)).toISOString();
}

/** `2026-11-25 01:40:30 UTC`. */
function utcText(ms: number): string {
  const [day = "", time = ""] = isoTime(Math.round(ms / 1000) * 1000).split("T");
  return `${day} ${time.slice(0, 8)} UTC`;
}

/** `at 2026-11-25 01:40:30 UTC (in 28m)`. */
export function whenText(dueMs: number, nowMs: number): string {
  return `at ${utcText(dueMs)} (${fromNow(dueMs - nowMs)})`;
}

/** What happens then, and what prevents it: the parts of the sentence before and after the time. */
export type DueWords = { readonly dueWords: string; readonly unless?: string | undefined };

/** `will be deleted at 2026-11-25 01:40:30 UTC (in 28m) unless the change is undone`. */
export function dueText(
  { dueWords: what, unless }: DueWords,
  dueMs: number,
  nowMs: number,
): string {
  return `${what} ${whenText(dueMs, nowMs)}${unless === undefined ? "" : ` unless ${unless}`}`;
}

export function dueWordsOf(row: DueRow): DueWords {
  const hold = row.removal?.hold;
  return { dueWords: wordsOf(row), unless: hold && REMOVAL_HOLDS[hold].unless };
}

function wordsOf({ verdict, pulling, removal }: DueRow): string {
  const end = removal?.end ?? (verdict === "held" ? "delete" : verdict);
  if (end === "takeover") return "will be taken over";
  const isKept = removal?.end === "release";
  if (pulling && !isKept && (end === "release" || end === "delete")) return "will be emptied";
  if (end === "delete") return "will be deleted";
  if (end === "release") return "will be released";
  return end === "backoff" ? "will be retried" : "will be checked again";
}

const MINUTE_MS = 60_000;

function fromNow(ms: number): string {
  if (ms < 500) return "now";
  const unit = ms < 10 * MINUTE_MS ? 1000 : MINUTE_MS;
  return `in ${formatDuration(Math.round(ms / unit) * unit)}`;
}
