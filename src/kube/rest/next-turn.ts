// Long work in steps, with a turn of the event loop between them.
import { setImmediate } from "node:timers";

/** Lets the event loop run other work that is due: probes, the renewal of a Lease. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** Runs `steps` to their end and returns their result. */
export async function inTurns<T>(steps: Iterator<undefined, T>): Promise<T> {
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
    await nextTurn();
  }
}
