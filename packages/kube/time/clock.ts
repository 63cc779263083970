// Time and randomness as an argument. Everything in kube/ that waits, measures or jitters takes a Clock, so
// that tests step it and never sleep. Wall time is for display. Monotonic time is for every decision, because
// the wall clock may jump.
import { uptime } from "node:os";

/** A scheduled call. */
export type Timer = { cancel(): void };

/** Time and randomness as an argument. Tests pass a clock that they step. */
export type Clock = {
  /** Wall time in milliseconds since the epoch. */
  now(): number;
  /** Milliseconds since an arbitrary start. Never decreases. */
  monotonic(): number;
  /**
   * Milliseconds since the machine was started, including suspended time, accurate to about ten milliseconds.
   * monotonic() does not count suspended time.
   */
  boottime(): number;
  /** Calls `fn` once after `ms` milliseconds (any non-negative length). */
  setTimeout(fn: () => void, ms: number): Timer;
  /** Uniform in [0, 1). */
  random(): number;
};

// Node fires a longer timer at once (its timers hold a signed 32-bit count of milliseconds).
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** The clock of this machine. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  boottime: () => uptime() * 1000,
  random: () => Math.random(),
  setTimeout(fn, ms) {
    let handle: NodeJS.Timeout;
    const arm = (left: number): void => {
      handle =
        left > LONGEST_TIMER_MS
          ? setTimeout(() => arm(left - LONGEST_TIMER_MS), LONGEST_TIMER_MS)
          : setTimeout(fn, Math.max(0, left));
    };
    arm(ms);
    return { cancel: () => clearTimeout(handle) };
  },
};

/** A moment by both clocks that never decrease. */
export type Moment = { readonly monotonic: number; readonly boottime: number };

export function momentOf(clock: Pick<Clock, keyof Moment>): Moment {
  return { monotonic: clock.monotonic(), boottime: clock.boottime() };
}

/** Milliseconds since `then`, by the clock that says more: for permissions whose expiry others observe. */
export function longestSince(clock: Pick<Clock, keyof Moment>, then: Moment): number {
  return Math.max(clock.monotonic() - then.monotonic, clock.boottime() - then.boottime);
}

/** The difference between wall time and monotonic time, for display. It changes when the wall clock jumps. */
export function wallOffsetMs(clock: Pick<Clock, "now" | "monotonic">): number {
  return clock.now() - clock.monotonic();
}

/** Resolves after `ms` milliseconds or as soon as `signal` aborts. Never rejects. */
export function sleep(clock: Clock, ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) {
      resolve();
      return;
    }
    const finish = (): void => {
      timer.cancel();
      signal?.removeEventListener("abort", finish);
      resolve();
    };
    const timer = clock.setTimeout(finish, ms);
    signal?.addEventListener("abort", finish, { once: true });
  });
}
