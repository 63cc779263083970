// A flag whose value is a span of time, in days as well.
import { UsageError } from "../../controller/settings/config.ts";
import { parseDuration } from "../../controller/settings/units.ts";
import { lastText, type Args } from "./kubectl-flags.ts";

const DAY_MS = 86_400_000;

/** Milliseconds, above 0. Undefined if the flag is not given. */
export function spanOf(args: Args, flag: string): number | undefined {
  const text = lastText(args, flag);
  if (text === undefined) return undefined;
  const [, days] = /^(\d{1,6})d$/.exec(text) ?? [];
  try {
    const ms = days === undefined ? parseDuration(text) : Number(days) * DAY_MS;
    if (ms > 0) return ms;
  } catch {
    // The line below says what would be right, with days.
  }
  throw new UsageError(`--${flag}: "${text}" is not a duration above 0: write it like 90d or 36h`);
}
