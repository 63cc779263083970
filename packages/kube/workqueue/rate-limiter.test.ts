import assert from "node:assert/strict";
import { test } from "node:test";
import { WorkQueue } from "./queue.ts";
import { exponentialRateLimiter } from "./rate-limiter.ts";
import type { RateLimiter } from "./rate-limiter.ts";
import { TokenBucket } from "../time/token-bucket.ts";
import { FakeClock } from "../testing/fake-clock.ts";
import { takeAll } from "../testing/queue-takers.ts";

const clock = new FakeClock();

function times(count: number, limiter: RateLimiter<string>, key: string): number[] {
  return Array.from({ length: count }, () => limiter.when(key));
}

test("WQ-40 a rate-limited add comes after the limiter's delay, each key by itself", async () => {
  const own = new FakeClock();
  const rateLimiter = exponentialRateLimiter<string>({ clock: own, baseMs: 1, jitter: 0 });
  const queue = new WorkQueue<string>({ name: "test", clock: own, rateLimiter });
  queue.addRateLimited("one");
  await own.advance(1);
  assert.deepEqual(await takeAll(queue), ["one"]);
  queue.addRateLimited("one");
  queue.addRateLimited("two");
  assert.deepEqual([queue.numRequeues("one"), queue.numRequeues("two")], [2, 1]);
  await own.advance(1);
  assert.deepEqual(await takeAll(queue), ["two"]);
  await own.advance(1);
  assert.deepEqual(await takeAll(queue), ["one"]);
});

test("WQ-40 forget clears the history only: a key in processing still needs done", async () => {
  const own = new FakeClock();
  const rateLimiter = exponentialRateLimiter<string>({ clock: own, baseMs: 1000, jitter: 0 });
  const queue = new WorkQueue<string>({ name: "test", clock: own, rateLimiter });
  queue.addRateLimited("one");
  await own.advance(1000);
  await queue.get();
  queue.forget("one");
  assert.equal(queue.numRequeues("one"), 0);
  queue.add("one");
  assert.equal(queue.length, 0);
  queue.done("one");
  assert.deepEqual(await takeAll(queue), ["one"]);
  queue.addRateLimited("one");
  await own.advance(1000);
  assert.deepEqual(await takeAll(queue), ["one"]);
});

test("WQ-41 item exponential doubles for each key by itself until it is forgotten", () => {
  const limiter = exponentialRateLimiter<string>({ clock, baseMs: 1, maxMs: 1000, jitter: 0 });
  assert.deepEqual(times(5, limiter, "one"), [1, 2, 4, 8, 16]);
  assert.equal(limiter.numRequeues("one"), 5);
  assert.deepEqual(times(2, limiter, "two"), [1, 2]);
  limiter.forget("one");
  assert.equal(limiter.numRequeues("one"), 0);
  assert.equal(limiter.when("one"), 1);
  assert.equal(limiter.when("two"), 4);
});

test("WQ-41 a thousand failures and more give exactly the cap", () => {
  for (const [baseMs, maxMs] of [
    [1, 1_000_000],
    [60_000, 3_600_000_000],
  ] as const) {
    const limiter = exponentialRateLimiter<string>({ clock, baseMs, maxMs, jitter: 0 });
    const delays = times(1100, limiter, "one");
    assert.equal(delays[999], maxMs);
    assert.equal(delays.at(-1), maxMs);
  }
});

test("WQ-42 the default limiter starts at 5 ms, spreads ±10 % and never passes 5 minutes", async () => {
  const own = new FakeClock();
  for (const [chance, first, last] of [
    [0, 4.5, 245_454],
    [0.5, 5, 272_727],
    [0.999999, 5.5, 300_000],
  ] as const) {
    own.chance = () => chance;
    const limiter = exponentialRateLimiter<string>({ clock: own });
    const delays = times(30, limiter, "one");
    assert.ok(Math.abs((delays[0] ?? 0) - first) < 0.001, `first delay ${delays[0]}`);
    assert.ok(Math.abs((delays.at(-1) ?? 0) - last) < 1, `last delay ${delays.at(-1)}`);
    assert.ok(Math.max(...delays) <= 300_000);
  }
});

test("WQ-42 a queue that is given no limiter uses the default one", async () => {
  const own = new FakeClock();
  const queue = new WorkQueue<string>({ name: "test", clock: own });
  queue.addRateLimited("one");
  await own.advance(4.9);
  assert.equal(queue.length, 0);
  await own.advance(0.1);
  assert.deepEqual(await takeAll(queue), ["one"]);
});

test("WQ-43 a token bucket refuses takes over its burst and refills at its rate", async () => {
  const own = new FakeClock();
  const tokens = new TokenBucket({ clock: own, perSecond: 2, burst: 3 });
  assert.deepEqual(
    [1, 2, 3, 4].map(() => tokens.tryTake()),
    [true, true, true, false],
  );
  await own.advance(499);
  assert.equal(tokens.tryTake(), false);
  await own.advance(1);
  assert.equal(tokens.tryTake(), true);
  assert.ok(tokens.fullInMs > 0);
  await own.advance(60_000);
  assert.equal(tokens.fullInMs, 0);
  assert.deepEqual(
    [1, 2, 3, 4].map(() => tokens.tryTake()),
    [true, true, true, false],
  );
  assert.throws(() => new TokenBucket({ clock: own, perSecond: 0, burst: 3 }), /of 3 with 0/);
});
