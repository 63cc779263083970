import assert from "node:assert/strict";
import { test } from "node:test";
import { Backoff } from "./backoff.ts";
import { FakeClock } from "../testing/fake-clock.ts";

function withChance(chance: number): FakeClock {
  const clock = new FakeClock();
  clock.chance = () => chance;
  return clock;
}

test("RF-35 waits double from 800 ms to 30 s", () => {
  const backoff = new Backoff({ clock: withChance(0) });
  const waits = Array.from({ length: 8 }, () => backoff.next());
  assert.deepEqual(waits, [800, 1600, 3200, 6400, 12_800, 25_600, 30_000, 30_000]);
});

test("RF-35 each wait is drawn from [d, 2d)", () => {
  const clock = withChance(0.999);
  const backoff = new Backoff({ clock });
  const first = backoff.next();
  assert.ok(first > 1590 && first < 1600, `first wait ${first}`);
  clock.chance = () => 0.25;
  assert.equal(backoff.next(), 2000);
});

test("RF-36 the sequence starts again when told so, and never by time alone", async () => {
  const clock = withChance(0);
  const backoff = new Backoff({ clock });
  await clock.advance(backoff.next());
  await clock.advance(backoff.next() + 30 * 60_000);
  assert.equal(backoff.next(), 3200);
  backoff.reset();
  assert.equal(backoff.next(), 800);
});

test("RF-38 a caller's own waits: 10 + 20 + 40 + 80 + 100", () => {
  const clock = withChance(0.9);
  const backoff = new Backoff({ clock, initialMs: 10, maxMs: 100, factor: 2, jitter: 0 });
  const waits = Array.from({ length: 5 }, () => backoff.next());
  assert.deepEqual(waits, [10, 20, 40, 80, 100]);
});

test("RF-35 settings that cannot make a backoff are refused with their values", () => {
  const clock = withChance(0);
  assert.throws(() => new Backoff({ clock, initialMs: 0 }), /from 0 ms to 30000 ms/);
  assert.throws(() => new Backoff({ clock, maxMs: 100 }), /from 800 ms to 100 ms/);
  assert.throws(() => new Backoff({ clock, factor: 0.5 }), /factor 0.5/);
});
