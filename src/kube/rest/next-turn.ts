// Long work in steps, with the event loop's turn between them.
import { setImmediate } from "node:timers";

/** Lets the event loop run whatever else is due: probes, the renewal of a Lease. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** What `steps` return at their end. */
export async function inTurns<T>(steps: Iterator<undefined, T>): Promise<T> {
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
    await nextTurn();
  }
}
