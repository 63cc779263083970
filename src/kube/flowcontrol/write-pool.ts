// A pool of writes between a plan and the API server, with a limit on the writes in flight. The others wait in
// the plan's order, except those that wait for one of their own kind to end (flights.ts). A newer plan replaces
// the waiting writes while others are in flight. It must leave out the keys in flight. A write whose decision
// was changed by an event after its plan was begun does not start. It waits for the next plan. If all waiting
// writes are outdated, `outdated` requests one. A write in flight is notified of such an event, so that it
// sends no further request. The 429s determine the limit in flight and when the next write starts
// (write-pace.ts).
import { Flights, type Flight, type PooledWrite } from "./flights.ts";
import type { Clock, Timer } from "../time/clock.ts";
import { WritePace } from "./write-pace.ts";

export type { PooledWrite } from "./flights.ts";

/** What the pool needs to know about the end of a write. */
export type WriteEnd = {
  readonly throttled: boolean;
  readonly retryAfterMs?: number | undefined;
  readonly failed?: boolean;
};

// A write that must make room is aborted this much later, because its answer may be on its way.
const LAST_CHANCE_MS = 20;

const DROPPED = "dropped";

type Parked<W> = { readonly writes: W[]; next: number };
type Perform<W> = (write: W, cut: AbortSignal, isOvertaken: () => boolean) => Promise<WriteEnd>;
/**
 * Whether the decision behind a write is still the same after events. `touched`: the changed keys and the
 * objects before the change, undefined where unknown.
 */
type IsStillDecided<W, B> = (write: W, touched: ReadonlyMap<string, B | undefined>) => boolean;

export class WritePool<W extends PooledWrite, B = never> {
  readonly #perform: Perform<W>;
  readonly #isStillDecided: IsStillDecided<W, B>;
  readonly #clock: Clock;
  readonly #pace: WritePace;
  readonly #flights: Flights<W>;
  #started = 0;
  #waiting: readonly W[] = [];
  #next = 0;
  /** Writes that wait for others of their kind to end, by the limit that they wait for. */
  #parked = new Map<string, Parked<W>>();
  #parkedCount = 0;
  #freed = new Set<string>();
  /** Delay until the next write may start. */
  #rest: Timer | undefined;
  #overdue: Timer | undefined;
  #stopped = false;
  #lastEndedMs = Number.NEGATIVE_INFINITY;
  #lastStartedMs = Number.NEGATIVE_INFINITY;
  /** A plan is being computed. */
  #planning = false;
  /**
   * Since the last mark: the keys of started writes, and the keys that events touched with their earlier
   * objects.
   */
  #startedSince = new Set<string>();
  #touchedSince = new Map<string, B | undefined>();
  /** The same since the start of the plan whose writes wait. */
  #startedBy = this.#startedSince;
  #touchedBy = this.#touchedSince;
  #outdated = false;
  #onChange: (() => void)[] = [];
  #onLanded: () => void = () => {};

  /** `perform` must not reject: a failed write is an outcome. It ends soon after `cut` aborts. */
  constructor(
    concurrency: number,
    clock: Clock,
    perform: Perform<W>,
    isStillDecided: IsStillDecided<W, B> = () => false,
  ) {
    this.#perform = perform;
    this.#isStillDecided = isStillDecided;
    this.#clock = clock;
    this.#pace = new WritePace(concurrency);
    this.#flights = new Flights(clock, concurrency);
  }

  /** Calls `listener` after each write that ends, when it is not in flight any more. */
  whenLanded(listener: () => void): void {
    this.#onLanded = listener;
  }

  /** Writes that were started and have not ended, by key. */
  get inFlight(): ReadonlyMap<string, unknown> {
    return this.#flights.all;
  }

  /** Writes not yet started. */
  get waiting(): number {
    return this.#waiting.length - this.#next + this.#parkedCount;
  }

  /** Writes started since the pool was created. */
  get started(): number {
    return this.#started;
  }

  /** Monotonic time at which a write last started; -Infinity before the first. */
  get lastStartedMs(): number {
    return this.#lastStartedMs;
  }

  get limit(): number {
    return this.#flights.limit;
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
    return this.waiting === 0 && this.#flights.all.size === 0;
  }

  /** Nothing waits, and every write in flight has lasted so long that a sync need not wait for it. */
  get calm(): boolean {
    return this.waiting === 0 && this.#flights.onlySlow;
  }

