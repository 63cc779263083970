// Which sources are known to have been there, for as long as copies name them.
import assert from "node:assert/strict";
import { test } from "node:test";
import { RecentTimes } from "../../../src/controller/state/recent-times.ts";

const MINUTE_MS = 60_000;

test("a source that is gone is known as long as a copy names it, and ten minutes more", () => {
  const gone = new RecentTimes(10 * MINUTE_MS, 10_000);
  gone.touch("named", 0);
  gone.touch("unnamed", 0);
  for (let minute = 1; minute <= 60; minute++) {
    assert.equal(gone.touchKnown("named", minute * MINUTE_MS), true);
    gone.expire(minute * MINUTE_MS);
    assert.equal(gone.size, minute < 10 ? 2 : 1);
  }
  gone.expire(69 * MINUTE_MS);
  assert.equal(gone.touchKnown("named", 69 * MINUTE_MS), true);
  gone.expire(79 * MINUTE_MS);
  assert.equal(gone.size, 0);
  assert.equal(gone.touchKnown("named", 79 * MINUTE_MS), false);
});

test("no pass for an hour forgets no source that a copy still names", () => {
  const gone = new RecentTimes(10 * MINUTE_MS, 10_000);
  gone.touch("named", 0);
  assert.equal(gone.touchKnown("named", 60 * MINUTE_MS), true);
  gone.expire(60 * MINUTE_MS);
  assert.equal(gone.touchKnown("named", 61 * MINUTE_MS), true);
});

test("of more than 10,000 sources that are gone those that longest nobody named are forgotten", () => {
  const gone = new RecentTimes(10 * MINUTE_MS, 10_000);
  for (let n = 0; n < 10_000; n++) gone.touch(`uid-${n}`, 0);
  assert.equal(gone.touchKnown("uid-0", 1), true);
  gone.touch("one more", 2);
  assert.equal(gone.size, 10_000);
  assert.equal(gone.touchKnown("uid-0", 3), true);
  assert.equal(gone.touchKnown("uid-1", 3), false);
});
