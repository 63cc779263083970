// Log lines for troubles that end by themselves: requests that are repeated, such as those of a watch or a Lease,
// and a clock that differs. Failures have a limit of lines per minute, and the rest is counted. One line reports
// when all requests work again. A recovery is logged only if its failure was logged. Memory is one entry per part.
import type { Clock } from "../../../packages/kube/time/clock.ts";
import { CLOCK_DIFFERS, clockText } from "../settings/clock-text.ts";
import type { Log } from "./log.ts";
import { RateLimit } from "./rate-limit.ts";

/** Most failure lines of one subject in any minute. */
const MOST_LINES = 3;

type Fields = Parameters<Log["warn"]>[0];

/** One part of a subject, for example the watch of one namespace. */
export type FailureLine = {
  readonly failed: (error: unknown) => void;
  /** The failure that `failed` reported is over for this part. */
  readonly worked: () => void;
};

export type FailureLines = {
  /** Adds a part to `subject`. Its lines contain `fields`. A subject fails while one of its parts does. */
  of(subject: string, fields?: Fields): FailureLine;
};

/** `message`: the text of each line. The line that ends a failure puts "resolved: " before it. */
export function failureLines(log: Log, clock: Clock, message: string): FailureLines {
  const repeats = new RateLimit(MOST_LINES);
  const subjects = new Map<
    string,
    { failing: Set<object>; sinceMs: number; isReported: boolean }
  >();
  const of: FailureLines["of"] = (subject, fields = {}) => {
    const all = subjects.get(subject) ?? { failing: new Set(), sinceMs: 0, isReported: false };
    subjects.set(subject, all);
    const part = {};
    return {
      failed: (error) => {
        const now = clock.monotonic();
        if (all.failing.size === 0) Object.assign(all, { sinceMs: now, isReported: false });
        all.failing.add(part);
        const count = repeats.tryTake(subject, now);
        if (count === undefined) return;
        all.isReported = true;
        log.warn({ ...fields, error: errorText(error), count }, message);
      },
      worked: () => {
        if (!all.failing.delete(part) || all.failing.size > 0 || !all.isReported) return;
        const afterMs = Math.round(clock.monotonic() - all.sinceMs);
        log.info({ ...fields, afterMs }, `resolved: ${message}`);
      },
    };
  };
  return { of };
}

const errorText = (error: unknown): string =>
  error instanceof Error ? error.message : "unexpected";

/** Takes measurements of how far this machine's clock is ahead of the API server's. */
export function clockLines(log: Log): (offsetMs: number) => void {
  let differed = false;
  return (offsetMs) => {
    const differs = clockText(offsetMs) !== undefined;
    if (differs === differed) return;
    differed = differs;
    const fields = { aheadSeconds: Math.round(offsetMs / 1000) };
    if (differs) log.warn(fields, CLOCK_DIFFERS);
    else log.info(fields, `resolved: ${CLOCK_DIFFERS}`);
  };
}
