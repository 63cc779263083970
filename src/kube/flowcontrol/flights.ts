// What flies, and whether one more may: bounds by namespace, by source, for reads and for what is slow,
// so that no namespace, and no quarter of them, holds up the others. A place is slow while its
// namespace, or most of what its source writes, was slow of late: such writes share a quarter of the
// pool, and go on in it for as long as nobody else of them waits. A write that turns out slow is cut off
// when another needs its room; its place is tried again after its back-off, in that quarter.
import type { Clock } from "../time/clock.ts";

export type PooledWrite = {
  readonly key: string;
  /** Of its body, about; absent: next to none. */
  readonly bytes?: number;
  /** Where it goes. */
  readonly namespace?: string;
  /** Of what, its kind included. */
  readonly source?: string;
  /** It only asks. */
  readonly reads?: boolean;
};

export type Flight<W> = {
  readonly write: W;
  readonly startedMs: number;
  readonly slow: boolean;
  readonly cut: AbortController;
  /** An event changed what it was decided by. */
  overtaken: boolean;
};

// The bodies of all writes in flight have so many bytes at most, except that one write is always allowed. In
// memory, the text of a body and its bytes are two or three times as much.
const MOST_BYTES = 16 * 1024 * 1024;
const MOST_READS = 8;
const PART = 4;
// A write is slow after so long, or this many times what writes usually take, but never later than two
// seconds: by then whoever waits has waited too long.
const SLOW_MS = 500;
const SLOWEST_MS = 2000;
const SLOW_FACTOR = 4;
// How long a slow write may keep others of its kind waiting, and a sync from being settled.
const SLOW_PATIENCE_MS = 5000;
// Longer than the longest back-off, so that the next try is known to be slow.
const SUSPICION_MS = 6 * 60_000;
const LATEST = 64;
const LATEST_BETWEEN_LOOKS = 16;

/** `sinceMs`: when the oldest of them began, or one that has landed since. */
type Load = { count: number; bytes: number; sinceMs: number };
// Of the latest writes of a source, about so many tell whether it is slow.
const SOURCE_MEMORY = 64;

export class Flights<W extends PooledWrite> {
  readonly #clock: Pick<Clock, "monotonic">;
  readonly all = new Map<string, Flight<W>>();
  readonly #namespaces = new Map<string, Load>();
  readonly #sources = new Map<string, Load>();
  readonly #slow: Load = { count: 0, bytes: 0, sinceMs: 0 };
  readonly #whole: Load = { count: 0, bytes: 0, sinceMs: 0 };
  #reads = 0;
  /** Until when each namespace is taken to be slow. */
  readonly #suspects = new Map<string, number>();
  /** Of each source, how much of what it wrote of late was slow: 0 to 1. */
  readonly #slowSources = new Map<string, number>();
  /** What the latest writes took that were not known to be slow, in ms. */
  readonly #took: number[] = [];
  #at = 0;
  /** From so many ms on a write is slow. */
  #slowMs = SLOW_MS;
  /** Several sources wait: none takes the whole pool. */
  shared = false;
  limit: number;

  constructor(clock: Pick<Clock, "monotonic">, limit: number) {
    this.#clock = clock;
    this.limit = limit;
  }

