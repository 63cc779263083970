// Which sources are known to have been there, for as long as copies name them.
import assert from "node:assert/strict";
import { test } from "node:test";
import { GoneSources } from "../../../src/controller/state/gone-sources.ts";

const MINUTE_MS = 60_000;

test("a source that is gone is known as long as a copy names it, and ten minutes more", () => {
  const gone = new GoneSources();
  gone.add("named", 0);
  gone.add("unnamed", 0);
  for (let minute = 1; minute <= 60; minute++) {
    assert.equal(gone.has("named", minute * MINUTE_MS), true);
    gone.endPass(minute * MINUTE_MS);
    assert.equal(gone.size, minute < 10 ? 2 : 1);
  }
  gone.endPass(69 * MINUTE_MS);
  assert.equal(gone.has("named", 69 * MINUTE_MS), true);
  gone.endPass(79 * MINUTE_MS);
  assert.equal(gone.size, 0);
  assert.equal(gone.has("named", 79 * MINUTE_MS), false);
});

test("no pass for an hour forgets no source that a copy still names", () => {
  const gone = new GoneSources();
  gone.add("named", 0);
  assert.equal(gone.has("named", 60 * MINUTE_MS), true);
  gone.endPass(60 * MINUTE_MS);
  assert.equal(gone.has("named", 61 * MINUTE_MS), true);
});

test("of more than 10,000 sources that are gone those that longest nobody named are forgotten", () => {
  const gone = new GoneSources();
  for (let n = 0; n < 10_000; n++) gone.add(`uid-${n}`, 0);
  assert.equal(gone.has("uid-0", 1), true);
  gone.add("one more", 2);
  assert.equal(gone.size, 10_000);
  assert.equal(gone.has("uid-0", 3), true);
  assert.equal(gone.has("uid-1", 3), false);
});
