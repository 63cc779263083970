import assert from "node:assert/strict";
import { test } from "node:test";
import type { PooledWrite, WriteEnd } from "../../../src/controller/flowcontrol/pooled-write.ts";
import { WritePool } from "../../../src/controller/flowcontrol/write-pool.ts";
import { FakeClock, settle } from "../../../packages/kube/testing/fake-clock.ts";

type Job = PooledWrite;
const jobs = (...keys: string[]): Job[] => keys.map((key) => ({ key }));

/** A pool whose writes end when the test says so. */
function open(concurrency: number, stillHolds: (write: Job) => boolean = () => true) {
  const clock = new FakeClock();
  const flying = new Map<string, (ended: WriteEnd) => void>();
  const order: string[] = [];
  const cut: string[] = [];
  const pool = new WritePool<Job>(
    concurrency,
    clock,
    ({ key }, signal) => {
      order.push(key);
      signal.addEventListener("abort", () => cut.push(key));
      return new Promise((resolve) => flying.set(key, resolve));
    },
    stillHolds,
  );
  const end = async (key: string, ended: WriteEnd = { throttled: false }): Promise<void> => {
    flying.get(key)?.(ended);
    flying.delete(key);
    await settle();
  };
  return { clock, pool, order, flying, cut, end };
}

test("no more writes fly than allowed, and they start in the plan's order", async () => {
  const { pool, order, end } = open(2);
  pool.replace(jobs("a", "b", "c", "d"));
  assert.deepEqual(order, ["a", "b"]);
  await end("b");
  assert.deepEqual(order, ["a", "b", "c"]);
  assert.equal(pool.waiting, 1);
});

test("a newer plan replaces what waits and leaves alone what flies", async () => {
  const { pool, order, end } = open(2);
  pool.replace(jobs("a", "b", "c", "d"));
  pool.replace(jobs("e"));
  await end("a");
  await end("b");
  assert.deepEqual(order, ["a", "b", "e"]);
  await end("e");
  assert.equal(pool.idle, true);
});

test("a write whose key is in flight is not started twice", async () => {
  const { pool, order, end } = open(3);
  pool.replace(jobs("a"));
  pool.replace(jobs("a", "b"));
  assert.deepEqual(order, ["a", "b"]);
  await end("a");
  await end("b");
  assert.equal(pool.idle, true);
});

test("a plan does not repeat the writes that began and ended while it was made", async () => {
  const { pool, order, end } = open(1);
  pool.replace(jobs("a", "b", "c"));
  pool.beginPlan();
  await end("a");
  await end("b");
  pool.replace(jobs("b", "c", "d"));
  await end("c");
  await end("d");
  assert.deepEqual(order, ["a", "b", "c", "d"]);
  pool.beginPlan();
  pool.replace(jobs("b"));
  assert.deepEqual(order.at(-1), "b", "the next plan may write there again");
  await end("b");
});

const REFUSED: WriteEnd = { throttled: true, retryAfterMs: 3000 };
const numbered = (count: number): Job[] =>
  Array.from({ length: count }, (_, n) => ({ key: `${n}` }));

test("a write that is refused holds up no other", async () => {
  const { pool, order, end } = open(2);
  pool.replace(jobs("a", "b", "c", "d"));
  await end("a", REFUSED);
  assert.deepEqual(order, ["a", "b", "c"]);
  assert.equal(pool.limit, 2);
  for (const key of ["b", "c", "d"]) await end(key);
});

test("twenty consecutive refusals pause the pool and halve its flights", async () => {
  const { clock, pool, order, flying, end } = open(8);
  pool.replace(numbered(100));
  for (let n = 0; n < 20; n++) await end(`${n}`, REFUSED);
  assert.equal(pool.paused, true);
  const begun = order.length;
  for (const key of Array.from(flying.keys())) await end(key, REFUSED);
  assert.equal(pool.limit, 4, "once a pause, not once a write");
  await clock.advance(2999);
  assert.equal(order.length, begun);
  await clock.advance(1);
  assert.equal(order.length, begun + 4);
  const [next = ""] = flying.keys();
  await end(next, REFUSED);
  assert.equal(pool.paused, true, "one more refusal is enough");
});

