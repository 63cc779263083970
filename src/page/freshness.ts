// Whether the page shows the current cluster state. Promises: it is reported as out of date as soon as a watch
// is known to be disconnected. If a connection died silently, it is reported once the watch has been silent for
// longer than any healthy one. No clock: `nowMs` is given.

/** Times are milliseconds since the epoch. */
export type WatchStatus = {
  readonly resource: string;
  readonly filled: boolean;
  /** When the watch last received something. Its data is as of then. */
  readonly aliveMs: number;
  /** Since when it has been disconnected. Undefined while it is connected. */
  readonly disconnectedMs: number | undefined;
  /** Time of the next retry. Undefined while it is connected or trying. */
  readonly nextTryMs: number | undefined;
};

/** The shown state may have changed. */
export type Outdated = {
  /** Since when changes are not received. */
  readonly sinceMs: number;
  /** The time of the shown state. */
  readonly asOfMs: number;
};

// A healthy watch is silent for two minutes at most. Then a bookmark comes.
const SILENCE_MS = 3 * 60_000;
// One failed answer is not an outage, because the next try may reach another API server.
const AWAY_MS = 5000;

/** `serverAwayMs`: since when no request has been answered. */
export function outdatedSince(
  nowMs: number,
  watches: readonly WatchStatus[],
  serverAwayMs: number | undefined,
): Outdated | undefined {
  const away = nowMs - (serverAwayMs ?? nowMs) >= AWAY_MS ? serverAwayMs : undefined;
  let sinceMs = Infinity;
  let asOfMs = Infinity;
  for (const { filled, aliveMs, disconnectedMs } of watches) {
    if (!filled) continue;
    const unanswered = away !== undefined && aliveMs < away ? away : undefined;
    const silent = nowMs - aliveMs >= SILENCE_MS ? aliveMs : undefined;
    const since = disconnectedMs ?? unanswered ?? silent;
    if (since === undefined) continue;
    sinceMs = Math.min(sinceMs, since);
    asOfMs = Math.min(asOfMs, aliveMs);
  }
  return sinceMs === Infinity ? undefined : { sinceMs, asOfMs };
}
