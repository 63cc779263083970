// A pool of writes between a plan and the API server, with a limit on the writes in flight. The others wait in
// the plan's order, except those that wait for one of their own kind to end (writes-in-flight.ts). A newer plan
// replaces the waiting writes while others are in flight. It must leave out the keys in flight. Before a write starts,
// the pool asks whether its decision still holds. If it does not, the next plan decides. If all waiting writes are
// outdated, `outdated` requests one. The 429s determine the limit in flight and when the next write starts
// (write-pace.ts).
import { SLOW, WritesInFlight, type InFlight } from "./writes-in-flight.ts";
import type { Perform, PooledWrite, WriteEnd } from "./pooled-write.ts";
import type { Clock, Timer } from "../../../packages/kube/time/clock.ts";
import { WaitingWrites, type Fit } from "./waiting-writes.ts";
import { WritePace } from "./write-pace.ts";

export type { WriteEnd } from "./pooled-write.ts";

// A write that must make room is aborted this much later, because its answer may be on its way.
const ABORT_DELAY_MS = 20;

export class WritePool<W extends PooledWrite> {
  readonly #perform: Perform<W>;
  readonly #stillHolds: (write: W) => boolean;
  readonly #clock: Clock;
  readonly #pace: WritePace;
  readonly #inFlight: WritesInFlight<W>;
  #waiting = new WaitingWrites<W>([]);
  /** Delay until the next write may start. */
  #pauseTimer: Timer | undefined;
  #overdue: Timer | undefined;
  #stopped = false;
  #lastEndedMs = Number.NEGATIVE_INFINITY;
  /** Keys of the writes that were started since the last beginPlan. */
  #startedSince = new Set<string>();
  #outdated = false;
  #onChange: (() => void)[] = [];
  #writeEndListener: () => void = () => {};

  constructor(
    concurrency: number,
    clock: Clock,
    perform: Perform<W>,
    stillHolds: (write: W) => boolean = () => true,
  ) {
    this.#perform = perform;
    this.#stillHolds = stillHolds;
    this.#clock = clock;
    this.#pace = new WritePace(concurrency);
    this.#inFlight = new WritesInFlight(clock, concurrency);
  }

  /** Calls `listener` after each write that ends, when it is not in flight any more. */
  onWriteEnd(listener: () => void): void {
    this.#writeEndListener = listener;
  }

  /** Writes that were started and have not ended, by key. */
  get inFlight(): ReadonlyMap<string, unknown> {
    return this.#inFlight.all;
  }

  /** Writes not yet started. */
  get waiting(): number {
    return this.#waiting.size;
  }

  get limit(): number {
    return this.#inFlight.limit;
  }

  /** The API server accepts nothing and has asked for a wait. */
  get paused(): boolean {
    return this.#pace.isPaused(this.#clock.monotonic());
  }

  /** Monotonic time at which a write last ended; -Infinity before the first. */
  get lastEndedMs(): number {
    return this.#lastEndedMs;
  }

  get idle(): boolean {
    return this.waiting === 0 && this.#inFlight.all.size === 0;
  }

  /** Nothing waits, and every write in flight has lasted so long that a sync need not wait for it. */
  get onlySlowLeft(): boolean {
    return this.waiting === 0 && this.#inFlight.onlySlow;
  }

  /** Nothing is left to start, but a new plan would contain writes. */
  get outdated(): boolean {
    return this.#outdated && this.waiting === 0;
  }

  /** The computation of a plan begins. The plan cannot know of writes started from now on. */
  beginPlan(): void {
    this.#startedSince = new Set();
  }

