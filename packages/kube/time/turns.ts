// Splits long work into small steps, so that the event loop can do other work between them: probes, the
// renewal of a Lease.
import { setImmediate } from "node:timers/promises";
import type { Clock } from "./clock.ts";

/** Lets the event loop run other work that is due. */
export function nextTurn(): Promise<void> {
  return setImmediate();
}

/** Returns the result of `steps`, for a caller that need not let other work run. */
export function finishAtOnce<T>(steps: Iterator<undefined, T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}

/** Returns the result of `steps`, with a turn of the event loop after each. */
export async function inTurns<T>(steps: Iterator<undefined, T>): Promise<T> {
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
    await nextTurn();
  }
}

/** Returns the result of `steps`. They hold the event loop for about `turnMs` at a time. */
export async function finishInTurns<T>(
  steps: Iterator<undefined, T>,
  clock: Pick<Clock, "monotonic">,
  turnMs: number,
): Promise<T> {
  let began = clock.monotonic();
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
    if (clock.monotonic() - began < turnMs) continue;
    await nextTurn();
    began = clock.monotonic();
  }
}
