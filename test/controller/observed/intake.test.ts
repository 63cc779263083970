// Taking in one object, whatever it holds, costs bounded work. The measure is the ratio to a piece of work
// of about 10 ms, of processor time and not of time that passes; of a long line, its longest turn counts.
// The fastest of several tries is the object's own time, without compilation and garbage. Four times the
// reference is allowed, because other tests share the processor's caches: unbounded work takes ten times
// as much and more. `npm run bench -- intake` judges the 10 ms.
import assert from "node:assert/strict";
import { test } from "node:test";
import { intakeOf, longestTurn, reference } from "../../support/planner/intake.ts";
import { worstObjects } from "../../support/planner/worst-objects.ts";
import { processorMs, processorMsOf } from "../../support/time/processor.ts";

// The probes of a coverage run cost more than the work itself.
const skip = process.env["NODE_V8_COVERAGE"] ? "a time means nothing under coverage" : false;

const TRIES = 20;
const SLACK = 4;

for (const object of worstObjects()) {
  test(`one object is taken in in bounded time: ${object.what}`, { skip }, () => {
    const { run } = intakeOf(object);
    assert.equal(run(), true, "it arrives");
    let [own, loop] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
    for (let turn = 0; turn === 0 || (turn < TRIES && own > SLACK * loop); turn++) {
      loop = Math.min(loop, processorMsOf(reference));
      own = Math.min(own, longestTurn(run, processorMs) ?? 0);
    }
    assert.ok(own <= SLACK * loop, `${own} ms, where 10 ms are now ${loop} ms`);
  });
}
