// Long work in small steps, so that the event loop goes on between them.
import { setImmediate } from "node:timers/promises";
import type { Clock } from "../../kube/time/clock.ts";

/** What `steps` returns in the end; they hold the event loop for `turnMs` at a stretch, about. */
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
