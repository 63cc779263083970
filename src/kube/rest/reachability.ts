// Whether one API server answers, as all clients of it together find: what one of them learns, the
// others need not wait to learn. Promises: an outage begins with a GET that got no answer and ends
// with the first request of any kind that succeeds; its end wakes everyone who sleeps here, once, in
// the same turn. An outage shorter than half a second wakes nobody, so one path that is always refused
// beside others that work is not dialled at their pace. Sends no request of its own.
import type { Clock } from "../time/clock.ts";

// Sleepers wait no longer than about a second then, so nothing is lost.
const SHORTEST_OUTAGE_MS = 500;
// How long after an outage the server may still refuse what it will take: rights and caches load.
const RECOVERY_MS = 10_000;
// Tries while the server is away: at most a second apart at first, then at most a fortieth of the
// time that it has been away, up to the 30 s of client-go's reflector.
const FIRST_RETRY_MS = 1000;
export const LONGEST_RETRY_MS = 30_000;
const RETRY_SHARE = 1 / 40;

/** Whether one API server answers, as all clients of it together find; it sends nothing itself. */
export class Reachability {
  readonly #clock: Clock;
  readonly #listeners = new Set<() => void>();
  /** Those who were refused with a time to wait, and wait for any sign that the server is well. */
  readonly #impatient = new Set<() => void>();
  #awaySince: number | undefined;
  #backAt = Number.NEGATIVE_INFINITY;
  #returns = 0;

  /** Made with the first client of a server. */
  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** A GET, which depends on nobody's webhooks, got no answer from the server itself. */
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
    this.#returns++;
    for (const listener of this.#listeners) listener();
  }

  /** Since when the server has been away (ms, monotonic); undefined: it answers. */
  get awaySinceMs(): number | undefined {
    return this.#awaySince;
  }

  /** Outages that have ended. */
  get returns(): number {
    return this.#returns;
  }

  /** Whether an outage lasts, or ended less than ten seconds ago. */
  get unsettled(): boolean {
    return this.#awaySince !== undefined || this.#clock.monotonic() - this.#backAt < RECOVERY_MS;
  }

  /** Calls `listener` at the end of each outage, until the function that it returns is called. */
  onBack(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /**
   * Resolves after `ms`, or as soon as `signal` aborts or, unless `deaf`, an outage ends; never
   * rejects. True: woken by the end of an outage.
   */
  sleep(ms: number, signal: AbortSignal, deaf = false): Promise<boolean> {
    const listen = (wake: () => void): (() => void) => (deaf ? () => {} : this.onBack(wake));
    return this.#sleep(ms, signal, listen);
  }

  /**
   * As `sleep`, but any request that succeeds wakes.
   * @internal
   */
  sleepUntilAnswered(ms: number, signal: AbortSignal): Promise<boolean> {
    return this.#sleep(ms, signal, (wake) => {
      this.#impatient.add(wake);
      return () => void this.#impatient.delete(wake);
    });
  }

  #sleep(
    ms: number,
    signal: AbortSignal,
    listen: (wake: () => void) => () => void,
  ): Promise<boolean> {
    return new Promise((resolve) => {
      if (signal.aborted) {
        resolve(false);
        return;
      }
      const finish = (woken: boolean): void => {
        timer.cancel();
        forget();
        signal.removeEventListener("abort", cancel);
        resolve(woken);
      };
      const cancel = (): void => finish(false);
      const timer = this.#clock.setTimeout(cancel, ms);
      const forget = listen(() => finish(true));
      signal.addEventListener("abort", cancel, { once: true });
    });
  }
}

/** The longest wait before the next try, in ms, for a loop that has met no server for `failingMs`. */
export function longestRetryMs(failingMs: number): number {
  return Math.min(LONGEST_RETRY_MS, Math.max(FIRST_RETRY_MS, failingMs * RETRY_SHARE));
}
