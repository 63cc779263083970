// Waiting for a condition with a deadline, for tests that go through sockets and processes.
import { setTimeout } from "node:timers/promises";

/** Between two looks at least. */
const PAUSE_MS = 10;
/** A look that takes long is followed by a pause thrice its length, up to this. */
const LONGEST_PAUSE_MS = 250;
/** A long wait ends later by this part of it at most: a look is a request in most tests. */
const LATE = 0.1;
const LATE_MOST_MS = 100;

/**
 * Calls `look` until it returns something that is not undefined, null or false, and returns that.
 * Throws after `timeoutMs` (60 s) with `what` and the last error that `look` threw, if any.
 */
export async function eventually<T>(
  what: string,
  look: () => T | Promise<T>,
  timeoutMs = 60_000,
): Promise<NonNullable<Exclude<T, false>>> {
  const start = performance.now();
  const deadline = start + timeoutMs;
  let cause: unknown;
  for (;;) {
    const began = performance.now();
    try {
      const seen = await look();
      if (isThere(seen)) return seen;
      cause = undefined;
    } catch (error) {
      cause = error;
    }
    const now = performance.now();
    if (now > deadline) throw new Error(`waited ${timeoutMs} ms in vain: ${what}`, { cause });
    // What is waited for needs the machine as well.
    const pauseMs = Math.max(
      PAUSE_MS,
      3 * (now - began),
      Math.min(LATE * (now - start), LATE_MOST_MS),
    );
    await setTimeout(Math.min(pauseMs, LONGEST_PAUSE_MS));
  }
}

function isThere<T>(value: T): value is NonNullable<Exclude<T, false>> {
  return value !== undefined && value !== null && value !== false;
}
