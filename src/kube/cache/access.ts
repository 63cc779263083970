// Whether the API server lets us list and watch one scope.
// Promises: a refusal counts only once every answer has been 403 for five seconds, since a server that
// starts refuses what it takes a moment later; the first success ends it; listeners hear each change.
import type { Clock } from "../time/clock.ts";

const DENIED_AFTER_MS = 5000;

export class Access {
  readonly #clock: Pick<Clock, "monotonic">;
  readonly #listeners = new Set<(denied: boolean) => void>();
  #refusedSince: number | undefined;
  #denied = false;

  constructor(clock: Pick<Clock, "monotonic">) {
    this.#clock = clock;
  }

  get denied(): boolean {
    return this.#denied;
  }

  /** A list or a watch was answered by 403. */
  refused(): void {
    const now = this.#clock.monotonic();
    this.#refusedSince ??= now;
    if (now - this.#refusedSince >= DENIED_AFTER_MS) this.#set(true);
  }

  /** A list or a watch was taken. */
  granted(): void {
    this.#refusedSince = undefined;
    this.#set(false);
  }

  /** Calls `listener` at each change from here on. */
  onChange(listener: (denied: boolean) => void): void {
    this.#listeners.add(listener);
  }

  #set(denied: boolean): void {
    if (denied === this.#denied) return;
    this.#denied = denied;
    for (const listener of this.#listeners) listener(denied);
  }
}
