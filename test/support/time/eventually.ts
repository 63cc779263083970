// Waiting for a condition with a deadline, for tests that go through sockets and processes.
import { setTimeout } from "node:timers/promises";

/**
 * Calls `look` until it returns something that is not undefined, null or false, and returns that.
 * Throws after `timeoutMs` (60 s) with `what` and the last error that `look` threw, if any.
 */
export async function eventually<T>(
  what: string,
  look: () => T | Promise<T>,
  timeoutMs = 60_000,
): Promise<NonNullable<Exclude<T, false>>> {
  const deadline = performance.now() + timeoutMs;
  let cause: unknown;
  for (;;) {
    try {
      const seen = await look();
      if (isThere(seen)) return seen;
      cause = undefined;
    } catch (error) {
      cause = error;
    }
    if (performance.now() > deadline)
      throw new Error(`waited ${timeoutMs} ms in vain: ${what}`, { cause });
    await setTimeout(10);
  }
}

function isThere<T>(value: T): value is NonNullable<Exclude<T, false>> {
  return value !== undefined && value !== null && value !== false;
}
