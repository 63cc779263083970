import assert from "node:assert/strict";
import { test } from "node:test";
import { WorkQueue } from "./queue.ts";
import { FakeClock } from "../testing/fake-clock.ts";
import { take, takeAll, watched } from "../testing/queue-takers.ts";

function setup(): { readonly clock: FakeClock; readonly queue: WorkQueue<string> } {
  const clock = new FakeClock();
  return { clock, queue: new WorkQueue<string>({ name: "test", clock }) };
}

test("WQ-20 a delay of nothing, or less, is an add at once", async () => {
  const { clock, queue } = setup();
  queue.addAfter("zero", 0);
  queue.addAfter("past", -5);
  assert.deepEqual(await takeAll(queue), ["zero", "past"]);
  assert.equal(clock.timers, 0);
});

test("WQ-20 a delay that is no finite number is refused with its value", () => {
  const { queue } = setup();
  assert.throws(() => queue.addAfter("never", Number.NaN), /after NaN ms/);
  assert.throws(() => queue.addAfter("never", Infinity), /after Infinity ms/);
});

test("WQ-21 a delayed add after a shutdown is ignored", async () => {
  const { clock, queue } = setup();
  await queue.shutDownWithDrain();
  queue.addAfter("foo", 50);
  queue.addAfter("bar", 0);
  assert.equal(clock.timers, 0);
  await clock.advance(100);
  assert.equal(queue.length, 0);
});

test("WQ-22 of two delays the earlier counts, whichever came first", async () => {
  const { clock, queue } = setup();
  queue.addAfter("foo", 50);
  queue.addAfter("foo", 70);
  await clock.advance(49);
  assert.equal(queue.length, 0);
  await clock.advance(1);
  assert.deepEqual(await takeAll(queue), ["foo"]);
  await clock.advance(1000);
  assert.equal(queue.length, 0);

  queue.addAfter("foo", 50);
  queue.addAfter("foo", 30);
  await clock.advance(30);
  assert.deepEqual(await takeAll(queue), ["foo"]);
  await clock.advance(1000);
  assert.equal(queue.length, 0);
});

test("WQ-23 a key that comes due while it is processing runs once more after done", async () => {
  const { clock, queue } = setup();
  queue.add("foo");
  await take(queue);
  queue.addAfter("foo", 50);
  await clock.advance(60);
  assert.equal(queue.length, 0);
  queue.add("foo");
  queue.done("foo");
  assert.deepEqual(await takeAll(queue), ["foo"]);
});

test("WQ-23 a key that comes due goes to a get that waits", async () => {
  const { clock, queue } = setup();
  const waiting = watched(queue.get());
  queue.addAfter("foo", 50);
  await clock.advance(49);
  assert.equal(await waiting.value(), "pending");
  await clock.advance(1);
  assert.deepEqual(await waiting.value(), { shutdown: false, key: "foo", priority: 0 });
});

test("WQ-24 keys that become ready in one step come out by their times", async () => {
  const { clock, queue } = setup();
  queue.addAfter("first", 1000);
  queue.addAfter("second", 500);
  queue.addAfter("third", 250);
  await clock.advance(2000);
  assert.deepEqual(await takeAll(queue), ["third", "second", "first"]);
});

test("WQ-24 a shorter delay overtakes a longer one, and one added later comes last", async () => {
  const { clock, queue } = setup();
  queue.addAfter("foo", 1000);
  queue.addAfter("bar", 50);
  await clock.advance(60);
  assert.deepEqual(await takeAll(queue), ["bar"]);
  queue.addAfter("baz", 2000);
  await clock.advance(940);
  assert.deepEqual(await takeAll(queue), ["foo"]);
  await clock.advance(1060);
  assert.deepEqual(await takeAll(queue), ["baz"]);
});

test("WQ-24 a thousand random delays come out in order", async () => {
  const { clock, queue } = setup();
  const delays = Array.from({ length: 1000 }, (_, i) => ((i * 7919) % 1009) + 1);
  for (const ms of delays) queue.addAfter(`${ms}`, ms);
  await clock.advance(500);
  const early = await takeAll(queue);
  for (const ms of delays) if (ms % 2 === 0) queue.add(`${ms}`);
  await clock.advance(510);
  const rest = await takeAll(queue);
  const sorted = delays.toSorted((a, b) => a - b);
  const expected = sorted.filter((ms) => ms <= 500).map(String);
  assert.deepEqual(early, expected);
  const odd = sorted.filter((ms) => ms > 500 && ms % 2 === 1).map(String);
  assert.deepEqual(rest.slice(-odd.length), odd);
});

test("WQ-25 a due key is noticed at its time, however far away, and never again", async () => {
  const { clock, queue } = setup();
  queue.addAfter("foo", 50);
  assert.equal(queue.length, 0);
  await clock.advance(60);
  assert.deepEqual(await takeAll(queue), ["foo"]);
  await clock.advance(10_000);
  assert.equal(queue.length, 0);

  const days60 = 60 * 24 * 3600 * 1000;
  queue.addAfter("far", days60);
  await clock.advance(days60 - 1);
  assert.equal(queue.length, 0);
  await clock.advance(1);
  assert.deepEqual(await takeAll(queue), ["far"]);
});

test("WQ-26 an add at once replaces the pending delay: the key runs once", async () => {
  const { clock, queue } = setup();
  queue.addAfter("foo", 50);
  queue.add("foo");
  assert.deepEqual(await takeAll(queue), ["foo"]);
  assert.equal(clock.timers, 0);
  await clock.advance(1000);
  assert.equal(queue.length, 0);
});

test("WQ-70 a delayed add to a ready key does not delay it", async () => {
  const { clock, queue } = setup();
  queue.add("foo");
  queue.addAfter("foo", 50);
  assert.deepEqual(await takeAll(queue), ["foo"]);
  await clock.advance(1000);
  assert.equal(queue.length, 0, "a pass has to ask for its next run again");
});

test("WQ-70 a delay asked for while processing waits for its time after done", async () => {
  const { clock, queue } = setup();
  queue.add("foo");
  await take(queue);
  queue.addAfter("foo", 50);
  queue.done("foo");
  assert.equal(queue.length, 0);
  await clock.advance(50);
  assert.deepEqual(await takeAll(queue), ["foo"]);
});
