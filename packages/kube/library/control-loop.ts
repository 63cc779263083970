// The loop of a controller: it fills the caches, runs workers on the queue, and shuts down in order.
// Promises: no key is synced before every cache is filled, nor while we do not lead. A key is with one worker
// at most. A failed sync is retried with growing delays, and a sync that takes too long has its signal aborted.
// The loop ends within the grace period after `signal` aborts, with informers stopped. Only then is the lease
// released.
// Does not promise to stop a sync that ignores its signal: the loop reports it and ends.
import type { Clock } from "../time/clock.ts";
import { Deadline } from "../time/deadline.ts";
import type { Informer } from "../cache/informer.ts";
import type { LeaderElector } from "../leaderelection/leader-elector.ts";
import type { WorkQueue } from "../workqueue/queue.ts";

/** Optional result of a successful sync. */
export type SyncAnswer = {
  /** Sync this key again after this many milliseconds, even if its objects do not change. */
  readonly requeueAfterMs: number;
};

/** Describes one failed sync. */
export type SyncFailure<K> = {
  readonly key: K;
  readonly error: unknown;
  /** Whether the sync is retried. False when `maxRetries` are used up. */
  readonly again: boolean;
};

/** Options of {@link runControlLoop}. */
export type ControlLoopOptions<K> = {
  /** For messages. */
  readonly name: string;
  readonly clock: Clock;
  /** Started by the loop, filled before the first sync, stopped at the end. */
  readonly informers: readonly Pick<Informer<never>, "start" | "stop" | "waitForSync">[];
  readonly queue: WorkQueue<K>;
  /**
   * Reconciles the object of the key, from the caches. It may be called at any time, and again. Its signal
   * aborts when the loop ends, the lease is lost, or `syncTimeoutMs` is over: pass it on.
   */
  readonly sync: (key: K, signal: AbortSignal) => Promise<SyncAnswer | void>;
  /** Only the leader syncs. The caches of other candidates are filled and wait. */
  readonly elector?: Pick<LeaderElector, "run"> | undefined;
  /** Number of keys at the same time. 1 when absent. */
  readonly workers?: number;
  /** Failures in a row after which a key is dropped until something changes. No limit when absent. */
  readonly maxRetries?: number;
  /** Time limit of one sync, in ms. Two minutes when absent. */
  readonly syncTimeoutMs?: number;
  /** Time limit for filling the caches, in ms. No limit when absent. */
  readonly fillTimeoutMs?: number;
  /** Time for running syncs to finish at the end, in ms. 30,000 when absent. */
  readonly graceMs?: number;
  readonly onFailure?: (failure: SyncFailure<K>) => void;
  /** Receives progress messages for users. */
  readonly onProgress?: (line: string) => void;
  readonly signal: AbortSignal;
};

/**
 * Runs a controller until `signal` aborts.
 *
 * @throws Error when the caches do not fill within `fillTimeoutMs`, when the lease is lost, or when a sync
 * outlasts the grace period. End the process then: the next one reads the cluster state again.
 */
export async function runControlLoop<K>(options: ControlLoopOptions<K>): Promise<void> {
  const { name, informers, queue, elector, signal, onProgress } = options;
  try {
    onProgress?.(`${name}: waiting for ${informers.length} caches`);
    for (const informer of informers) informer.start();
    if (!(await filled(options))) return;
    if (elector === undefined) return await work(options, signal);
    onProgress?.(`${name}: waiting for the lease`);
    const onStartedLeading = (leading: AbortSignal): Promise<void> => work(options, leading);
    const end = await elector.run(signal, { onStartedLeading });
    if (end === "lost") throw new Error(`${name}: the lease is lost; end this process`);
  } finally {
    onProgress?.(`${name}: shutting down`);
    void queue.shutDown({ timeoutMs: 0 });
    await Promise.all(informers.map((informer) => informer.stop()));
  }
}

async function filled<K>(options: ControlLoopOptions<K>): Promise<boolean> {
  const { name, clock, informers, fillTimeoutMs, signal } = options;
  const deadline =
    fillTimeoutMs === undefined ? undefined : new Deadline(clock, fillTimeoutMs, signal);
  const until = deadline?.signal ?? signal;
  const synced = await Promise.all(informers.map((informer) => informer.waitForSync(until)));
  deadline?.release();
  if (!deadline?.expired) return !signal.aborted && !synced.includes(false);
  const missing = synced.filter((each) => !each).length;
  throw new Error(
    `${name}: ${missing} of ${informers.length} caches are not filled after ${fillTimeoutMs} ms; the informers' onError says why`,
  );
}

/** Runs workers until `signal` aborts. */
async function work<K>(options: ControlLoopOptions<K>, signal: AbortSignal): Promise<void> {
  const { name, queue, workers = 1, graceMs = 30_000, onProgress } = options;
  onProgress?.(`${name}: starting ${workers} workers`);
  const running = Promise.all(Array.from({ length: workers }, () => worker(options, signal)));
  // A worker throws only the caller's own error: an onFailure that fails.
  await Promise.race([aborted(signal), running]);
  const outcome = await queue.shutDown({ timeoutMs: graceMs });
  if (outcome === "timed-out")
    throw new Error(`${name}: a sync goes on after ${graceMs} ms; does it hand its signal on?`);
  await running;
}

async function worker<K>(options: ControlLoopOptions<K>, signal: AbortSignal): Promise<void> {
  const { queue, onFailure, maxRetries = Infinity } = options;
  for (let item = await queue.get(); !item.shutdown; item = await queue.get()) {
    const { key } = item;
    try {
      const answer = await once(options, key, signal);
      queue.forget(key);
      if (answer) queue.addAfter(key, answer.requeueAfterMs);
    } catch (error) {
      const again = queue.numRequeues(key) < maxRetries;
      if (again) queue.addRateLimited(key);
      else queue.forget(key);
      if (!signal.aborted) onFailure?.({ key, error, again });
    } finally {
      queue.done(key);
    }
  }
}

async function once<K>(
  { clock, sync, syncTimeoutMs = 120_000 }: ControlLoopOptions<K>,
  key: K,
  signal: AbortSignal,
): Promise<SyncAnswer | void> {
  const deadline = new Deadline(clock, syncTimeoutMs, signal);
  try {
    return await sync(key, deadline.signal);
  } finally {
    deadline.release();
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
