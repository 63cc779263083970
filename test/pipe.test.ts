import assert from "node:assert/strict";
import { test } from "node:test";
import { WritePipe, type Ended } from "../src/pipe.ts";
import { FakeClock, settle } from "./support/clock.ts";

type Job = { readonly key: string };
const jobs = (...keys: string[]): Job[] => keys.map((key) => ({ key }));

/** A pipe whose writes end when the test says so. */
function open(concurrency: number) {
  const clock = new FakeClock();
  const flying = new Map<string, (ended: Ended) => void>();
  const order: string[] = [];
  const pipe = new WritePipe<Job>(concurrency, clock, ({ key }) => {
    order.push(key);
    return new Promise((resolve) => flying.set(key, resolve));
  });
  const end = async (key: string, ended: Ended = { throttled: false }): Promise<void> => {
    flying.get(key)?.(ended);
    flying.delete(key);
    await settle();
  };
  return { clock, pipe, order, flying, end };
}

test("no more writes fly than allowed, and they start in the plan's order", async () => {
  const { pipe, order, end } = open(2);
  pipe.replace(jobs("a", "b", "c", "d"));
  assert.deepEqual(order, ["a", "b"]);
  await end("b");
  assert.deepEqual(order, ["a", "b", "c"]);
  assert.equal(pipe.waiting, 1);
});

test("a newer plan replaces what waits and leaves alone what flies", async () => {
  const { pipe, order, end } = open(2);
  pipe.replace(jobs("a", "b", "c", "d"));
  pipe.replace(jobs("e"));
  await end("a");
  await end("b");
  assert.deepEqual(order, ["a", "b", "e"]);
  await end("e");
  assert.equal(pipe.idle, true);
});

test("a write whose key is in flight is not started twice", async () => {
  const { pipe, order, end } = open(3);
  pipe.replace(jobs("a"));
  pipe.replace(jobs("a", "b"));
  assert.deepEqual(order, ["a", "b"]);
  await end("a");
  await end("b");
  assert.equal(pipe.idle, true);
});

test("a plan does not repeat the writes that began and ended while it was made", async () => {
  const { pipe, order, end } = open(1);
  pipe.replace(jobs("a", "b", "c"));
  pipe.mark();
  await end("a");
  await end("b");
  pipe.replace(jobs("b", "c", "d"));
  await end("c");
  await end("d");
  assert.deepEqual(order, ["a", "b", "c", "d"]);
  pipe.mark();
  pipe.replace(jobs("b"));
  assert.deepEqual(order.at(-1), "b", "the next plan may write there again");
  await end("b");
});

test("a 429 halves what may fly and pauses the pipe for as long as the server asks", async () => {
  const { clock, pipe, order, end } = open(8);
  pipe.replace(jobs(...Array.from("abcdefghijklmnop")));
  for (const key of Array.from("abcdefgh")) await end(key, { throttled: true, retryAfterMs: 3000 });
  assert.equal(pipe.limit, 4);
  assert.equal(order.length, 8);
  await clock.advance(2999);
  assert.equal(order.length, 8);
  await clock.advance(1);
  assert.equal(order.length, 12);
});

test("what may fly grows back by one for each full round of successes", async () => {
  const { clock, pipe, end } = open(4);
  pipe.replace(jobs(...Array.from("abcdefghijklmnopqrstuvwxyz")));
  await end("a", { throttled: true });
  await clock.advance(1000);
  assert.equal(pipe.limit, 2);
  for (const key of Array.from("bcde")) await end(key);
  assert.equal(pipe.limit, 3);
  for (const key of Array.from("fghijklmnopqrs")) await end(key);
  assert.equal(pipe.limit, 4);
});

test("stop drops what waits, lets what flies end, and leaves no timer", async () => {
  const { clock, pipe, order, end } = open(2);
  pipe.replace(jobs("a", "b", "c"));
  await end("a", { throttled: true });
  let stopped = false;
  const stopping = pipe.stop().then(() => (stopped = true));
  await settle();
  assert.equal(stopped, false);
  await end("b");
  await stopping;
  assert.deepEqual(order, ["a", "b"]);
  assert.equal(clock.timers, 0);
});

test("after stop nothing starts any more, and a late 429 arms no timer", async () => {
  const { clock, pipe, order, end } = open(2);
  pipe.replace(jobs("a", "b"));
  const stopping = pipe.stop();
  pipe.replace(jobs("c"));
  await end("a", { throttled: true, retryAfterMs: 60_000 });
  await end("b");
  await stopping;
  assert.deepEqual(order, ["a", "b"]);
  assert.equal(clock.timers, 0);
});

test("the time of the last write that ended is known, whatever became of it", async () => {
  const { clock, pipe, end } = open(2);
  assert.equal(pipe.lastEndedMs, Number.NEGATIVE_INFINITY);
  pipe.replace(jobs("a", "b"));
  await clock.advance(500);
  await end("b", { throttled: true });
  assert.equal(pipe.lastEndedMs, 500);
  await end("a");
  await pipe.stop();
});
