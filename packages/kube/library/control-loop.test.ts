// The loop that secretcast/kube gives to others, on stepped time and caches that the test fills.
import assert from "node:assert/strict";
import { test } from "node:test";
import { runControlLoop } from "./control-loop.ts";
import type { ControlLoopOptions, SyncFailure } from "./control-loop.ts";
import { WorkQueue } from "../workqueue/queue.ts";
import { FakeClock, settle } from "../testing/fake-clock.ts";

/** A cache that is filled when the test says so. */
class Cache {
  readonly calls: string[] = [];
  readonly #filled = Promise.withResolvers<boolean>();

  start(): void {
    this.calls.push("start");
  }

  async stop(): Promise<void> {
    this.calls.push("stop");
  }

  fill(): void {
    this.#filled.resolve(true);
  }

  async waitForSync(signal?: AbortSignal): Promise<boolean> {
    const end = new Promise<boolean>((resolve) =>
      signal?.addEventListener("abort", () => resolve(false)),
    );
    return Promise.race([this.#filled.promise, end]);
  }
}

type Sync = ControlLoopOptions<string>["sync"];

function play(sync: Sync, options: Partial<ControlLoopOptions<string>> = {}) {
  const clock = new FakeClock();
  const queue = new WorkQueue<string>({ clock });
  const caches = [new Cache(), new Cache()];
  const stop = new AbortController();
  const failures: SyncFailure<string>[] = [];
  const running = runControlLoop({
    name: "test",
    clock,
    informers: caches,
    queue,
    sync,
    signal: stop.signal,
    onFailure: (failure) => failures.push(failure),
    ...options,
  });
  running.catch(() => undefined);
  /** Fills the caches, and adds the key "a". */
  const begin = (): void => {
    for (const cache of caches) cache.fill();
    queue.add("a");
  };
  const end = async (): Promise<void> => {
    stop.abort();
    await running;
  };
  return { clock, queue, caches, stop, failures, running, begin, end };
}

test("CL-03 no key is synced before every cache is filled", async () => {
  const synced: string[] = [];
  const { queue, caches, end } = play(async (key) => void synced.push(key));
  queue.add("a");
  caches[0]?.fill();
  await settle();
  assert.deepEqual(synced, []);
  caches[1]?.fill();
  await settle();
  assert.deepEqual(synced, ["a"]);
  await end();
  for (const cache of caches) assert.deepEqual(cache.calls, ["start", "stop"]);
});

test("CL-03 caches that do not fill in time are an error that counts them", async () => {
  const { clock, caches, running } = play(async () => undefined, { fillTimeoutMs: 1000 });
  caches[0]?.fill();
  await clock.advance(1000);
  await assert.rejects(running, /^Error: test: 1 of 2 caches are not filled after 1000 ms/);
  for (const cache of caches) assert.deepEqual(cache.calls, ["start", "stop"]);
});

test("CL-03 an end before the caches are filled is no error", async () => {
  const { end } = play(async () => undefined);
  await end();
});

test("CL-07 CL-06 a sync that fails is tried again, later each time, and a success forgets", async () => {
  let failing = 3;
  const at: number[] = [];
  const { clock, queue, failures, begin, end } = play(async () => {
    at.push(clock.monotonic());
    if (failing-- > 0) throw new Error("no");
  });
  begin();
  await clock.advance(1000);
  assert.deepEqual(at, [0, 5, 15, 35]);
  assert.deepEqual(
    failures.map(({ key, again }) => [key, again]),
    [
      ["a", true],
      ["a", true],
      ["a", true],
    ],
  );
  assert.equal(queue.numRequeues("a"), 0);
  await end();
  assert.equal(clock.timers, 0);
});

test("CL-08 with maxRetries a key is dropped after so many, until it is added again", async () => {
  let runs = 0;
  const { clock, queue, failures, begin, end } = play(
    async () => {
      runs++;
      throw new Error("no");
    },
    { maxRetries: 2 },
  );
  begin();
  await clock.advance(60_000);
  assert.equal(runs, 3);
  assert.deepEqual(
    failures.map(({ again }) => again),
    [true, true, false],
  );
  queue.add("a");
  await clock.advance(60_000);
  assert.equal(runs, 6);
  await end();
});

test("CL-12 a sync that asks for it is run again after its time", async () => {
  const at: number[] = [];
  const { clock, begin, end } = play(async () => {
    at.push(clock.monotonic());
    return { requeueAfterMs: 400 };
  });
  begin();
  await clock.advance(1000);
  assert.deepEqual(at, [0, 400, 800]);
  await end();
});

test("CL-15 a sync that takes too long is reported by its signal, and tried again", async () => {
  let runs = 0;
  const { clock, failures, begin, end } = play(
    (_, signal) =>
      new Promise((resolve, reject) => {
        if (runs++ > 0) resolve();
        signal.addEventListener("abort", () => reject(new Error("too long")));
      }),
    { syncTimeoutMs: 500 },
  );
  begin();
  await clock.advance(499);
  assert.equal(failures.length, 0);
  await clock.advance(1000);
  assert.equal(failures.length, 1);
  assert.equal(runs, 2);
  await end();
  assert.equal(clock.timers, 0);
});

test("CL-20 CL-23 the end waits for the sync that runs, and starts no other", async () => {
  const finish = Promise.withResolvers<void>();
  const synced: string[] = [];
  const { queue, caches, stop, running, begin } = play(async (key) => {
    synced.push(key);
    await finish.promise;
  });
  begin();
  queue.add("b");
  await settle();
  stop.abort();
  await settle();
  assert.deepEqual(caches[0]?.calls, ["start"], "caches stay while a sync reads them");
  finish.resolve();
  await running;
  assert.deepEqual(synced, ["a"]);
});

test("CL-23 a sync that ignores its end is an error once the grace is over", async () => {
  const { clock, stop, running, begin } = play(() => new Promise(() => undefined), {
    graceMs: 2000,
  });
  begin();
  await settle();
  stop.abort();
  await clock.advance(2000);
  await assert.rejects(running, /a sync goes on after 2000 ms; does it hand its signal on\?/);
});

test("CL-24 CL-25 caches fill on every replica, only the leader syncs, a lost lease is an error", async () => {
  const synced: string[] = [];
  const lead = Promise.withResolvers<void>();
  const lose = Promise.withResolvers<void>();
  const elector: ControlLoopOptions<string>["elector"] = {
    async run(_, { onStartedLeading }) {
      await lead.promise;
      const leading = new AbortController();
      const work = onStartedLeading(leading.signal);
      await lose.promise;
      leading.abort();
      await work;
      return "lost";
    },
  };
  const { running, begin } = play(async (key) => void synced.push(key), { elector });
  begin();
  await settle();
  assert.deepEqual(synced, []);
  lead.resolve();
  await settle();
  assert.deepEqual(synced, ["a"]);
  lose.resolve();
  await assert.rejects(running, { message: "test: the lease is lost; end this process" });
});

test("CL-27 an onFailure that throws ends the loop with its error", async () => {
  const { caches, running, begin } = play(
    async () => {
      throw new Error("sync");
    },
    {
      onFailure: () => {
        throw new Error("the caller's own");
      },
    },
  );
  begin();
  await assert.rejects(running, { message: "the caller's own" });
  for (const cache of caches) assert.deepEqual(cache.calls, ["start", "stop"]);
});