test("what may fly grows back by one for each full round of successes", async () => {
  const { clock, pool, flying, end } = open(8);
  pool.replace(numbered(100));
  for (let n = 0; n < 20; n++) await end(`${n}`, REFUSED);
  await clock.advance(3000);
  assert.equal(pool.limit, 4);
  for (const limit of [5, 6, 7, 8, 8]) {
    for (const key of Array.from(flying.keys()).slice(0, pool.limit)) await end(key);
    assert.equal(pool.limit, limit);
    assert.ok(flying.size <= limit, "and no more fly");
  }
});

test("stop drops what waits, lets what flies end, and leaves no timer", async () => {
  const { clock, pool, order, end } = open(2);
  pool.replace(jobs("a", "b", "c"));
  await end("a");
  let stopped = false;
  const stopping = pool.stop().then(() => (stopped = true));
  await settle();
  await end("b");
  assert.equal(stopped, false);
  await end("c");
  await stopping;
  assert.deepEqual(order, ["a", "b", "c"]);
  assert.equal(clock.timers, 0);
});

test("nothing starts after stop, and a late 429 sets no timer", async () => {
  const { clock, pool, order, flying, end } = open(2);
  pool.replace(numbered(100));
  for (let n = 0; n < 20; n++) await end(`${n}`, REFUSED);
  assert.equal(pool.paused, true);
  const stopping = pool.stop();
  pool.replace(jobs("c"));
  for (const key of Array.from(flying.keys()))
    await end(key, { throttled: true, retryAfterMs: 60_000 });
  await stopping;
  assert.equal(order.includes("c"), false);
  assert.equal(clock.timers, 0);
});

test("the time of the last write that ended is known, whatever became of it", async () => {
  const { clock, pool, end } = open(2);
  assert.equal(pool.lastEndedMs, Number.NEGATIVE_INFINITY);
  pool.replace(jobs("a", "b"));
  await clock.advance(500);
  await end("b", { throttled: true });
  assert.equal(pool.lastEndedMs, 500);
  await end("a");
  await pool.stop();
});

test("no more bytes fly than a process has room for, but one write always may", async () => {
  const { pool, order, end } = open(32);
  const MIB = 2 ** 20;
  pool.replace(["a", "b", "c", "d"].map((key) => ({ key, bytes: (key === "d" ? 20 : 6) * MIB })));
  assert.deepEqual(order, ["a", "b"]);
  await end("a");
  assert.deepEqual(order, ["a", "b", "c"]);
  await end("b");
  await end("c");
  assert.deepEqual(order, ["a", "b", "c", "d"]);
});

test("a write that waited for its namespace also waits for room for its bytes", async () => {
  const { pool, order, end } = open(32);
  const MIB = 2 ** 20;
  const of = (key: string, mib: number): Job => ({
    key,
    bytes: mib * MIB,
    namespace: key[0] ?? "",
  });
  const others = ["b1", "c1", "d1", "e1"].map((key) => of(key, 3.5));
  pool.replace([of("a1", 2), of("a2", 3), ...others]);
  assert.deepEqual(order, ["a1", "b1", "c1", "d1", "e1"]);
  await end("a1");
  assert.equal(order.length, 5);
  assert.equal(pool.waiting, 1);
  await end("b1");
  assert.deepEqual(order.slice(5), ["a2"]);
  assert.equal(pool.waiting, 0);
});

/** Jobs of one source, each in the namespace that its key names. */
const copies = (source: string, ...keys: string[]): Job[] =>
  keys.map((key) => ({ key, source, namespace: key.slice(0, key.indexOf("/")) }));

test("a write without a valid decision does not start, and a newer plan is requested", async () => {
  const changed = new Set<string>();
  const { pool, order, end } = open(1, ({ key }) => !changed.has(key));
  pool.replace(copies("s/x", "a/x", "b/x", "c/x", "d/x"));
  changed.add("b/x").add("c/x");
  assert.equal(pool.outdated, false, "d/x still waits");
  await end("a/x");
  assert.deepEqual(order, ["a/x", "d/x"]);
  assert.equal(pool.outdated, true);
  changed.clear();
  pool.beginPlan();
  pool.replace(copies("s/x", "b/x"));
  assert.equal(pool.outdated, false);
  await end("d/x");
  assert.deepEqual(order.at(-1), "b/x", "the question is asked anew");
  await end("b/x");
});

