import assert from "node:assert/strict";
import { test } from "node:test";
import { WorkQueue } from "./queue.ts";
import type { QueueMetrics } from "./queue-metrics.ts";
import { FakeClock } from "../testing/fake-clock.ts";
import { take } from "../testing/queue-takers.ts";

/** What a scrape would show. */
class Scrape implements QueueMetrics {
  depths = 0;
  adds = 0;
  latencies: number[] = [];
  durations: number[] = [];
  unfinishedSeconds = 0;
  longestSeconds = 0;
  retries = 0;
  depth(keys: number): void {
    this.depths = keys;
  }
  add(): void {
    this.adds++;
  }
  latency(seconds: number): void {
    this.latencies.push(round(seconds));
  }
  workDuration(seconds: number): void {
    this.durations.push(round(seconds));
  }
  unfinished(seconds: number): void {
    this.unfinishedSeconds = round(seconds);
  }
  longestRunning(seconds: number): void {
    this.longestSeconds = round(seconds);
  }
  retry(): void {
    this.retries++;
  }
}

function round(seconds: number): number {
  return Math.round(seconds * 1e9) / 1e9;
}

type Setup = {
  readonly clock: FakeClock;
  readonly metrics: Scrape;
  readonly queue: WorkQueue<string>;
};

function setup(name = "test"): Setup {
  const clock = new FakeClock();
  const metrics = new Scrape();
  return { clock, metrics, queue: new WorkQueue<string>({ name, clock, metrics }) };
}

test("WQ-60 the walk of one key: add, get, adds meanwhile, done, get", async () => {
  const { clock, metrics, queue } = setup();
  queue.add("foo");
  assert.deepEqual([metrics.adds, metrics.depths], [1, 1]);
  await clock.advance(0.05);
  await take(queue);
  assert.deepEqual(metrics.latencies, [0.00005]);
  assert.equal(metrics.depths, 0);

  for (let i = 0; i < 5; i++) queue.add("foo");
  assert.deepEqual([metrics.adds, metrics.depths], [2, 1]);
  await clock.advance(0.025);
  queue.done("foo");
  assert.deepEqual(metrics.durations, [0.000025]);
  assert.deepEqual([metrics.adds, metrics.depths], [2, 1]);

  await take(queue);
  assert.deepEqual(metrics.latencies, [0.00005, 0.000025]);
  assert.equal(metrics.depths, 0);
});

test("WQ-60 work in flight is reported each 500 ms: the sum of ages and the oldest", async () => {
  const { clock, metrics, queue } = setup();
  queue.add("old");
  await take(queue);
  await clock.advance(400);
  queue.add("young");
  await take(queue);
  await clock.advance(100);
  assert.deepEqual([metrics.unfinishedSeconds, metrics.longestSeconds], [0.6, 0.5]);
  await clock.advance(499);
  assert.deepEqual([metrics.unfinishedSeconds, metrics.longestSeconds], [0.6, 0.5]);
  await clock.advance(1);
  assert.deepEqual([metrics.unfinishedSeconds, metrics.longestSeconds], [1.6, 1]);
});

test("WQ-60 the gauges of work in flight fall to 0 with the last done", async () => {
  const { clock, metrics, queue } = setup();
  queue.add("foo");
  await take(queue);
  await clock.advance(1000);
  queue.done("foo");
  assert.deepEqual([metrics.unfinishedSeconds, metrics.longestSeconds], [0, 0]);
  assert.equal(clock.timers, 0);
});

test("WQ-60 a merged add does not count, one that waits counts when it becomes ready", async () => {
  const { clock, metrics, queue } = setup();
  queue.addAfter("foo", 50);
  assert.deepEqual([metrics.adds, metrics.depths], [0, 0]);
  queue.add("foo");
  queue.add("foo");
  assert.deepEqual([metrics.adds, metrics.depths], [1, 1]);
  queue.addAfter("bar", 50);
  await clock.advance(50);
  queue.add("bar", { priority: 7 });
  assert.deepEqual([metrics.adds, metrics.depths], [2, 2]);
});

test("WQ-61 a queue without a name publishes nothing and runs no refresh timer", async () => {
  const { clock, metrics, queue } = setup("");
  queue.add("foo");
  await take(queue);
  assert.deepEqual(metrics, new Scrape());
  assert.equal(clock.timers, 0);
});

for (const stop of ["shutDown", "shutDownWithDrain"] as const) {
  test(`WQ-61 the refresh stops at ${stop}, though work is in flight`, async () => {
    const { clock, metrics, queue } = setup();
    queue.add("foo");
    await take(queue);
    await clock.advance(500);
    const stopped = queue[stop]({ timeoutMs: 2000 });
    await clock.advance(1000);
    assert.equal(metrics.unfinishedSeconds, 0.5);
    assert.equal(clock.timers, 1, "only the deadline of the shutdown is left");
    queue.done("foo");
    assert.equal(await stopped, "finished");
    assert.equal(clock.timers, 0);
  });
}

test("WQ-61 a key handed out during a drain does not start the refresh again", async () => {
  const { clock, metrics, queue } = setup();
  queue.add("foo");
  const stopped = queue.shutDownWithDrain({ timeoutMs: 2000 });
  await take(queue);
  await clock.advance(1000);
  assert.equal(metrics.unfinishedSeconds, 0);
  queue.done("foo");
  assert.equal(await stopped, "finished");
  assert.deepEqual(metrics.durations, [1]);
});

test("WQ-61 a shutdown that drops keys leaves a depth of 0", async () => {
  const { metrics, queue } = setup();
  queue.add("foo");
  queue.add("bar");
  await queue.shutDown();
  assert.equal(metrics.depths, 0);
});

test("WQ-74 retries rise with every delay above zero, and only then", async () => {
  const { metrics, queue } = setup();
  queue.add("foo");
  queue.addAfter("foo", 0);
  queue.addAfter("foo", -1);
  assert.equal(metrics.retries, 0);
  queue.addAfter("foo", 10);
  queue.addRateLimited("foo");
  queue.add("bar", { after: 20 });
  assert.equal(metrics.retries, 3);
});