  /**
   * Replaces the waiting writes by `writes`, in their order, except the keys that were started since beginPlan().
   * The next plan sees the outcome of those, and this plan does not. After stop() it accepts none.
   */
  replace(writes: readonly W[]): void {
    this.#outdated = false;
    const fresh = writes.filter(({ key }) => !this.#startedSince.has(key));
    this.#waiting = new WaitingWrites(this.#stopped ? [] : fresh);
    this.#inFlight.shared = this.#waiting.haveSeveralSources;
    this.#pump();
    this.#changed();
  }

  /** Resolves when `condition` holds. It is checked after each write that ends. */
  async until(condition: () => boolean): Promise<void> {
    while (!condition()) await new Promise<void>((resolve) => this.#onChange.push(resolve));
  }

  /** Makes until() check its condition again, for reasons outside the pool. */
  wake(): void {
    this.#changed();
  }

  #pump(): void {
    while (this.#inFlight.hasRoom() && !this.#mustPause()) {
      const write = this.#waiting.take((waiting) => this.#fitOf(waiting));
      if (!write) break;
      this.#start(write);
    }
    if (this.waiting === 0) this.#stopWatching();
    else if (!this.#overdue) this.#watch();
  }

  // Whether no write may start yet. Tries again when one may.
  #mustPause(): boolean {
    if (this.#pauseTimer || this.waiting === 0) return true;
    const waitMs = this.#pace.waitMs(this.#clock.monotonic());
    if (waitMs === 0) return false;
    this.#pauseTimer = this.#clock.setTimeout(() => {
      this.#pauseTimer = undefined;
      this.#pump();
      this.#changed();
    }, Math.ceil(waitMs));
    return true;
  }

  #fitOf(write: W): Fit {
    if (!this.#isLive(write)) return "dropped";
    const limit = this.#inFlight.limitOf(write);
    if (limit !== undefined) return { limit };
    return this.#inFlight.fits(write) ? "may start" : "no room";
  }

  #isLive(write: W): boolean {
    if (this.#inFlight.all.has(write.key)) return false;
    if (this.#stillHolds(write)) return true;
    this.#outdated = true;
    return false;
  }

  #start(write: W): void {
    this.#startedSince.add(write.key);
    const inFlight = this.#inFlight.take(write);
    this.#pace.began(inFlight.startedMs);
    const performed = this.#perform(write, inFlight.abort.signal);
    void performed.then((ended) => this.#ended(inFlight, ended));
  }

  #ended(inFlight: InFlight<W>, ended: WriteEnd): void {
    const { failed = false } = ended;
    for (const limit of this.#inFlight.end(inFlight, failed || ended.throttled))
      this.#waiting.unblock(limit);
    const now = this.#clock.monotonic();
    this.#lastEndedMs = now;
    if (ended.throttled) this.#pace.refused(inFlight.startedMs, now, ended.retryAfterMs);
    else this.#pace.taken(inFlight.startedMs, now);
    this.#allow(this.#pace.limit);
    this.#pump();
    this.#writeEndListener();
    this.#changed();
  }

  // Sets the time at which slow writes have to make room for others.
  #watch(): void {
    this.#stopWatching();
    if (this.paused || this.#stopped || this.waiting === 0) return;
    const { toAbort, nextMs } = this.#whatIsOverdue();
    if (toAbort.length === 0 && nextMs === Number.POSITIVE_INFINITY) return;
    const now = this.#clock.monotonic();
    const at = Math.ceil(toAbort.length > 0 ? now + ABORT_DELAY_MS : nextMs + 1);
    this.#overdue = this.#clock.setTimeout(() => {
      // After a turn that blocked the event loop, answers may still be unread.
      const late = this.#clock.monotonic() - at > ABORT_DELAY_MS;
      if (!late) for (const inFlight of this.#whatIsOverdue().toAbort) inFlight.abort.abort();
      this.#watch();
      this.#changed();
    }, at - now);
  }

  #whatIsOverdue(): ReturnType<WritesInFlight<W>["overdue"]> {
    // While only the pace delays the next write, no write waits for room.
    const forRoom = !this.#pauseTimer || !this.#inFlight.hasRoom();
    const anyWait = forRoom && this.#waiting.anyReady;
    return this.#inFlight.overdue(anyWait, this.#waiting.isAnyBlocked(SLOW));
  }

  #stopWatching(): void {
    this.#overdue?.cancel();
    this.#overdue = undefined;
  }

  // A higher limit may free writes that waited for a part of it.
  #allow(limit: number): void {
    const more = limit > this.limit;
    this.#inFlight.limit = limit;
    if (more) this.#waiting.unblockAll();
  }

  /** Aborts the writes in flight. Their outcome is then unknown. */
  abort(): void {
    for (const { abort } of this.#inFlight.all.values()) abort.abort();
  }

  /** Drops the waiting writes and resolves when none is in flight any more. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.replace([]);
    this.#pauseTimer?.cancel();
    this.#pauseTimer = undefined;
    await this.until(() => this.#inFlight.all.size === 0);
  }

  #changed(): void {
    const waiters = this.#onChange;
    this.#onChange = [];
    for (const wake of waiters) wake();
  }
}
