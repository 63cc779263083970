// The pipe of writes between a plan and the API server: so many in flight, the rest waiting in the
// plan's order. A newer plan replaces the waiting rest while writes fly; it must leave out the keys
// in flight. A 429 halves what may fly and pauses the pipe for as long as the server asks; each full
// round of successes lets one more fly again, up to the configured number.
import type { Clock, Timer } from "./kube/clock.ts";

export type Write = { readonly key: string };
/** What the pipe must know of how a write ended. */
export type Ended = { readonly throttled: boolean; readonly retryAfterMs?: number | undefined };

// The shortest pause after a 429 without Retry-After: the server's own default in that header.
const PAUSE_MS = 1000;

export class WritePipe<W extends Write> {
  readonly #perform: (write: W) => Promise<Ended>;
  readonly #clock: Clock;
  readonly #most: number;
  #limit: number;
  #successes = 0;
  #started = 0;
  #waiting: readonly W[] = [];
  #next = 0;
  #paused: Timer | undefined;
  #stopped = false;
  #lastEndedMs = Number.NEGATIVE_INFINITY;
  readonly #inFlight = new Map<string, W>();
  /** Keys of writes started since the last mark. */
  #sinceMark = new Set<string>();
  #onChange: (() => void)[] = [];

  /** `perform` must not reject: a failed write is an outcome. */
  constructor(concurrency: number, clock: Clock, perform: (write: W) => Promise<Ended>) {
    this.#perform = perform;
    this.#clock = clock;
    this.#most = concurrency;
    this.#limit = concurrency;
  }

  /** Keys of writes that were started and have not ended. */
  get inFlight(): ReadonlyMap<string, W> {
    return this.#inFlight;
  }

  /** Writes not yet started. */
  get waiting(): number {
    return this.#waiting.length - this.#next;
  }

  /** Writes started since the pipe was made. */
  get started(): number {
    return this.#started;
  }

  get limit(): number {
    return this.#limit;
  }

  /** Monotonic time at which a write last ended; -Infinity before the first. */
  get lastEndedMs(): number {
    return this.#lastEndedMs;
  }

  get idle(): boolean {
    return this.waiting === 0 && this.#inFlight.size === 0;
  }

  /** A plan begins to be made: what starts from here on, it cannot know of. */
  mark(): void {
    this.#sinceMark = new Set();
  }

  /**
   * Drops what waits and takes these instead, in their order, but for the keys that were started
   * since the mark: whatever became of them, the next plan sees it and this one does not. After
   * stop() it takes none.
   */
  replace(writes: readonly W[]): void {
    const fresh = writes.filter(({ key }) => !this.#sinceMark.has(key));
    this.#waiting = this.#stopped ? [] : fresh;
    this.#next = 0;
    this.#pump();
    this.#changed();
  }

  /** Resolves when `condition` holds; looked at after each write that ends. */
  async until(condition: () => boolean): Promise<void> {
    while (!condition()) await new Promise<void>((resolve) => this.#onChange.push(resolve));
  }

  /** Makes until() look at its condition again, for reasons outside the pipe. */
  nudge(): void {
    this.#changed();
  }

  #pump(): void {
    while (!this.#paused && this.#inFlight.size < this.#limit) {
      const write = this.#waiting[this.#next];
      if (!write) return;
      this.#next++;
      // A plan made before this write ended may still hold it; the next plan knows better.
      if (this.#inFlight.has(write.key)) continue;
      this.#start(write);
    }
  }

  #start(write: W): void {
    this.#started++;
    this.#sinceMark.add(write.key);
    this.#inFlight.set(write.key, write);
    void this.#perform(write).then((ended) => {
      this.#inFlight.delete(write.key);
      this.#lastEndedMs = this.#clock.monotonic();
      if (ended.throttled) this.#slowDown(ended.retryAfterMs ?? PAUSE_MS);
      else this.#speedUp();
      this.#pump();
      this.#changed();
    });
  }

  #slowDown(pauseMs: number): void {
    // The other writes of the same burst are refused with it: halve once a pause, not once a write.
    if (this.#paused || this.#stopped) return;
    this.#limit = Math.max(1, Math.floor(this.#limit / 2));
    this.#successes = 0;
    this.#paused = this.#clock.setTimeout(() => {
      this.#paused = undefined;
      this.#pump();
    }, pauseMs);
  }

  #speedUp(): void {
    if (this.#limit >= this.#most || ++this.#successes < this.#limit) return;
    this.#successes = 0;
    this.#limit++;
  }

  /** Drops what waits and resolves when nothing is in flight any more. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#waiting = [];
    this.#next = 0;
    this.#paused?.cancel();
    this.#paused = undefined;
    await this.until(() => this.#inFlight.size === 0);
  }

  #changed(): void {
    const waiters = this.#onChange;
    this.#onChange = [];
    for (const wake of waiters) wake();
  }
}
