// A work queue of keys. It promises:
// - A key has one entry, whether it is ready or waits for its time. Adding it again takes the earlier time and
//   the higher priority. So a delay is a latest time, and an immediate add cancels it.
// - A key is with one worker at most. If it is added meanwhile, it is handed out once more after done(),
//   however often it was added.
// - Higher priorities come first. Within a priority, keys come in the order in which they became ready.
// - After a shutdown every add is ignored and every get() returns. shutDown() drops the queued keys.
//   shutDownWithDrain() still hands out the ready ones. Both wait for work in flight up to a deadline.
//
// It does not promise that a key runs once for each add, nor that a delay survives a shutdown.
import type { Clock } from "../time/clock.ts";
import { Heap } from "../time/heap.ts";
import { QueueMeter } from "./queue-metrics.ts";
import type { QueueMetrics } from "./queue-metrics.ts";
import { exponentialRateLimiter } from "./rate-limiter.ts";
import type { RateLimiter } from "./rate-limiter.ts";
import { TimerQueue } from "../time/timer-queue.ts";

/** Options of a {@link WorkQueue}. */
export type WorkQueueOptions<K> = {
  /** Label of the metrics. A queue without a name publishes none. */
  readonly name?: string;
  readonly clock: Clock;
  /** For addRateLimited. Default: 5 ms doubling to 5 minutes, ±10 %, separately for each key. */
  readonly rateLimiter?: RateLimiter<K>;
  readonly metrics?: QueueMetrics;
};

/** When an added key is due, and its priority. */
export type AddOptions = {
  /**
   * Milliseconds from now. 0 or less means at once. If `rateLimited` is also set, the shorter delay is used.
   */
  readonly after?: number;
  readonly rateLimited?: boolean;
  /** Higher is sooner. Default 0. Adding the key again never lowers it. */
  readonly priority?: number;
};

/** The result of `get`: a key, or the shutdown of the queue. */
export type Item<K> =
  | { readonly shutdown: false; readonly key: K; readonly priority: number }
  | { readonly shutdown: true };

/** `superseded`: a drain that a plain shutDown() cut short. */
export type ShutdownOutcome = "finished" | "timed-out" | "superseded";

/** Options of a shutdown. */
export type ShutdownOptions = {
  /** How long to wait for work in flight, in ms. Default 30,000 (the grace period of controller-runtime). */
  readonly timeoutMs?: number;
};

// waiting: its time has not come. ready: in the ready heap. locked: due, but its key is processing.
type Entry<K> = {
  readonly key: K;
  state: "waiting" | "ready" | "locked";
  priority: number;
  /** Monotonic time. Used only while waiting. */
  readyAt: number;
  /** Order of becoming ready, or of the last rise in priority. */
  order: number;
};

type Stop = { readonly drain: boolean; readonly resolve: (outcome: ShutdownOutcome) => void };

