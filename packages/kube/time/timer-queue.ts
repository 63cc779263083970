// Items that wait for their time, with one timer for the earliest.
// Promises: each item is handed out once, in the order of their times, never before its time.
// Does not promise an order among equal times.
import type { Clock, Timer } from "./clock.ts";
import { Heap } from "./heap.ts";

/** `readyAt` is monotonic time in ms. Only the queue changes it while it holds the item. */
export type Timed = { readyAt: number };

export class TimerQueue<T extends Timed> {
  readonly #clock: Clock;
  readonly #onDue: (item: T) => void;
  readonly #items = new Heap<T>((a, b) => a.readyAt < b.readyAt);
  #timer: Timer | undefined;

  constructor(clock: Clock, onDue: (item: T) => void) {
    this.#clock = clock;
    this.#onDue = onDue;
  }

  /** Adds the item, or changes its time. */
  set(item: T, readyAt: number): void {
    this.#items.remove(item);
    item.readyAt = readyAt;
    this.#items.push(item);
    this.#arm();
  }

  remove(item: T): void {
    if (this.#items.remove(item)) this.#arm();
  }

  /** Removes all items without handing them out as due. */
  drop(): T[] {
    const dropped: T[] = [];
    for (let item = this.#items.pop(); item; item = this.#items.pop()) dropped.push(item);
    this.#arm();
    return dropped;
  }

  #arm(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    const next = this.#items.peek();
    if (!next) return;
    const left = Math.max(0, next.readyAt - this.#clock.monotonic());
    this.#timer = this.#clock.setTimeout(() => this.#fire(), left);
  }

  #fire(): void {
    const now = this.#clock.monotonic();
    for (let next = this.#items.peek(); next && next.readyAt <= now; next = this.#items.peek()) {
      this.#items.pop();
      this.#onDue(next);
    }
    // A timer may fire a little early by the monotonic clock. Then no item is due yet.
    this.#arm();
  }
}