  get #part(): number {
    return Math.max(1, Math.floor(this.limit / PART));
  }

  /** What keeps `write` from starting, as a key to wait under; undefined: nothing of its own. */
  bound(write: W): string | undefined {
    const { namespace, source, bytes = 0, reads = false } = write;
    const part = this.#part;
    if (namespace !== undefined && isFull(this.#namespaces.get(namespace), part, bytes))
      return `namespace ${namespace}`;
    if (reads && this.#reads >= MOST_READS) return "reads";
    if (this.#isSlow(write) && isFull(this.#slow, part, bytes)) return "slow";
    if (source !== undefined && this.shared && this.limit > 1) {
      const { count = 0 } = this.#sources.get(source) ?? {};
      if (count >= this.limit - part) return `source ${source}`;
    }
    return undefined;
  }

  /** Whether there is room at all. */
  hasRoom(): boolean {
    return this.all.size < this.limit;
  }

  fits({ bytes = 0 }: W): boolean {
    return this.all.size === 0 || this.#whole.bytes + bytes <= MOST_BYTES;
  }

  take(write: W): Flight<W> {
    const slow = this.#isSlow(write);
    const startedMs = this.#clock.monotonic();
    const flight = { write, startedMs, slow, cut: new AbortController(), overtaken: false };
    this.all.set(write.key, flight);
    this.#count(flight, 1);
    return flight;
  }

  /** It ended, `failed` or not; the keys under which others may go on now. */
  land(flight: Flight<W>, failed: boolean): readonly string[] {
    const { write, startedMs } = flight;
    const { namespace, source } = write;
    const tookMs = this.#clock.monotonic() - startedMs;
    const slow = tookMs >= this.#slowMs;
    this.all.delete(write.key);
    this.#count(flight, -1);
    if (!flight.slow) this.#note(tookMs);
    if (write.reads !== true) this.#judge(write, slow, failed);
    const freed = write.reads === true ? ["reads"] : [];
    if (flight.slow) freed.push("slow");
    if (namespace !== undefined) freed.push(`namespace ${namespace}`);
    if (source !== undefined) freed.push(`source ${source}`);
    return freed;
  }

  /** All that fly have done so for long: nobody need wait for them. */
  get onlySlow(): boolean {
    const since = this.#clock.monotonic() - SLOW_PATIENCE_MS;
    for (const { startedMs } of this.all.values()) if (startedMs > since) return false;
    return true;
  }

  /**
   * Those that must make room, where others wait for any or, `slowWait`, for that of the slow. The time
   * (ms, monotonic) at which the next of them has to, if any flies.
   */
  overdue(anyWait: boolean, slowWait: boolean): { cut: Flight<W>[]; nextMs: number } {
    const now = this.#clock.monotonic();
    const cut: Flight<W>[] = [];
    let nextMs = Number.POSITIVE_INFINITY;
    let spared = Math.min(this.#part, this.limit - 1) - this.#slow.count;
    // In the order in which they began.
    for (const flight of this.all.values()) {
      if (flight.cut.signal.aborted || flight.write.reads === true) continue;
      if (!(flight.slow ? slowWait : anyWait)) continue;
      const dueMs = flight.startedMs + (flight.slow ? SLOW_PATIENCE_MS : this.#slowMs);
      if (dueMs > now) nextMs = Math.min(nextMs, dueMs);
      else if (flight.slow || --spared < 0) cut.push(flight);
    }
    return { cut, nextMs };
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
      if ((this.#namespaces.get(namespace)?.sinceMs ?? now) < now - this.#slowMs) return true;
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

  // In the order in which they were last slow.
  #forget(): void {
    const now = this.#clock.monotonic();
    for (const [namespace, until] of this.#suspects) {
      if (until > now) return;
      this.#suspects.delete(namespace);
    }
  }

  #count({ write, slow, startedMs }: Flight<W>, sign: 1 | -1): void {
    const { namespace, source, bytes = 0, reads } = write;
    const loads = [this.#whole];
    if (slow) loads.push(this.#slow);
    if (namespace !== undefined) loads.push(loadOf(this.#namespaces, namespace, startedMs));
    if (source !== undefined) loads.push(loadOf(this.#sources, source, startedMs));
    for (const load of loads) {
      load.count += sign;
      load.bytes += sign * bytes;
    }
    if (reads === true) this.#reads += sign;
    if (namespace !== undefined) dropEmpty(this.#namespaces, namespace);
    if (source !== undefined) dropEmpty(this.#sources, source);
  }
}

function isFull(load: Load | undefined, most: number, bytes: number): boolean {
  if (load === undefined || load.count === 0) return false;
  return load.count >= most || load.bytes + bytes > MOST_BYTES / PART;
}

function loadOf(loads: Map<string, Load>, key: string, sinceMs: number): Load {
  const known = loads.get(key);
  if (known) return known;
  const load = { count: 0, bytes: 0, sinceMs };
  loads.set(key, load);
  return load;
}

function dropEmpty(loads: Map<string, Load>, key: string): void {
  if (loads.get(key)?.count === 0) loads.delete(key);
}
