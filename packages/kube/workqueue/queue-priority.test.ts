import assert from "node:assert/strict";
import { test } from "node:test";
import { WorkQueue } from "./queue.ts";
import { exponentialRateLimiter } from "./rate-limiter.ts";
import { FakeClock } from "../testing/fake-clock.ts";
import { take, takeAll, watched } from "../testing/queue-takers.ts";

function setup(): { readonly clock: FakeClock; readonly queue: WorkQueue<string> } {
  const clock = new FakeClock();
  const rateLimiter = exponentialRateLimiter<string>({ clock, baseMs: 1000, jitter: 0 });
  return { clock, queue: new WorkQueue<string>({ name: "test", clock, rateLimiter }) };
}

test("WQ-71 higher priority first, inside one the order of adding", async () => {
  const { queue } = setup();
  queue.add("low", { priority: -100 });
  queue.add("first");
  queue.add("high", { priority: 5 });
  queue.add("second");
  assert.deepEqual(await takeAll(queue), ["high", "first", "second", "low"]);
});

test("WQ-71 a raised priority puts the key at the end of its new priority", async () => {
  const { queue } = setup();
  queue.add("foo");
  queue.add("bar", { priority: 1 });
  queue.add("baz", { priority: 1 });
  queue.add("foo", { priority: 1 });
  queue.add("last", { priority: 1 });
  assert.deepEqual(await takeAll(queue), ["bar", "baz", "foo", "last"]);
});

test("WQ-71 a key that waited is ordered by when it became ready", async () => {
  const { clock, queue } = setup();
  queue.addAfter("delayed", 10);
  queue.add("before");
  await clock.advance(10);
  queue.add("after");
  assert.deepEqual(await takeAll(queue), ["before", "delayed", "after"]);
});

test("WQ-72 adding again never lowers a priority", async () => {
  const { queue } = setup();
  queue.add("high", { priority: 5 });
  queue.add("middle", { priority: 1 });
  queue.add("high", { priority: -100 });
  queue.add("high");
  assert.deepEqual(await queue.get(), { shutdown: false, key: "high", priority: 5 });
  assert.deepEqual(await queue.get(), { shutdown: false, key: "middle", priority: 1 });
});

test("WQ-70 a waiting key takes the higher priority and the earlier time of its adds", async () => {
  const { clock, queue } = setup();
  queue.add("foo", { after: 50, priority: 2 });
  queue.add("foo", { after: 10, priority: 1 });
  queue.add("bar", { after: 10, priority: 1 });
  queue.add("bar", { after: 50, priority: 3 });
  await clock.advance(10);
  assert.deepEqual(await queue.get(), { shutdown: false, key: "bar", priority: 3 });
  assert.deepEqual(await queue.get(), { shutdown: false, key: "foo", priority: 2 });
  queue.done("foo");
  queue.done("bar");
  await clock.advance(1000);
  assert.equal(queue.length, 0);
});

test("WQ-73 a key added while handed out keeps its own priority and is skipped until done", async () => {
  const { queue } = setup();
  queue.add("locked", { priority: 1 });
  await take(queue);
  queue.add("locked", { priority: 9 });
  queue.add("other", { priority: 1 });
  queue.add("lowest");
  assert.equal(await take(queue), "other");
  queue.done("locked");
  assert.deepEqual(await queue.get(), { shutdown: false, key: "locked", priority: 9 });
  assert.equal(await take(queue), "lowest");
});

test("WQ-73 a waiting get has the key as soon as it is unlocked", async () => {
  const { queue } = setup();
  queue.add("foo");
  await take(queue);
  queue.add("foo", { priority: 3 });
  const waiting = watched(queue.get());
  assert.equal(await waiting.value(), "pending");
  queue.done("foo");
  assert.deepEqual(await waiting.value(), { shutdown: false, key: "foo", priority: 3 });
});

test("WQ-74 waiting keys do not count in the length, whatever their priority", async () => {
  const { clock, queue } = setup();
  queue.add("foo", { after: 10, priority: 100 });
  assert.equal(queue.length, 0);
  await clock.advance(10);
  assert.equal(queue.length, 1);
});

test("WQ-76 of a rate limit and a delay given together the shorter wins", async () => {
  const { clock, queue } = setup();
  queue.add("short delay", { rateLimited: true, after: 10 });
  queue.add("long delay", { rateLimited: true, after: 5000 });
  await clock.advance(10);
  assert.deepEqual(await takeAll(queue), ["short delay"]);
  await clock.advance(989);
  assert.equal(queue.length, 0);
  await clock.advance(1);
  assert.deepEqual(await takeAll(queue), ["long delay"]);
});
