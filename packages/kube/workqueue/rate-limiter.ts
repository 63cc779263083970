// How long a failed key waits before the next attempt.
// Promises: when() counts one failure and returns a delay in ms. forget() drops the key's history.
// Does not promise to delay anything itself: the queue waits. It limits only retries, never a plain add.
import type { Clock } from "../time/clock.ts";

/** The delay of a failed key. */
export type RateLimiter<K> = {
  /** Counts a failure of `key` and returns the delay before the next attempt, in ms. */
  when(key: K): number;
  /** Drops the failures of `key`. */
  forget(key: K): void;
  /** Failures of `key` since it was last forgotten. */
  numRequeues(key: K): number;
};

/** Options of {@link exponentialRateLimiter}. */
export type ExponentialOptions = {
  readonly clock: Pick<Clock, "random">;
  /** First delay in ms. 5 as in client-go's controllers. */
  readonly baseMs?: number;
  /** Maximum delay, jitter included. 5 minutes (client-go: 1000 s, too long for users). */
  readonly maxMs?: number;
  /** Half-width of the spread, in [0, 1): 0.1 is ±10 %. Keys that fail together must not return together. */
  readonly jitter?: number;
};

/** base × 2^failures for each key separately, spread by the jitter. */
export function exponentialRateLimiter<K>(options: ExponentialOptions): RateLimiter<K> {
  const { clock, baseMs = 5, maxMs = 300_000, jitter = 0.1 } = options;
  const failures = new Map<K, number>();
  const countOf = (key: K): number => failures.get(key) ?? 0;
  const ceiling = maxMs / (1 + jitter);
  return {
    when(key) {
      const before = countOf(key);
      failures.set(key, before + 1);
      // 2 ** 1024 is Infinity, which the minimum limits.
      const delay = Math.min(ceiling, baseMs * 2 ** before);
      return delay * (1 + jitter * (2 * clock.random() - 1));
    },
    forget: (key) => void failures.delete(key),
    numRequeues: countOf,
  };
}
