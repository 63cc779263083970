import assert from "node:assert/strict";
import { setImmediate } from "node:timers/promises";
import { test } from "node:test";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { WorkQueue } from "./queue.ts";
import { FakeClock } from "../testing/fake-clock.ts";
import { take, watched } from "../testing/queue-takers.ts";

function newQueue(): WorkQueue<string> {
  return new WorkQueue<string>({ name: "test", clock: new FakeClock() });
}

test("WQ-01 keys come out in the order of their first add", async () => {
  const queue = newQueue();
  for (const key of ["b", "a", "c", "a"]) queue.add(key);
  assert.deepEqual([await take(queue), await take(queue), await take(queue)], ["b", "a", "c"]);
});

test("WQ-02 adding a queued key again changes nothing", async () => {
  const queue = newQueue();
  queue.add("foo");
  queue.add("bar");
  queue.add("foo");
  assert.equal(queue.length, 2);
  assert.equal(await take(queue), "foo");
  assert.equal(await take(queue), "bar");
  assert.equal(queue.length, 0);
});

test("WQ-02 two adds before a get collapse to one hand-out", async () => {
  const queue = newQueue();
  queue.add("foo");
  queue.add("foo");
  queue.done(await take(queue));
  assert.equal(await watched(queue.get()).value(), "pending");
});

test("WQ-03 a key that is processing is not handed out again", async () => {
  const queue = newQueue();
  queue.add("foo");
  assert.equal(await take(queue), "foo");
  queue.add("foo");
  const second = watched(queue.get());
  assert.equal(await second.value(), "pending");
  queue.done("foo");
  assert.deepEqual(await second.value(), { shutdown: false, key: "foo", priority: 0 });
});

test("WQ-03 a key in processing does not hold up the others", async () => {
  const queue = newQueue();
  queue.add("foo");
  await take(queue);
  queue.add("foo");
  queue.add("bar");
  assert.equal(await take(queue), "bar");
});

test("WQ-04 any number of adds during processing yields exactly one more run", async () => {
  const queue = newQueue();
  queue.add("foo");
  await take(queue);
  for (let i = 0; i < 100; i++) queue.add("foo");
  queue.done("foo");
  assert.equal(queue.length, 1);
  queue.done(await take(queue));
  assert.equal(queue.length, 0);
});

test("WQ-05 a get waits while the queue is empty and takes the next key added", async () => {
  const queue = newQueue();
  const first = watched(queue.get());
  const second = watched(queue.get());
  assert.equal(await first.value(), "pending");
  queue.add("foo");
  assert.deepEqual(await first.value(), { shutdown: false, key: "foo", priority: 0 });
  assert.equal(await second.value(), "pending");
});

test("WQ-06 done puts a key that was added meanwhile at the tail", async () => {
  const queue = newQueue();
  queue.add("foo");
  await take(queue);
  queue.add("foo");
  queue.add("bar");
  queue.done("foo");
  assert.deepEqual([await take(queue), await take(queue)], ["bar", "foo"]);
});

test("WQ-06 done for a key that nobody has is ignored", async () => {
  const queue = newQueue();
  queue.done("foo");
  queue.add("foo");
  queue.done("foo");
  assert.equal(await take(queue), "foo");
});

test("WQ-12 a finished key is not kept alive by the queue", async () => {
  setFlagsFromString("--expose-gc");
  const collect: () => void = runInNewContext("gc");
  const queue = new WorkQueue<object>({ name: "test", clock: new FakeClock() });
  const gone = await addAndFinish(queue);
  for (let i = 0; i < 20 && gone.deref(); i++) {
    await setImmediate();
    collect();
  }
  assert.equal(gone.deref(), undefined);
});

async function addAndFinish(queue: WorkQueue<object>): Promise<WeakRef<object>> {
  const key = { name: "foo" };
  queue.add(key);
  queue.addAfter(key, 1000);
  queue.done(await take(queue));
  return new WeakRef(key);
}

test("WQ-13 length counts what a get could have: not processing, not delayed", async () => {
  const queue = newQueue();
  queue.add("foo");
  assert.equal(queue.length, 1);
  queue.add("bar");
  queue.addAfter("later", 1000);
  assert.equal(queue.length, 2);
  await take(queue);
  queue.add("foo");
  assert.equal(queue.length, 1);
});

for (const stop of ["shutDown", "shutDownWithDrain"] as const) {
  test(`WQ-07 fifty producers and ten workers, then ${stop}: each key ran, none after it`, async () => {
    const queue = newQueue();
    const ran = new Map<string, number>();
    const workers = Array.from({ length: 10 }, () => work(queue, ran));
    await produce(queue);
    const stopped = queue[stop]();
    queue.add("added after shutdown");
    await Promise.all([...workers, stopped]);
    assert.equal(ran.size, 2500);
    assert.ok(!ran.has("added after shutdown"));
    assert.equal(queue.length, 0);
  });

  test(`WQ-04 every worker adds each key once more while it runs, then ${stop}`, async () => {
    const queue = newQueue();
    const ran = new Map<string, number>();
    const again = (key: string): void => {
      if (!ran.has(key)) queue.add(key);
    };
    const workers = Array.from({ length: 10 }, () => work(queue, ran, again));
    await produce(queue);
    await Promise.all([queue[stop](), ...workers]);
    assert.equal(ran.size, 2500);
    assert.deepEqual([...new Set(ran.values())], [2]);
    assert.equal(queue.length, 0);
  });
}

/** Fifty producers add fifty keys each; ends when the workers have caught up. */
async function produce(queue: WorkQueue<string>): Promise<void> {
  const producer = async (name: number): Promise<void> => {
    for (let i = 0; i < 50; i++) {
      queue.add(`${name}/${i}`);
      if (i % 10 === 0) await setImmediate();
    }
  };
  await Promise.all(Array.from({ length: 50 }, (_, name) => producer(name)));
  while (queue.length > 0) await setImmediate();
  for (let turn = 0; turn < 5; turn++) await setImmediate();
}

async function work(
  queue: WorkQueue<string>,
  ran: Map<string, number>,
  before: (key: string) => void = () => {},
): Promise<void> {
  for (;;) {
    const item = await queue.get();
    if (item.shutdown) return;
    before(item.key);
    if (ran.size % 7 === 0) await setImmediate();
    ran.set(item.key, (ran.get(item.key) ?? 0) + 1);
    queue.done(item.key);
  }
}
