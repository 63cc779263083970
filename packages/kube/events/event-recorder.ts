// The recorder of events.k8s.io/v1 Events.
// Promises: record() never waits and never fails because the server is away. A repeated Event becomes a series
// of the first one. A series costs one write at the second occurrence, one each half hour, and one after six
// quiet minutes. One object is limited to 25 writes at once and one each five minutes. Each type has its own
// limit, so that Normal Events use up no room for Warnings. The note is part of the identity of an Event, so a
// later note is never lost (client-go's recorder loses it).
// Does not promise that an Event arrives, nor in what order Events are shown.
import type { Clock } from "../time/clock.ts";
import { checkDetails, checkReporter, eventTime, newEvent } from "./event-record.ts";
import type { EventDetails, KubeEvent, ObjectReference, EventReporter } from "./event-record.ts";
import { EventWriter } from "./event-writer.ts";
import type { DropReason, EventClient, EventWrite } from "./event-writer.ts";
import { LruMap } from "../lru.ts";
import type { Reachability } from "../rest/reachability.ts";
import { TimerQueue } from "../time/timer-queue.ts";
import { TokenBucket } from "../time/token-bucket.ts";

/** The reporter, and where it reports to. */
export type EventRecorderOptions = {
  readonly client: EventClient;
  readonly clock: Clock;
  readonly reporter: EventReporter;
  /** At the end of an outage the recorder retries at once. */
  readonly reachability?: Reachability;
  /** Maximum queued Events of each type. 1000 as in client-go. */
  readonly queueSize?: number;
  /**
   * Called for an Event that is lost, with the error that caused it, if any. If it is recorded again, it is a
   * new Event. `details` is absent for the count of an Event that was already sent.
   */
  readonly onDrop?: (
    reason: DropReason | "throttled",
    error?: unknown,
    details?: EventDetails,
  ) => void;
};

// client-go: tools/record, defaultSpamBurst and defaultSpamQPS.
const BURST = 25;
const PER_SECOND = 1 / 300;
// client-go: tools/record, maxLruCacheEntries.
const REMEMBERED = 4096;
// client-go: tools/events, finishTime and refreshTime.
const SERIES_IDLE_MS = 6 * 60_000;
const SERIES_REFRESH_MS = 30 * 60_000;

type Series = {
  readonly key: string;
  readonly details: EventDetails;
  readonly event: KubeEvent;
  count: number;
  /** The count in the last write. */
  written: number;
  writtenAt: number;
  lastSeen: bigint;
  /** When the series ends, unless the Event is repeated. */
  readyAt: number;
};

/** Remaining writes for one object. A full allowance equals none, so it is dropped. */
type Allowance = {
  readonly key: string;
  readonly buckets: Readonly<Record<EventDetails["type"], TokenBucket>>;
  /** When both are full. */
  readyAt: number;
};

