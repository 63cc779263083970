// Whether one API server answers. All clients of it share what one of them learns.
// Promises: an outage begins with a GET that got no answer and ends with the first request of any kind that
// succeeds. Its end wakes every sleeper once, in the same turn. An outage shorter than half a second wakes no
// sleeper. So a path that is always refused is not retried at the rate of the paths that work. Sends no request
// of its own.
import type { Clock } from "../time/clock.ts";
import { Deadline } from "../time/deadline.ts";

// The sleepers then wait at most about a second, so nothing is lost.
const SHORTEST_OUTAGE_MS = 500;
// How long a server may still refuse valid requests after an outage, while it loads rights and caches.
const RECOVERY_MS = 10_000;
// Attempts while the server is away are at most a second apart at first. Later the wait is at most a fortieth
// of the outage so far, up to the 30 s of client-go's reflector.
const FIRST_RETRY_MS = 1000;
export const LONGEST_RETRY_MS = 30_000;
const RETRY_SHARE = 1 / 40;

/** Whether one API server answers, according to all its clients. It sends no request itself. */
export class Reachability {
  readonly #clock: Clock;
  readonly #listeners = new Set<() => void>();
  /** Sleepers that were refused with a time to wait, and wait for any sign that the server is healthy. */
  readonly #impatient = new Set<() => void>();
  #awaySince: number | undefined;
  #backAt = Number.NEGATIVE_INFINITY;
  #recoveries = 0;

  /** Created with the first client of a server. */
  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** A GET, which no webhook can affect, got no answer from the server itself. */
  unanswered(): void {
    this.#awaySince ??= this.#clock.monotonic();
  }

  /** A request succeeded. */
  answered(): void {
    for (const wake of this.#impatient) wake();
    if (this.#awaySince === undefined) return;
    const now = this.#clock.monotonic();
    const lastedMs = now - this.#awaySince;
    this.#awaySince = undefined;
    if (lastedMs < SHORTEST_OUTAGE_MS) return;
    this.#backAt = now;
    this.#recoveries++;
    for (const listener of this.#listeners) listener();
  }

  /** When the outage began (ms, monotonic). Undefined while the server answers. */
  get awaySinceMs(): number | undefined {
    return this.#awaySince;
  }

  /** Number of outages that have ended. */
  get recoveries(): number {
    return this.#recoveries;
  }

  /** Whether an outage lasts, or ended less than ten seconds ago. */
  get unsettled(): boolean {
    return this.#awaySince !== undefined || this.#clock.monotonic() - this.#backAt < RECOVERY_MS;
  }

  /** Calls `listener` at the end of each outage, until the returned function is called. */
  onRecovery(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /**
   * Resolves after `ms`, or as soon as `signal` aborts or, unless `ignoresRecovery`, an outage ends. Never
   * rejects. True: woken by the end of an outage.
   */
  sleep(ms: number, signal: AbortSignal, ignoresRecovery = false): Promise<boolean> {
    return this.#sleep(ms, signal, ignoresRecovery ? undefined : this.#listeners);
  }

  /**
   * Like `sleep`, but any request that succeeds wakes it.
   * @internal
   */
  sleepUntilAnswered(ms: number, signal: AbortSignal): Promise<boolean> {
    return this.#sleep(ms, signal, this.#impatient);
  }

  #sleep(ms: number, signal: AbortSignal, wakers?: Set<() => void>): Promise<boolean> {
    return new Promise((resolve) => {
      const deadline = new Deadline(this.#clock, ms, signal);
      const wake = (): void => {
        resolve(true);
        deadline.abort();
      };
      wakers?.add(wake);
      deadline.whenOver(() => {
        wakers?.delete(wake);
        deadline.release();
        resolve(false);
      });
    });
  }
}

/** The longest wait before the next attempt, in ms, for a loop that has failed for `failingMs`. */
export function longestRetryMs(failingMs: number): number {
  return Math.min(LONGEST_RETRY_MS, Math.max(FIRST_RETRY_MS, failingMs * RETRY_SHARE));
}
