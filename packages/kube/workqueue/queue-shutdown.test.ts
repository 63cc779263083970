import assert from "node:assert/strict";
import { test } from "node:test";
import { WorkQueue } from "./queue.ts";
import { FakeClock } from "../testing/fake-clock.ts";
import { take, watched } from "../testing/queue-takers.ts";

const clock = new FakeClock();

function newQueue(...keys: readonly string[]): WorkQueue<string> {
  const queue = new WorkQueue<string>({ name: "test", clock });
  for (const key of keys) queue.add(key);
  return queue;
}

test("WQ-05 a waiting get is told of the shutdown", async () => {
  const queue = newQueue();
  const waiting = watched(queue.get());
  assert.equal(await waiting.value(), "pending");
  void queue.shutDown();
  assert.deepEqual(await waiting.value(), { shutdown: true });
});

test("WQ-07 after a shutdown an add is ignored, even for a key in processing", async () => {
  const queue = newQueue("foo");
  await take(queue);
  const stopped = watched(queue.shutDownWithDrain());
  queue.add("foo");
  queue.add("bar");
  queue.addRateLimited("bar");
  queue.done("foo");
  assert.equal(await stopped.value(), "finished");
  assert.equal(queue.length, 0);
});

test("WQ-07 a drain still hands out what was queued, then says shutdown", async () => {
  const queue = newQueue("foo", "bar");
  const stopped = watched(queue.shutDownWithDrain());
  assert.equal(await take(queue), "foo");
  assert.equal(await take(queue), "bar");
  assert.deepEqual(await queue.get(), { shutdown: true });
  queue.done("foo");
  assert.equal(await stopped.value(), "pending");
  queue.done("bar");
  assert.equal(await stopped.value(), "finished");
});

test("WQ-08 a drain hands out once more a key that was added while it was processing", async () => {
  const queue = newQueue("foo");
  await take(queue);
  queue.add("foo");
  const stopped = watched(queue.shutDownWithDrain());
  queue.done("foo");
  assert.equal(await take(queue), "foo");
  assert.equal(await stopped.value(), "pending");
  queue.done("foo");
  assert.deepEqual(await queue.get(), { shutdown: true });
  assert.equal(await stopped.value(), "finished");
});

test("WQ-09 a drain waits for a key that done has put back", async () => {
  const queue = newQueue("foo", "bar");
  await take(queue);
  await take(queue);
  queue.add("foo");
  const stopped = watched(queue.shutDownWithDrain());
  queue.done("foo");
  queue.done("bar");
  assert.equal(await stopped.value(), "pending");
  assert.equal(queue.length, 1);
});

test("WQ-09 a drain waits until both keys in flight are done", async () => {
  const queue = newQueue("foo", "bar");
  await take(queue);
  await take(queue);
  const stopped = watched(queue.shutDownWithDrain());
  assert.equal(await stopped.value(), "pending");
  queue.done("foo");
  assert.equal(await stopped.value(), "pending");
  queue.done("bar");
  assert.equal(await stopped.value(), "finished");
});

test("WQ-10 a plain shutdown releases the drain at once, without any done", async () => {
  const queue = newQueue("foo", "bar", "queued");
  await take(queue);
  await take(queue);
  const drained = watched(queue.shutDownWithDrain());
  const stopped = watched(queue.shutDown());
  assert.equal(await drained.value(), "superseded");
  assert.deepEqual(await queue.get(), { shutdown: true });
  assert.equal(await stopped.value(), "pending");
});

test("WQ-10 a worker that never finishes holds a drain only until its deadline", async () => {
  const queue = newQueue("stuck", "queued");
  await take(queue);
  const drained = watched(queue.shutDownWithDrain({ timeoutMs: 5000 }));
  await clock.advance(4999);
  assert.equal(await drained.value(), "pending");
  await clock.advance(1);
  assert.equal(await drained.value(), "timed-out");
  assert.deepEqual(await queue.get(), { shutdown: true });
});

test("WQ-10 a plain shutdown waits for work in flight until its deadline, by default 30 s", async () => {
  const queue = newQueue("slow", "stuck");
  await take(queue);
  await take(queue);
  const stopped = watched(queue.shutDown());
  queue.done("slow");
  await clock.advance(29_999);
  assert.equal(await stopped.value(), "pending");
  await clock.advance(1);
  assert.equal(await stopped.value(), "timed-out");
});

test("WQ-11 both shutdowns can be called again and again", async () => {
  const queue = newQueue("foo");
  await take(queue);
  const drains = [watched(queue.shutDownWithDrain()), watched(queue.shutDownWithDrain())];
  queue.done("foo");
  for (const drain of drains) assert.equal(await drain.value(), "finished");
  assert.equal(await queue.shutDown(), "finished");
  assert.equal(await queue.shutDown(), "finished");
  assert.equal(await queue.shutDownWithDrain(), "finished");
});

test("WQ-75 a plain shutdown drops what is queued and answers every get at once", async () => {
  const queue = newQueue("foo", "bar");
  queue.addAfter("later", 10);
  const stopped = queue.shutDown();
  assert.equal(queue.length, 0);
  assert.deepEqual(await queue.get(), { shutdown: true });
  assert.equal(await stopped, "finished");
});

test("WQ-75 a plain shutdown does not need the keys in flight to take effect", async () => {
  const queue = newQueue("foo", "bar");
  await take(queue);
  await take(queue);
  queue.add("foo");
  const stopped = watched(queue.shutDown());
  assert.deepEqual(await queue.get(), { shutdown: true });
  queue.done("foo");
  assert.equal(queue.length, 0);
  queue.done("bar");
  assert.equal(await stopped.value(), "finished");
});

test("WQ-27 delayed keys are lost at a shutdown of either kind, and so is their timer", async () => {
  for (const stop of ["shutDown", "shutDownWithDrain"] as const) {
    const own = new FakeClock();
    const queue = new WorkQueue<string>({ name: "test", clock: own });
    queue.addAfter("later", 50);
    assert.equal(await queue[stop](), "finished");
    assert.equal(own.timers, 0);
    await own.advance(1000);
    assert.equal(queue.length, 0);
  }
});
