// /healthz fails only for problems that a restart may fix. An unreachable API server is not one of them,
// however long it lasts, because a restart of every replica would not bring it back. A quiet watch and a
// fan-out that takes hours are healthy too, as long as its writes end one after the other.
// /readyz fails while caches are not filled, or if they are so old that this replica could not take over.
// A short outage makes no replica unready, and a long one restarts no replica.
import type { LeaderElector } from "../../../packages/kube/leaderelection/leader-elector.ts";

export type LivenessInputs = {
  /** By resource: when each watch last showed that it is alive. */
  readonly watches: Readonly<Record<string, { readonly lastSignOfLifeMs: number }>>;
  /** Start of the running sync. */
  readonly syncStartedMs: number | undefined;
  readonly lastWriteMs: number;
  readonly elector: Pick<LeaderElector, "healthy"> | undefined;
};

// A healthy watch may be quiet for two minutes, and ends after five at most.
const SILENCE_MS = 10 * 60_000;
// A restarting API server is back by then. Until then, retries are one second apart.
const DISCONNECTED_MS = 30_000;
// A write ends within 30 s, and a pause that the server requests ends within five minutes.
const STUCK_MS = 10 * 60_000;

/** Returns problems as text. All times are ms of the same monotonic clock. */
export function livenessProblems(
  now: number,
  { watches, syncStartedMs, lastWriteMs, elector }: LivenessInputs,
): readonly string[] {
  const found: string[] = [];
  for (const [resource, { lastSignOfLifeMs }] of Object.entries(watches)) {
    const silentMs = now - lastSignOfLifeMs;
    if (silentMs > SILENCE_MS) found.push(`${resource}: no sign of life for ${seconds(silentMs)}`);
  }
  if (syncStartedMs !== undefined) {
    const stuckMs = now - Math.max(syncStartedMs, lastWriteMs);
    if (stuckMs > STUCK_MS) found.push(`sync: nothing has moved for ${seconds(stuckMs)}`);
  }
  if (elector && !elector.healthy()) found.push("lease: held but not renewed");
  return found;
}

export type WatchReadiness = {
  readonly hasSynced: boolean;
  /** Undefined while its watch is open. */
  readonly disconnectedSinceMs: number | undefined;
};

/** Returns problems by resource, as text. All times are ms of the same monotonic clock. */
export function readinessProblems(
  now: number,
  watches: Readonly<Record<string, WatchReadiness>>,
): readonly string[] {
  return Object.entries(watches).flatMap(([resource, { hasSynced, disconnectedSinceMs }]) => {
    if (!hasSynced) return [`${resource}: cache not filled yet`];
    const forMs = now - (disconnectedSinceMs ?? now);
    if (forMs <= DISCONNECTED_MS) return [];
    return [`${resource}: watch disconnected for ${seconds(forMs)}, its cache grows old`];
  });
}

function seconds(ms: number): string {
  return `${Math.round(ms / 1000)} s`;
}
