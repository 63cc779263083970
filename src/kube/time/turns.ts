// Splits long work into small steps, so that the event loop can do other work between them.
import { setImmediate } from "node:timers/promises";
import type { Clock } from "./clock.ts";

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
    await setImmediate();
    began = clock.monotonic();
  }
}