/** Records Events about objects without waiting. Repeated Events become a series. */
export class EventRecorder {
  readonly #clock: Clock;
  readonly #reporter: EventReporter;
  readonly #writer: EventWriter;
  readonly #onDrop: NonNullable<EventRecorderOptions["onDrop"]>;
  readonly #allowances = new LruMap<string, Allowance>(REMEMBERED, {
    onEvict: (pushedOut) => this.#filling.remove(pushedOut),
  });
  readonly #series = new LruMap<string, Series>(REMEMBERED, {
    onEvict: (series) => this.#finish(series),
  });
  /** Series of Events that are not created yet. */
  readonly #byEvent = new WeakMap<KubeEvent, Series>();
  readonly #idle: TimerQueue<Series>;
  readonly #filling: TimerQueue<Allowance>;
  #lastNanoseconds = 0n;
  #closed = false;

  /** Throws a RangeError for a reporter that every API server refuses. */
  constructor(options: EventRecorderOptions) {
    const { client, clock, reporter, reachability, queueSize, onDrop = () => {} } = options;
    checkReporter(reporter);
    this.#clock = clock;
    this.#reporter = reporter;
    this.#onDrop = onDrop;
    this.#writer = new EventWriter({
      client,
      clock,
      onDrop: (reason, error, write) => this.#dropped(reason, error, write),
      reachability,
      queueSize,
    });
    this.#idle = new TimerQueue(clock, (series) => this.#finish(series));
    this.#filling = new TimerQueue(clock, ({ key }) => this.#allowances.delete(key));
  }

  /** Throws only a RangeError, for a reason or an action that every API server refuses. */
  record(details: EventDetails): void {
    checkDetails(details);
    if (this.#closed) return this.#onDrop("closed", undefined, details);
    const key = seriesKey(details);
    const series = this.#series.get(key);
    if (series) this.#repeat(series);
    else this.#begin(key, details);
  }

  /** Writes the open counts and the queue, for `timeoutMs` at most. */
  async close({ timeoutMs = 2000 }: { readonly timeoutMs?: number } = {}): Promise<void> {
    this.#closed = true;
    for (const series of this.#idle.drop()) this.#finish(series);
    this.#filling.drop();
    await this.#writer.close(timeoutMs);
  }

  #begin(key: string, details: EventDetails): void {
    if (!this.#allowed(details)) return this.#onDrop("throttled", undefined, details);
    const lastSeen = this.#nanoseconds();
    const event = newEvent(details, this.#reporter, lastSeen);
    const writtenAt = this.#clock.monotonic();
    const series = { key, details, event, count: 1, written: 1, writtenAt, lastSeen, readyAt: 0 };
    this.#series.set(key, series);
    this.#byEvent.set(event, series);
    this.#idle.set(series, writtenAt + SERIES_IDLE_MS);
    this.#writer.push({ kind: "create", event });
  }

  // An Event that was not created has no series, so it may be recorded again.
  #dropped(reason: DropReason, error: unknown, { kind, event }: EventWrite): void {
    const series = kind === "create" ? this.#byEvent.get(event) : undefined;
    if (series && this.#series.get(series.key) === series) {
      this.#series.delete(series.key);
      this.#idle.remove(series);
    }
    this.#onDrop(reason, error, series?.details);
  }

  #repeat(series: Series): void {
    const now = this.#clock.monotonic();
    series.count++;
    series.lastSeen = this.#nanoseconds();
    this.#idle.set(series, now + SERIES_IDLE_MS);
    const due = series.written === 1 || now - series.writtenAt >= SERIES_REFRESH_MS;
    // A count that the bucket holds back here is written when the series ends.
    if (due && this.#allowed(series.details)) this.#write(series);
  }

  #finish(series: Series): void {
    this.#series.delete(series.key);
    this.#idle.remove(series);
    if (series.count > series.written) this.#write(series);
  }

  #write(series: Series): void {
    const { details, event, count, lastSeen } = series;
    const counted = { count, lastObservedTime: eventTime(lastSeen) };
    const again = newEvent(details, this.#reporter, this.#nanoseconds(), counted);
    this.#writer.push({ kind: "series", event, again });
    series.written = count;
    series.writtenAt = this.#clock.monotonic();
  }

  #allowed({ regarding, type }: EventDetails): boolean {
    const key = referenceKey(regarding);
    let allowance = this.#allowances.get(key);
    if (!allowance) {
      const limits = { clock: this.#clock, perSecond: PER_SECOND, burst: BURST };
      const buckets = { Normal: new TokenBucket(limits), Warning: new TokenBucket(limits) };
      allowance = { key, buckets, readyAt: 0 };
      this.#allowances.set(key, allowance);
    }
    const { Normal, Warning } = allowance.buckets;
    const allowed = allowance.buckets[type].tryTake();
    const fullInMs = Math.max(Normal.fullInMs, Warning.fullInMs);
    this.#filling.set(allowance, this.#clock.monotonic() + fullInMs);
    return allowed;
  }

  /** Wall time that never repeats, because the names of Events contain it. */
  #nanoseconds(): bigint {
    const now = BigInt(Math.floor(this.#clock.now())) * 1_000_000n;
    this.#lastNanoseconds = now > this.#lastNanoseconds ? now : this.#lastNanoseconds + 1n;
    return this.#lastNanoseconds;
  }
}

function seriesKey({ type, action, reason, regarding, related, note }: EventDetails): string {
  const about = [referenceKey(regarding), related ? referenceKey(related) : ""];
  return JSON.stringify([type, action, reason, ...about, note]);
}

/** Without the version: a changed object is still the same object. */
function referenceKey({ kind, namespace = "", name, uid = "" }: ObjectReference): string {
  return JSON.stringify([kind, namespace, name, uid]);
}
