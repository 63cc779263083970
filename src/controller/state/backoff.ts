// Why a write is not tried now, and the waits between the attempts of one write or one live read, each longer than the
// one before. `random` is uniform in [0, 1).
import type { Reason } from "../model/reasons.ts";

/** Why a write failed. */
export type Failure = {
  /** One line without a value of a Secret and without the place, so that places of one cause are one group. */
  readonly reason: string;
  /** A value of a closed list for the reason. */
  readonly cause: string;
  /**
   * The kind of failure. "unavailable": no API server answered, or it answered 5xx. "throttled": it
   * had no room for the request, which says nothing of the place.
   */
  readonly error: string;
  /** For how long the server asked to be left alone with it, in ms. */
  readonly retryAfterMs?: number | undefined;
};
export type PlaceBackoff = {
  readonly kind: "failed" | "stale" | "fight";
  readonly decisionKey: string;
  readonly until: number;
  /** When a write was last tried. */
  readonly triedAt: number;
  /** Attempts of the same kind. */
  readonly attempts: number;
  readonly reason: Reason;
  /** With a failure. */
  readonly cause?: string;
  /** With a failure: its kind. */
  readonly error?: string;
  /** It was the source that had moved, and not what is at the place. */
  readonly ofSource?: boolean;
  /** How often in a row the cluster state had moved. A failure in between does not reset it. */
  readonly stales: number;
  readonly failures: number;
  /** With a failure: its source, as "NAMESPACE/NAME". */
  readonly source?: string;
  /** With a failure: when a user last ended its wait. */
  readonly earlyAt?: number | undefined;
};

const FIRST_BACKOFF_MS = 1000;
const LONGEST_BACKOFF_MS = 5 * 60_000;
/** For live reads: they disturb nobody, and an unseen change is noticed within this time. */
const LONGEST_READ_BACKOFF_MS = 30_000;
/** For writes refused by 429 without a time: the server's own default in Retry-After. */
const THROTTLED_BACKOFF_MS = 1000;
const JITTER = 0.1;

/** Exponential 1 s, 2 s, ... 5 min, each ±10 %. */
export function backoffMs(
  attempts: number,
  random: number,
  firstMs = FIRST_BACKOFF_MS,
  longestMs = LONGEST_BACKOFF_MS,
): number {
  const full = Math.min(longestMs, firstMs * 2 ** Math.min(30, attempts - 1));
  return full * (1 - JITTER + 2 * JITTER * random);
}

/** The wait after a 429: what the server asked for, in ms, and up to 10 % more, or else a second. */
export function throttledBackoffMs(random: number, askedMs = 0): number {
  return (askedMs > 0 ? askedMs : THROTTLED_BACKOFF_MS) * (1 + JITTER * random);
}

/** The same of live reads: 1 s, 2 s, ... never more than 30 s. */
export function readBackoffMs(attempts: number, random: number): number {
  const full = backoffMs(attempts, random, FIRST_BACKOFF_MS, LONGEST_READ_BACKOFF_MS);
  return Math.min(full, LONGEST_READ_BACKOFF_MS);
}