  /** Nothing is left to start, but a new plan would contain writes. */
  get outdated(): boolean {
    return this.#outdated && this.waiting === 0;
  }

  /** The computation of a plan begins. The plan cannot know of writes started or keys touched from now on. */
  mark(): void {
    this.#planning = true;
    this.#startedSince = new Set();
    this.#touchedSince = new Map();
  }

  /**
   * An event changed `key`: the key of a write or of a source, or the name of a namespace. Writes that were
   * planned before the event start or continue only if their decision is still the same. `before` is the object
   * before the event. If it is unknown, undefined replaces an earlier value.
   */
  touch(key: string, before: B | undefined): void {
    for (const flight of this.#flights.all.values()) {
      const { source, namespace } = flight.write;
      if (flight.overtaken || (source !== key && namespace !== key)) continue;
      flight.overtaken = !this.#isStillDecided(flight.write, new Map([[key, before]]));
    }
    if (!this.#planning && this.waiting === 0) return;
    for (const touched of new Set([this.#touchedSince, this.#touchedBy]))
      if (before === undefined || !touched.has(key)) touched.set(key, before);
  }

  /**
   * Replaces the waiting writes by `writes`, in their order, except the keys that were started or touched since
   * the mark. The next plan sees the outcome of those, and this plan does not. After stop() it accepts none.
   */
  replace(writes: readonly W[]): void {
    this.#planning = false;
    this.#outdated = false;
    this.#startedBy = this.#startedSince;
    this.#touchedBy = this.#touchedSince;
    this.#waiting = this.#stopped ? [] : writes;
    this.#next = 0;
    this.#parked = new Map();
    this.#parkedCount = 0;
    this.#freed = new Set();
    this.#flights.shared = haveSeveralSources(this.#waiting);
    this.#pump();
    this.#changed();
  }

  /** Resolves when `condition` holds. It is checked after each write that ends. */
  async until(condition: () => boolean): Promise<void> {
    while (!condition()) await new Promise<void>((resolve) => this.#onChange.push(resolve));
  }

  /** Makes until() check its condition again, for reasons outside the pool. */
  nudge(): void {
    this.#changed();
  }

  #pump(): void {
    while (this.#flights.hasRoom() && !this.#rests()) {
      const write = this.#take();
      if (!write) break;
      this.#start(write);
    }
    if (this.waiting === 0) this.#stopWatching();
    else if (!this.#overdue) this.#watch();
  }

  // Whether no write may start yet. Tries again when one may.
  #rests(): boolean {
    if (this.#rest || this.waiting === 0) return true;
    const waitMs = this.#pace.waitMs(this.#clock.monotonic());
    if (waitMs === 0) return false;
    this.#rest = this.#clock.setTimeout(() => {
      this.#rest = undefined;
      this.#pump();
      this.#changed();
    }, Math.ceil(waitMs));
    return true;
  }

  // Writes that waited for their own kind come first, because they came first in the plan.
  #take(): W | undefined {
    for (const reason of this.#freed) {
      const parked = this.#parked.get(reason);
      const taken = parked && this.#takeFrom(parked, reason);
      if (taken === "no room") return undefined;
      if (taken) return taken;
      this.#freed.delete(reason);
    }
    for (let write = this.#waiting[this.#next]; write; write = this.#waiting[this.#next]) {
      const bound = this.#boundOf(write);
      if (bound === undefined && !this.#flights.fits(write)) return undefined;
      this.#next++;
      if (bound === undefined) return write;
      this.#park(write, bound);
    }
    return undefined;
  }

  #takeFrom(parked: Parked<W>, reason: string): W | "no room" | undefined {
    for (let write = parked.writes[parked.next]; write; write = parked.writes[parked.next]) {
      const bound = this.#boundOf(write);
      if (bound === reason) return undefined;
      if (bound === undefined && !this.#flights.fits(write)) return "no room";
      parked.next++;
      this.#parkedCount--;
      if (bound === undefined) return write;
      this.#park(write, bound);
    }
    return undefined;
  }

  // The limit that prevents the write from starting. Undefined: no limit applies.
  #boundOf(write: W): string | undefined {
    return this.#isLive(write) ? this.#flights.bound(write) : DROPPED;
  }

  #park(write: W, reason: string): void {
    if (reason === DROPPED) return;
    this.#parkedCount++;
    const parked = this.#parked.get(reason);
    if (parked) parked.writes.push(write);
    else this.#parked.set(reason, { writes: [write], next: 0 });
  }

  /** Whether the write may start: no event and no ended write has outdated its plan. */
  #isLive(write: W): boolean {
    if (this.#startedBy.has(write.key) || this.#flights.all.has(write.key)) return false;
    const touched = this.#touchedBy;
    if (touched.size === 0 || !isTouched(write, touched)) return true;
    if (!touched.has(write.key) && this.#isStillDecided(write, touched)) return true;
    this.#outdated = true;
    return false;
  }

  #start(write: W): void {
    this.#started++;
    this.#startedSince.add(write.key);
    this.#startedBy.add(write.key);
    const flight = this.#flights.take(write);
    this.#lastStartedMs = flight.startedMs;
    this.#pace.began(flight.startedMs);
    const isOvertaken = (): boolean => flight.overtaken;
    const performed = this.#perform(write, flight.cut.signal, isOvertaken);
    void performed.then((ended) => this.#land(flight, ended));
  }

  #land(flight: Flight<W>, ended: WriteEnd): void {
    const { failed = false } = ended;
    for (const reason of this.#flights.land(flight, failed || ended.throttled))
      if (this.#parked.has(reason)) this.#freed.add(reason);
    const now = this.#clock.monotonic();
    this.#lastEndedMs = now;
    if (ended.throttled) this.#pace.refused(flight.startedMs, now, ended.retryAfterMs);
    else this.#pace.taken(flight.startedMs, now);
    this.#allow(this.#pace.limit);
    this.#pump();
    this.#onLanded();
    this.#changed();
  }

  // Sets the time at which slow writes have to make room for others.
  #watch(): void {
    this.#stopWatching();
    if (this.paused || this.#stopped || this.waiting === 0) return;
    const { cut, nextMs } = this.#whatIsOverdue();
    if (cut.length === 0 && nextMs === Number.POSITIVE_INFINITY) return;
    const now = this.#clock.monotonic();
    const at = Math.ceil(cut.length > 0 ? now + LAST_CHANCE_MS : nextMs + 1);
    this.#overdue = this.#clock.setTimeout(() => {
      // After a turn that blocked the event loop, answers may still be unread.
      const late = this.#clock.monotonic() - at > LAST_CHANCE_MS;
      if (!late) for (const flight of this.#whatIsOverdue().cut) flight.cut.abort();
      this.#watch();
      this.#changed();
    }, at - now);
  }

  #whatIsOverdue(): ReturnType<Flights<W>["overdue"]> {
    // While only the pace delays the next write, no write waits for room.
    const forRoom = !this.#rest || !this.#flights.hasRoom();
    const anyWait = forRoom && (this.#next < this.#waiting.length || this.#freed.size > 0);
    return this.#flights.overdue(anyWait, this.#parked.has("slow"));
  }

  #stopWatching(): void {
    this.#overdue?.cancel();
    this.#overdue = undefined;
  }

  // A higher limit may free writes that waited for a part of it.
  #allow(limit: number): void {
    const more = limit > this.limit;
    this.#flights.limit = limit;
    if (more) for (const reason of this.#parked.keys()) this.#freed.add(reason);
  }

  /** Aborts the writes in flight. Their outcome is then unknown. */
  cut(): void {
    for (const { cut } of this.#flights.all.values()) cut.abort();
  }

  /** Drops the waiting writes and resolves when none is in flight any more. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.replace([]);
    this.#rest?.cancel();
    this.#rest = undefined;
    await this.until(() => this.#flights.all.size === 0);
  }

  #changed(): void {
    const waiters = this.#onChange;
    this.#onChange = [];
    for (const wake of waiters) wake();
  }
}

function isTouched(
  { key, namespace = "", source = "" }: PooledWrite,
  touched: ReadonlyMap<string, unknown>,
): boolean {
  return touched.has(key) || touched.has(source) || touched.has(namespace);
}

// Sources take turns in a plan, so a second one appears near its beginning.
const FIRST_OF_A_PLAN = 64;

function haveSeveralSources(writes: readonly PooledWrite[]): boolean {
  const [first] = writes;
  return writes.slice(0, FIRST_OF_A_PLAN).some(({ source }) => source !== first?.source);
}
