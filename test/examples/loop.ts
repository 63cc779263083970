// The loop that the example controllers share: caches first, then workers on the queue, then an orderly
// end. Promises: no key is synced before every cache is filled; a key that fails is tried again, later
// each time, and dropped after `maxRetries`; when it returns, nothing is left running.
// Does not promise: to know what a key means.
import type { Informer } from "../../src/kube/cache/informer.ts";
import type { WorkQueue } from "../../src/kube/workqueue/queue.ts";

export type Log = (line: string) => void;

type Loop = {
  readonly name: string;
  readonly informers: readonly Pick<Informer<never>, "start" | "stop" | "waitForSync">[];
  readonly queue: WorkQueue<string>;
  /** Brings what the key names into its desired state; may be called again at any time. */
  readonly sync: (key: string) => Promise<void>;
  readonly workers?: number;
  readonly maxRetries?: number;
  readonly log: Log;
  readonly signal: AbortSignal;
};

export async function runLoop(loop: Loop): Promise<void> {
  const { name, informers, queue, log, signal, workers = 2 } = loop;
  const end = (): void => void queue.shutDown();
  signal.addEventListener("abort", end);
  try {
    log(`${name}: waiting for caches`);
    for (const informer of informers) informer.start();
    const synced = await Promise.all(informers.map((informer) => informer.waitForSync(signal)));
    if (synced.includes(false)) return;
    log(`${name}: starting ${workers} workers`);
    await Promise.all(Array.from({ length: workers }, () => work(loop)));
  } finally {
    signal.removeEventListener("abort", end);
    log(`${name}: shutting down`);
    await queue.shutDown();
    await Promise.all(informers.map((informer) => informer.stop()));
  }
}

async function work({ name, queue, sync, log, maxRetries = 5 }: Loop): Promise<void> {
  for (;;) {
    const item = await queue.get();
    if (item.shutdown) return;
    const { key } = item;
    try {
      await sync(key);
      queue.forget(key);
    } catch (error) {
      const again = queue.numRequeues(key) < maxRetries;
      log(`${name}: ${key}: ${String(error)}, ${again ? "again later" : "given up"}`);
      if (again) queue.addRateLimited(key);
      else queue.forget(key);
    } finally {
      queue.done(key);
    }
  }
}
