// Metrics of a work queue, with the meanings of client-go's `workqueue_*` metrics.
// Promises: an add counts when the key becomes ready (a merged one does not). Latency is the time from that
// moment to the hand-out. Work is the time from the hand-out to done(). The two gauges of work in flight are
// refreshed every 500 ms while there is any. Does not promise names or labels: the implementation of
// QueueMetrics sets them.
import type { Clock, Timer } from "../time/clock.ts";

/** The `workqueue_*` metrics of client-go. The caller publishes them. */
export type QueueMetrics = {
  /** workqueue_depth: ready keys, including those that wait for their own done(). */
  depth(keys: number): void;
  /** workqueue_adds_total. */
  add(): void;
  /** workqueue_queue_duration_seconds. */
  latency(seconds: number): void;
  /** workqueue_work_duration_seconds. */
  workDuration(seconds: number): void;
  /** workqueue_unfinished_work_seconds: sum of the ages of the keys in processing. */
  unfinished(seconds: number): void;
  /** workqueue_longest_running_processor_seconds. */
  longestRunning(seconds: number): void;
  /** workqueue_retries_total: adds with a delay. */
  retry(): void;
};

// client-go: util/workqueue, the period of updateUnfinishedWorkLoop.
const REFRESH_MS = 500;

export class QueueMeter<K> {
  readonly #sink: QueueMetrics;
  readonly #clock: Clock;
  readonly #readySince = new Map<K, number>();
  readonly #workingSince = new Map<K, number>();
  #refresh: Timer | undefined;
  #stopped = false;

  constructor(sink: QueueMetrics, clock: Clock) {
    this.#sink = sink;
    this.#clock = clock;
  }

  retried(): void {
    this.#sink.retry();
  }

  becameReady(key: K): void {
    this.#readySince.set(key, this.#clock.monotonic());
    this.#sink.add();
    this.#sink.depth(this.#readySince.size);
  }

  handedOut(key: K): void {
    const now = this.#clock.monotonic();
    this.#sink.latency((now - (this.#readySince.get(key) ?? now)) / 1000);
    this.#readySince.delete(key);
    this.#workingSince.set(key, now);
    this.#sink.depth(this.#readySince.size);
    this.#schedule();
  }

  finished(key: K): void {
    const now = this.#clock.monotonic();
    this.#sink.workDuration((now - (this.#workingSince.get(key) ?? now)) / 1000);
    this.#workingSince.delete(key);
    if (this.#workingSince.size > 0) return;
    this.#refresh?.cancel();
    this.#refresh = undefined;
    this.#report();
  }

  /** Ready keys were dropped. */
  dropped(): void {
    this.#readySince.clear();
    this.#sink.depth(0);
  }

  stop(): void {
    this.#stopped = true;
    this.#refresh?.cancel();
  }

  #schedule(): void {
    if (this.#refresh || this.#stopped) return;
    this.#refresh = this.#clock.setTimeout(() => {
      this.#refresh = undefined;
      this.#report();
      if (this.#workingSince.size > 0) this.#schedule();
    }, REFRESH_MS);
  }

  #report(): void {
    const now = this.#clock.monotonic();
    let sum = 0;
    let longest = 0;
    for (const since of this.#workingSince.values()) {
      sum += now - since;
      longest = Math.max(longest, now - since);
    }
    this.#sink.unfinished(sum / 1000);
    this.#sink.longestRunning(longest / 1000);
  }
}
