// Tracks the writes in flight and decides whether another may start. Limits by namespace, by source, for reads
// and for slow writes ensure that neither one namespace nor a quarter of them delays the others. A write counts
// as slow while its namespace, or most writes of its source, were recently slow. Slow writes share a quarter of
// the pool, and keep their room as long as no other slow write waits. A write that becomes slow is aborted when
// another needs its room. It is retried in that quarter, after its back-off.
import type { Clock } from "../../../packages/kube/time/clock.ts";
import type { PooledWrite } from "./pooled-write.ts";

export type InFlight<W> = {
  readonly write: W;
  readonly startedMs: number;
  readonly slow: boolean;
  /** The keys of the limits that it counts against. */
  readonly limits: readonly string[];
  readonly abort: AbortController;
};

// Limit on the bodies of all writes in flight, except that one write is always allowed. In memory, the text of
// a body and its bytes take two or three times as much.
const MOST_BYTES = 16 * 1024 * 1024;
const MOST_READS = 8;
const PART = 4;
/** The key of the limit of slow writes. */
export const SLOW = "slow";
// A write is slow after this time, or after this multiple of the usual duration, but at most after two seconds.
// A longer limit would delay waiting writes too much.
const SLOW_MS = 500;
const SLOWEST_MS = 2000;
const SLOW_FACTOR = 4;
// How long a slow write may delay others of its kind, and the end of a sync.
const SLOW_LIMIT_MS = 5000;
// Longer than the longest back-off, so that the next try is known to be slow.
const SUSPICION_MS = 6 * 60_000;
const LATEST = 64;
const LATEST_BETWEEN_LOOKS = 16;

/** What is in flight under one limit. `sinceMs`: when the oldest write began, or one that has ended since. */
type Load = { count: number; bytes: number; readonly sinceMs: number };
/** A limit that some writes share. One write alone is always within it. */
type Limit = { readonly key: string; readonly most: number; readonly mostBytes: number };
// A source counts as slow or not by about this many of its latest writes.
const SOURCE_MEMORY = 64;

export class WritesInFlight<W extends PooledWrite> {
  readonly #clock: Pick<Clock, "monotonic">;
  readonly all = new Map<string, InFlight<W>>();
  /** By key of a limit, if any write counts against it. */
  readonly #loads = new Map<string, Load>();
  #bytes = 0;
  /** Until when each namespace counts as slow. */
  readonly #suspects = new Map<string, number>();
  /** For each source, the share of its recent writes that were slow: 0 to 1. */
  readonly #slowSources = new Map<string, number>();
  /** The durations of the latest writes that were not known to be slow, in ms. */
  readonly #took: number[] = [];
  #at = 0;
  /** A write is slow after this many ms. */
  #slowMs = SLOW_MS;
  /** Several sources wait, so none may use the whole pool. */
  shared = false;
  limit: number;

  constructor(clock: Pick<Clock, "monotonic">, limit: number) {
    this.#clock = clock;
    this.limit = limit;
  }

