// Taking in one object, whatever stands in it, takes a bounded time of the processor, measured by what
// takes 10 ms on a quiet machine; of a long line, its longest turn. The fastest of several tries is the object's own time, without
// compilation, garbage or what others made of the processor meanwhile. Twice the reference is allowed
// here, where other tests share the processor's caches; npm run bench -- intake judges the 10 ms. What
// is not bounded takes ten times as much and more.
import assert from "node:assert/strict";
import { test } from "node:test";
import { intakeOf, longestTurn, reference } from "../../support/planner/intake.ts";
import { worstObjects } from "../../support/planner/worst-objects.ts";
import { processorMs, processorMsOf } from "../../support/time/processor.ts";

// The probes of a coverage run cost more than the work itself.
const skip = process.env["NODE_V8_COVERAGE"] ? "a time means nothing under coverage" : false;

const TRIES = 20;
const SLACK = 2;

for (const object of worstObjects()) {
  test(`S13 one object is taken in in bounded time: ${object.what}`, { skip }, () => {
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
