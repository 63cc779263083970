// The pace of syncs follows from what planning costs, and never from their number.
import assert from "node:assert/strict";
import { test } from "node:test";
import { PlanningPace } from "../../../src/controller/sync/planning-pace.ts";

/** Plays syncs that are wanted every `everyMs`, or at once (0), for `forMs`; answers with when each started. */
function play(everyMs: number, costMs: number, forMs: number, urgent = true): readonly number[] {
  const pace = new PlanningPace();
  const starts: number[] = [];
  let now = 0;
  while (now < forMs) {
    now += pace.waitMs(now, urgent);
    starts.push(now);
    now += costMs;
    pace.planned(now, costMs);
    now = Math.max(now, everyMs * starts.length);
  }
  return starts;
}

test("a new namespace each 30 ms syncs at once while plans take 3 ms", () => {
  const starts = play(30, 3, 30_000);
  assert.deepEqual(
    starts,
    starts.map((_, index) => index * 30),
  );
});

for (const costMs of [0, 1, 5, 50, 400])
  test(`a storm of events with plans of ${costMs} ms costs a sixth of a core`, () => {
    const starts = play(0, costMs, 60_000);
    const busyMs = starts.length * costMs;
    // A single plan may be longer than a second's share.
    assert.ok(busyMs <= 60 * Math.max(1000 / 6 + costMs, costMs), `${busyMs} ms of a minute`);
    assert.ok(starts.length <= 60 * (1000 / 6 / 2 + 1), `${starts.length} syncs a minute`);
  });

test("a plan of 400 ms is followed by the next one within a second", () => {
  const starts = play(0, 400, 10_000);
  const waits = starts.slice(1).map((start, index) => start - (starts[index] ?? 0));
  assert.ok(Math.max(...waits) <= 1400);
});

test("a burst of forty plans of a millisecond waits for nothing", () => {
  assert.equal(play(0, 1, 60).at(-1), 59);
});

test("syncs without a new namespace take half of the share at most", () => {
  const starts = play(0, 10, 60_000, false);
  const busyMs = starts.length * 10;
  assert.ok(busyMs <= 60 * (1000 / 12 + 10), `${busyMs} ms of a minute`);
  const pace = new PlanningPace();
  for (let at = 0; at < 10; at++) pace.planned(at * 10, 10);
  assert.ok(pace.waitMs(100, false) > 0);
  assert.equal(pace.waitMs(100, true), 0);
});
