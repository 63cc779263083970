import assert from "node:assert/strict";
import { test } from "node:test";
import { ClockOffset } from "../../../packages/kube/rest/clock-offset.ts";
import { clockText } from "../../../src/controller/settings/clock-text.ts";
import { FakeClock } from "../../../packages/kube/testing/fake-clock.ts";

function measured(serverAheadMs: number, tookMs = 0): readonly number[] {
  const clock = new FakeClock();
  const offsets: number[] = [];
  const offset = new ClockOffset(clock, (ms) => offsets.push(ms));
  const sentMs = clock.monotonic() - tookMs;
  offset.measure(new Date(clock.now() + serverAheadMs).toUTCString(), sentMs);
  return offsets;
}

test("a clock's offset excludes whole seconds and the time of the request", () => {
  assert.deepEqual(measured(0), [0]);
  assert.deepEqual(measured(-5000, 10_000), [0]);
  const [behind = 0] = measured(600_000);
  assert.ok(behind <= -598_000 && behind >= -600_000, String(behind));
  const [ahead = 0] = measured(-600_000);
  assert.ok(ahead >= 598_000 && ahead <= 600_000, String(ahead));
});

test("one answer a minute is looked at, and none whose date cannot be read", async () => {
  const clock = new FakeClock();
  const offsets: number[] = [];
  const offset = new ClockOffset(clock, (ms) => offsets.push(ms));
  offset.measure(undefined, clock.monotonic());
  offset.measure("yesterday", clock.monotonic());
  assert.deepEqual(offsets, []);
  for (let second = 0; second < 120; second++) {
    offset.measure(new Date(clock.now()).toUTCString(), clock.monotonic());
    await clock.advance(1000);
  }
  assert.deepEqual(offsets, [0, 0]);
});

test("a clock that differs by half a minute is reported, with the direction", () => {
  assert.equal(clockText(29_000), undefined);
  assert.match(clockText(600_000) ?? "", /it is 10m ahead$/);
  assert.match(clockText(-600_000) ?? "", /it is 10m behind$/);
});