/** A queue of keys. Each key is queued once and is with one worker at most. */
export class WorkQueue<K> {
  readonly #clock: Clock;
  readonly #limiter: RateLimiter<K>;
  readonly #meter: QueueMeter<K> | undefined;
  /** Every key that is waiting, ready or locked. */
  readonly #entries = new Map<K, Entry<K>>();
  readonly #ready = new Heap<Entry<K>>(
    (a, b) => a.priority > b.priority || (a.priority === b.priority && a.order < b.order),
  );
  readonly #waiting: TimerQueue<Entry<K>>;
  readonly #processing = new Set<K>();
  readonly #getters: ((item: Item<K>) => void)[] = [];
  readonly #stops = new Set<Stop>();
  #phase: "open" | "draining" | "stopped" = "open";
  #order = 0;

  /** Default rate limiter: 5 ms doubling to 5 minutes, separately for each key. */
  constructor({ name, clock, rateLimiter, metrics }: WorkQueueOptions<K>) {
    this.#clock = clock;
    this.#waiting = new TimerQueue(clock, (entry) => this.#makeReady(entry));
    this.#limiter = rateLimiter ?? exponentialRateLimiter<K>({ clock });
    this.#meter = name && metrics ? new QueueMeter<K>(metrics, clock) : undefined;
  }

  /** Keys that get() can return now, without waiting keys and keys in processing. */
  get length(): number {
    return this.#ready.size;
  }

  /** Adds the key. If it is queued already, the earlier time and the higher priority are used. */
  add(key: K, { after, rateLimited = false, priority = 0 }: AddOptions = {}): void {
    if (this.#phase !== "open") return;
    const limit = rateLimited ? this.#limiter.when(key) : (after ?? 0);
    const delay = Math.max(0, Math.min(limit, after ?? limit));
    if (!Number.isFinite(delay))
      throw new RangeError(`Cannot add a key after ${delay} ms: the delay must be a finite number`);
    if (delay > 0) this.#meter?.retried();
    const readyAt = this.#clock.monotonic() + delay;
    const entry = this.#entries.get(key) ?? this.#newEntry(key, priority);
    if (priority > entry.priority) this.#raise(entry, priority);
    if (entry.state !== "waiting") return;
    if (delay === 0) this.#makeReady(entry);
    else if (readyAt < entry.readyAt) this.#waiting.set(entry, readyAt);
  }

  /** Like `add`, after this many milliseconds. */
  addAfter(key: K, ms: number): void {
    this.add(key, { after: ms });
  }

  /** Like `add`, after the delay of the rate limiter. Call it after a failure. */
  addRateLimited(key: K): void {
    this.add(key, { rateLimited: true });
  }

  /** Drops only the failure history of the key. done() is still due. */
  forget(key: K): void {
    this.#limiter.forget(key);
  }

  /** Failures of the key since it was last forgotten. */
  numRequeues(key: K): number {
    return this.#limiter.numRequeues(key);
  }

  /** Resolves with the next key when one is ready. The caller must call done() for it. */
  get(): Promise<Item<K>> {
    const entry = this.#ready.pop();
    if (entry) return Promise.resolve(this.#handOut(entry));
    if (this.#phase !== "open") return Promise.resolve({ shutdown: true });
    return new Promise((resolve) => void this.#getters.push(resolve));
  }

  /** Marks the key as processed. If it was added meanwhile, it is due again. */
  done(key: K): void {
    if (!this.#processing.delete(key)) return;
    this.#meter?.finished(key);
    const entry = this.#entries.get(key);
    if (entry?.state === "locked") this.#enqueue(entry);
    this.#settleStops();
  }

  /** Drops every queued key and waits for the keys in processing. */
  shutDown(options: ShutdownOptions = {}): Promise<ShutdownOutcome> {
    this.#stop();
    for (const stop of this.#stops) if (stop.drain) stop.resolve("superseded");
    return this.#finished(false, options);
  }

  /** Waits until the ready keys, and keys that were added again while in processing, are done too. */
  shutDownWithDrain(options: ShutdownOptions = {}): Promise<ShutdownOutcome> {
    if (this.#phase === "open") {
      this.#phase = "draining";
      this.#meter?.stop();
      this.#dropWaiting();
      this.#releaseGetters();
    }
    return this.#finished(true, options);
  }

  #newEntry(key: K, priority: number): Entry<K> {
    const entry: Entry<K> = { key, state: "waiting", priority, readyAt: Infinity, order: 0 };
    this.#entries.set(key, entry);
    return entry;
  }

  #raise(entry: Entry<K>, priority: number): void {
    if (entry.state === "ready") this.#ready.remove(entry);
    entry.priority = priority;
    if (entry.state === "ready") this.#enqueue(entry);
  }

  #makeReady(entry: Entry<K>): void {
    this.#waiting.remove(entry);
    this.#meter?.becameReady(entry.key);
    if (this.#processing.has(entry.key)) entry.state = "locked";
    else this.#enqueue(entry);
  }

  #enqueue(entry: Entry<K>): void {
    entry.state = "ready";
    entry.order = this.#order++;
    this.#ready.push(entry);
    const getter = this.#getters.shift();
    const first = getter && this.#ready.pop();
    if (first) getter(this.#handOut(first));
  }

  #handOut({ key, priority }: Entry<K>): Item<K> {
    this.#entries.delete(key);
    this.#processing.add(key);
    this.#meter?.handedOut(key);
    return { shutdown: false, key, priority };
  }

  #stop(): void {
    if (this.#phase === "stopped") return;
    this.#phase = "stopped";
    this.#dropWaiting();
    this.#entries.clear();
    this.#ready.clear();
    this.#meter?.stop();
    this.#meter?.dropped();
    this.#releaseGetters();
  }

  #dropWaiting(): void {
    for (const { key } of this.#waiting.drop()) this.#entries.delete(key);
  }

  #releaseGetters(): void {
    for (const getter of this.#getters.splice(0)) getter({ shutdown: true });
  }

  #finished(drain: boolean, { timeoutMs = 30_000 }: ShutdownOptions): Promise<ShutdownOutcome> {
    return new Promise((resolve) => {
      const timer = this.#clock.setTimeout(() => {
        if (drain) this.#stop();
        stop.resolve("timed-out");
      }, timeoutMs);
      const stop: Stop = {
        drain,
        resolve: (outcome) => {
          timer.cancel();
          this.#stops.delete(stop);
          resolve(outcome);
        },
      };
      this.#stops.add(stop);
      this.#settleStops();
    });
  }

  #settleStops(): void {
    if (this.#ready.size > 0 || this.#processing.size > 0) return;
    for (const stop of this.#stops) stop.resolve("finished");
  }
}
