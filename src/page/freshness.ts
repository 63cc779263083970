// Whether what the page shows is what the cluster is. Promises: it is called out of date as soon as a
// watch is known to be disconnected, and where nobody can know yet, because a connection died without a
// word, once the watch has been silent for longer than any healthy one. No clock: `nowMs` is given.

/** Times are milliseconds since the epoch. */
export type WatchStatus = {
  readonly resource: string;
  readonly filled: boolean;
  /** When it was last heard: what is known of the resource is as of then. */
  readonly aliveMs: number;
  /** Since when it has been disconnected; undefined: it is connected. */
  readonly disconnectedMs: number | undefined;
  /** When it tries next; undefined while it is connected, or trying. */
  readonly nextTryMs: number | undefined;
};

/** What is shown may have changed since. */
export type Outdated = {
  /** Since when it is not followed. */
  readonly sinceMs: number;
  /** Of when it is. */
  readonly asOfMs: number;
};

// A watch that is well is silent for two minutes at most, then a bookmark comes.
const SILENCE_MS = 3 * 60_000;
// One answer that fails is no outage: the next try may reach another API server.
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