test("a namespace has a quarter of the pool at most, shared by its sources", async () => {
  const { pool, flying, end } = open(16);
  const many = Array.from({ length: 30 }, (_, n) => `a/${n}`);
  pool.replace(copies("s/x", ...many));
  assert.equal(flying.size, 4);
  pool.replace([...copies("s/x", ...many.slice(4)), ...copies("s/y", "b/y")]);
  assert.ok(flying.has("b/y"));
  await end("a/0");
  assert.ok(flying.has("a/4"), "in its order");
  for (const key of Array.from(flying.keys())) await end(key);
  pool.replace([]);
  for (const key of Array.from(flying.keys())) await end(key);
  pool.beginPlan();
  const apart = Array.from({ length: 30 }, (_, n) => `n${n}/x`);
  pool.replace(apart.map((key) => ({ key, reads: true })));
  assert.equal(flying.size, 8);
  pool.replace([]);
  for (const key of Array.from(flying.keys())) await end(key);
  pool.beginPlan();
  pool.replace([...copies("s/x", "a/x"), ...copies("s/y", "z/y"), ...copies("s/x", ...apart)]);
  assert.equal(Array.from(flying.keys()).filter((key) => key.endsWith("/x")).length, 12);
});

test("a slow write is cut off once others need its room beyond a quarter", async () => {
  const { clock, pool, order, flying, cut, end } = open(8);
  const hung = Array.from({ length: 8 }, (_, n) => `h${n}/x`);
  pool.replace(copies("s/x", ...hung));
  await clock.advance(5000);
  assert.deepEqual(cut, [], "nobody waits");
  pool.beginPlan();
  pool.replace(copies("s/x", "fresh/x"));
  assert.deepEqual(cut, [], "an answer may lie there unread");
  await clock.advance(30);
  assert.equal(cut.length, 6);
  for (const key of Array.from(cut)) await end(key, { throttled: false, failed: true });
  assert.equal(order.at(-1), "fresh/x");
  await end("fresh/x");
  pool.beginPlan();
  pool.replace(copies("s/y", ...hung.map((key) => key.replace("x", "y")), "good/y"));
  const again = Array.from(flying.keys()).filter((key) => key.endsWith("/y"));
  assert.ok(again.includes("good/y"));
  assert.equal(again.length, 3, again.join());
});

test("a namespace stays slow until a write there is done quickly", async () => {
  const { clock, pool, flying, end } = open(8);
  const slow = ["h0", "h1", "h2", "h3"];
  const round = (source: string): number => {
    pool.beginPlan();
    pool.replace(copies(`s/${source}`, ...slow.map((name) => `${name}/${source}`)));
    return flying.size;
  };
  const endAll = async (failed: boolean): Promise<void> => {
    while (flying.size > 0)
      for (const key of Array.from(flying.keys())) await end(key, { throttled: false, failed });
  };
  assert.equal(round("first"), 4);
  await clock.advance(5000);
  await endAll(true);
  assert.equal(round("second"), 2);
  await endAll(true);
  assert.equal(round("third"), 2);
  await endAll(false);
  assert.equal(round("fourth"), 4);
  await endAll(false);
});

test("a source that was slow everywhere shares a quarter of the pool in new namespaces", async () => {
  const { clock, pool, flying, end } = open(8);
  const inNew = (source: string, first: number, count: number): Job[] =>
    copies(`s/${source}`, ...Array.from({ length: count }, (_, n) => `n${first + n}/${source}`));
  const endAll = async (): Promise<void> => {
    for (const key of Array.from(flying.keys())) await end(key);
  };
  const flyingAt = (first: number): number => {
    pool.beginPlan();
    pool.replace(inNew("x", first, 8));
    return flying.size;
  };
  assert.equal(flyingAt(0), 8);
  await endAll();
  pool.beginPlan();
  pool.replace(inNew("x", 100, 64));
  for (let round = 0; round < 64 && flying.size > 0; round++) {
    await clock.advance(2100);
    await endAll();
  }
  assert.equal(pool.idle, true);
  assert.equal(flyingAt(200), 2);
  pool.replace([...inNew("x", 300, 8), ...inNew("y", 400, 8)]);
  assert.equal(Array.from(flying.keys()).filter((key) => key.endsWith("/y")).length, 6);
});