  get #part(): number {
    return Math.max(1, Math.floor(this.limit / PART));
  }

  /** The key of the limit that prevents `write` from starting. Undefined: no limit applies. */
  limitOf(write: W): string | undefined {
    const { bytes = 0 } = write;
    return this.#limitsOf(write).find(({ key, most, mostBytes }) => {
      const load = this.#loads.get(key);
      return load !== undefined && (load.count >= most || load.bytes + bytes > mostBytes);
    })?.key;
  }

  #limitsOf(write: W, slow = this.#isSlow(write)): readonly Limit[] {
    const { namespace, source, reads = false } = write;
    const part = { most: this.#part, mostBytes: MOST_BYTES / PART };
    const limits: Limit[] = [];
    if (namespace !== undefined) limits.push({ key: namespaceKey(namespace), ...part });
    if (reads) limits.push({ key: "reads", most: MOST_READS, mostBytes: Infinity });
    if (slow) limits.push({ key: SLOW, ...part });
    const ofSource = this.shared ? this.limit - part.most : Infinity;
    if (source !== undefined)
      limits.push({ key: `source ${source}`, most: ofSource, mostBytes: Infinity });
    return limits;
  }

  /** Whether another write fits into the pool. */
  hasRoom(): boolean {
    return this.all.size < this.limit;
  }

  fits({ bytes = 0 }: W): boolean {
    return this.all.size === 0 || this.#bytes + bytes <= MOST_BYTES;
  }

  take(write: W): InFlight<W> {
    const slow = this.#isSlow(write);
    const startedMs = this.#clock.monotonic();
    const limits = this.#limitsOf(write, slow).map(({ key }) => key);
    const inFlight = { write, startedMs, slow, limits, abort: new AbortController() };
    this.all.set(write.key, inFlight);
    const { bytes = 0 } = write;
    this.#bytes += bytes;
    for (const key of limits) {
      const load = this.#loads.get(key) ?? { count: 0, bytes: 0, sinceMs: startedMs };
      this.#loads.set(key, load);
      load.count++;
      load.bytes += bytes;
    }
    return inFlight;
  }

  /** Ends a write, `failed` or not. Returns the keys of the limits under which waiting writes may start now. */
  end({ write, startedMs, slow, limits }: InFlight<W>, failed: boolean): readonly string[] {
    const { bytes = 0 } = write;
    const tookMs = this.#clock.monotonic() - startedMs;
    const tookLong = tookMs >= this.#slowMs;
    this.all.delete(write.key);
    this.#bytes -= bytes;
    for (const key of limits) {
      const load = this.#loads.get(key);
      if (!load) continue;
      load.bytes -= bytes;
      if (--load.count === 0) this.#loads.delete(key);
    }
    if (!slow) this.#note(tookMs);
    if (write.reads !== true) this.#judge(write, tookLong, failed);
    return limits;
  }

  /** Every write in flight has lasted so long that a sync need not wait for it. */
  get onlySlow(): boolean {
    const since = this.#clock.monotonic() - SLOW_LIMIT_MS;
    for (const { startedMs } of this.all.values()) if (startedMs > since) return false;
    return true;
  }

  /**
   * Returns the writes to abort because others wait for any room or, with `slowWait`, for the room of slow
   * writes. `nextMs` is the monotonic time at which the next one is due, if any write is in flight.
   */
  overdue(anyWait: boolean, slowWait: boolean): { toAbort: InFlight<W>[]; nextMs: number } {
    const now = this.#clock.monotonic();
    const toAbort: InFlight<W>[] = [];
    let nextMs = Number.POSITIVE_INFINITY;
    const { count = 0 } = this.#loads.get(SLOW) ?? {};
    let slowRoom = Math.min(this.#part, this.limit - 1) - count;
    // Oldest writes first.
    for (const inFlight of this.all.values()) {
      if (inFlight.abort.signal.aborted || inFlight.write.reads === true) continue;
      if (!(inFlight.slow ? slowWait : anyWait)) continue;
      const dueMs = inFlight.startedMs + (inFlight.slow ? SLOW_LIMIT_MS : this.#slowMs);
      if (dueMs > now) nextMs = Math.min(nextMs, dueMs);
      else if (inFlight.slow || --slowRoom < 0) toAbort.push(inFlight);
    }
    return { toAbort, nextMs };
  }

  #note(tookMs: number): void {
    this.#took[this.#at++ % LATEST] = tookMs;
    if (this.#at % LATEST_BETWEEN_LOOKS > 0) return;
    const sorted = this.#took.toSorted((a, b) => a - b);
    const usual = sorted[Math.floor(sorted.length / 2)] ?? 0;
    this.#slowMs = Math.min(SLOWEST_MS, Math.max(SLOW_MS, SLOW_FACTOR * usual));
  }

  #isSlow({ namespace, source, reads }: W): boolean {
    if (reads === true) return false;
    if (namespace !== undefined) {
      const now = this.#clock.monotonic();
      if ((this.#suspects.get(namespace) ?? 0) > now) return true;
      const { sinceMs = now } = this.#loads.get(namespaceKey(namespace)) ?? {};
      if (sinceMs < now - this.#slowMs) return true;
    }
    return source !== undefined && (this.#slowSources.get(source) ?? 0) > 0.5;
  }

  #judge({ namespace, source }: W, slow: boolean, failed: boolean): void {
    if (namespace !== undefined) {
      if (slow || !failed) this.#suspects.delete(namespace);
      if (slow) this.#suspects.set(namespace, this.#clock.monotonic() + SUSPICION_MS);
    }
    if (source !== undefined) {
      const before = this.#slowSources.get(source) ?? 0;
      const share = before + (Number(slow) - before) / SOURCE_MEMORY;
      if (share > 0.01) this.#slowSources.set(source, share);
      else this.#slowSources.delete(source);
    }
    this.#forget();
  }

  // The entries are ordered by the time at which they were last slow.
  #forget(): void {
    const now = this.#clock.monotonic();
    for (const [namespace, until] of this.#suspects) {
      if (until > now) return;
      this.#suspects.delete(namespace);
    }
  }
}

function namespaceKey(namespace: string): string {
  return `namespace ${namespace}`;
}
