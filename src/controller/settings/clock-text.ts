// What is said of a clock that is not the API server's.
import { formatDuration } from "./units.ts";

/** Alerts and Events compare times of both machines by the minute. */
const TOLERATED_MS = 30_000;
export const CLOCK_DIFFERS = "this machine's clock differs from the API server's";

/** What is wrong with a clock that is `offsetMs` ahead, or undefined: nothing. */
export function clockText(offsetMs: number): string | undefined {
  if (Math.abs(offsetMs) < TOLERATED_MS) return undefined;
  const by = formatDuration(Math.round(Math.abs(offsetMs) / 1000) * 1000);
  return `${CLOCK_DIFFERS}: it is ${by} ${offsetMs > 0 ? "ahead" : "behind"}`;
}
