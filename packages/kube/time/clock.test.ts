import assert from "node:assert/strict";
import { test } from "node:test";
import { sleep, systemClock } from "./clock.ts";
import { FakeClock } from "../testing/fake-clock.ts";

test("sleep ends when its time has come, not before", async () => {
  const clock = new FakeClock();
  let done = false;
  const sleeping = sleep(clock, 1000).then(() => (done = true));
  await clock.advance(999);
  assert.equal(done, false);
  await clock.advance(1);
  assert.equal(done, true);
  await sleeping;
});

test("sleep ends at once when its signal aborts and leaves no timer", async () => {
  const clock = new FakeClock();
  const stop = new AbortController();
  const sleeping = sleep(clock, 60_000, stop.signal);
  stop.abort();
  await sleeping;
  assert.equal(clock.timers, 0);
  await sleep(clock, 60_000, stop.signal);
  assert.equal(clock.timers, 0);
});

test("a timer longer than Node's 2^31-1 ms does not fire at once", async () => {
  let fired = false;
  const timer = systemClock.setTimeout(() => (fired = true), 2 ** 31 + 1000);
  await new Promise((resolve) => setImmediate(resolve));
  timer.cancel();
  assert.equal(fired, false);
});
