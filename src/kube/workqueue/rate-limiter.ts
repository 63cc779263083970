// How long a key that failed waits before it is tried again.
// Promises: when() counts one failure and answers a delay in ms, forget() drops the key's history.
// Does not promise to hold anything back: a limiter answers, the queue waits. It never limits a
// plain add, only retries.
import type { Clock } from "../time/clock.ts";

/** How long a key that failed waits. */
export type RateLimiter<K> = {
  /** Counts a failure of `key` and answers how many ms to wait for the next try. */
  when(key: K): number;
  /** Drops the failures of `key`. */
  forget(key: K): void;
  /** Failures of `key` since it was last forgotten. */
  numRequeues(key: K): number;
};

/** Failures by key: the memory shared by the limiters that have one. */
class Failures<K> {
  readonly #counts = new Map<K, number>();

  /** Counts one more and answers how many there were before. */
  count(key: K): number {
    const before = this.of(key);
    this.#counts.set(key, before + 1);
    return before;
  }

  of(key: K): number {
    return this.#counts.get(key) ?? 0;
  }

  forget(key: K): void {
    this.#counts.delete(key);
  }
}

/** Of {@link exponentialRateLimiter}. */
export type ExponentialOptions = {
  readonly clock: Pick<Clock, "random">;
  /** First delay in ms; 5 as in client-go's controllers. */
  readonly baseMs?: number;
  /** No delay is longer, jitter included; 5 minutes (client-go: 1000 s, too long for people). */
  readonly maxMs?: number;
  /** Half-width of the spread, in [0, 1): 0.1 is ±10 %. Keys that fail together must not return together. */
  readonly jitter?: number;
};

/** base × 2^failures for each key by itself, spread by the jitter. */
export function exponentialRateLimiter<K>(options: ExponentialOptions): RateLimiter<K> {
  const { clock, baseMs = 5, maxMs = 300_000, jitter = 0.1 } = options;
  const failures = new Failures<K>();
  const ceiling = maxMs / (1 + jitter);
  return {
    when(key) {
      // 2 ** 1024 is Infinity, which the minimum takes care of.
      const delay = Math.min(ceiling, baseMs * 2 ** failures.count(key));
      return delay * (1 + jitter * (2 * clock.random() - 1));
    },
    forget: (key) => failures.forget(key),
    numRequeues: (key) => failures.of(key),
  };
}
