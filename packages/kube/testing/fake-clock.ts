// A clock that moves only when a test says so. Timers fire in the order of their times, and between
// two of them the event loop gets its turns, so that code awaiting a timer runs on before the next.
import type { Clock, Timer } from "../time/clock.ts";

type Pending = { readonly at: number; readonly order: number; readonly fn: () => void };

export class FakeClock implements Clock {
  #monotonic = 0;
  #suspended = 0;
  #order = 0;
  readonly #start: number;
  readonly #pending = new Set<Pending>();
  /** What random() answers; 0.5 makes every symmetric jitter vanish. */
  chance: () => number = () => 0.5;

  constructor(start = Date.UTC(2026, 0, 1)) {
    this.#start = start;
  }

  now(): number {
    return this.#start + this.#monotonic + this.#suspended;
  }

  monotonic(): number {
    return this.#monotonic;
  }

  boottime(): number {
    return this.#monotonic + this.#suspended;
  }

  /** The machine sleeps for so long: only boottime() and the wall clock show it. */
  suspend(ms: number): void {
    this.#suspended += ms;
  }

  random(): number {
    return this.chance();
  }

  setTimeout(fn: () => void, ms: number): Timer {
    const pending = { at: this.#monotonic + Math.max(0, ms), order: this.#order++, fn };
    this.#pending.add(pending);
    return { cancel: () => void this.#pending.delete(pending) };
  }

  /** Timers not yet fired: a test's leak check. */
  get timers(): number {
    return this.#pending.size;
  }

  /** Milliseconds until the next timer, or undefined. */
  get untilNext(): number | undefined {
    const next = this.#next();
    return next && next.at - this.#monotonic;
  }

  /** Steps the clock by `ms`, firing what comes due on the way. */
  async advance(ms: number): Promise<void> {
    const end = this.#monotonic + ms;
    await settle();
    for (let next = this.#next(); next && next.at <= end; next = this.#next()) {
      this.#pending.delete(next);
      this.#monotonic = Math.max(this.#monotonic, next.at);
      next.fn();
      await settle();
    }
    this.#monotonic = end;
    await settle();
  }

  #next(): Pending | undefined {
    let first: Pending | undefined;
    for (const pending of this.#pending) {
      if (
        !first ||
        pending.at < first.at ||
        (pending.at === first.at && pending.order < first.order)
      )
        first = pending;
    }
    return first;
  }
}

const TURNS = 5;

/** Lets promises and immediates that are ready run to their next wait. */
export function settle(): Promise<void> {
  return new Promise((resolve) => {
    let turns = 0;
    const turn = (): void => void (turns++ < TURNS ? setImmediate(turn) : resolve());
    turn();
  });
}
