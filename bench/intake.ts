// What taking in one object takes of the event loop, from the bytes of a watch to the cache, for the
// worst objects that the API server lets anybody write. The fastest of several times is the object's
// own; beside it the ratio to 150,000 names parsed, about 10 ms on a quiet machine: it says more on a
// busy one.
import { intakeOf, longestTurn, reference } from "../test/support/planner/intake.ts";
import { worstObjects } from "../test/support/planner/worst-objects.ts";
import type { Bench } from "./scorecard.ts";

const LONGEST_MS = 50;
const TRIES = 15;

export const intake: Bench = {
  name: "intake",
  about: "one object taken in, whatever stands in it, at the API server's own limits",
  run(how) {
    const tries = how.quick ? 3 : TRIES;
    const referenceMs = fastestMs(tries, reference);
    how.say(`150,000 names parsed: ${referenceMs.toFixed(1)} ms`);
    const worst = { what: "", ms: 0 };
    for (const object of worstObjects()) {
      const { bytes, run } = intakeOf(object);
      if (!run()) throw new Error(`${object.what}: it did not arrive`);
      const turns = Array.from(
        { length: tries },
        () => longestTurn(run, () => performance.now()) ?? 0,
      );
      const ms = Math.min(...turns);
      if (ms > worst.ms) Object.assign(worst, { what: object.what, ms });
      const ratio = (ms / referenceMs).toFixed(2);
      const kilobytes = (bytes / 1000).toFixed(0);
      how.say(
        `${object.what.padEnd(48)} ${kilobytes.padStart(5)} kB ${ms.toFixed(1).padStart(6)} ms ${ratio.padStart(6)} x`,
      );
    }
    how.say(`the worst: ${worst.what}`);
    how.figure("longest intake of one object", worst.ms, "ms", { atMost: LONGEST_MS });
    return Promise.resolve();
  },
};

function fastestMs(tries: number, work: () => unknown): number {
  let fastest = Number.POSITIVE_INFINITY;
  for (let turn = 0; turn < tries; turn++) {
    const start = performance.now();
    work();
    fastest = Math.min(fastest, performance.now() - start);
  }
  return fastest;
}
