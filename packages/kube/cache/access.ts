// Tracks whether the API server allows us to list and watch one scope.
// Promises: access is denied only after every answer has been 403 for five seconds, because a starting server
// refuses requests that it accepts a moment later. The first success restores access. Listeners are called at
// each change.
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

  /** A list or a watch was answered with 403. */
  refused(): void {
    const now = this.#clock.monotonic();
    this.#refusedSince ??= now;
    if (now - this.#refusedSince >= DENIED_AFTER_MS) this.#set(true);
  }

  /** A list or a watch was accepted. */
  granted(): void {
    this.#refusedSince = undefined;
    this.#set(false);
  }

  /** Calls `listener` at each later change. */
  onChange(listener: (denied: boolean) => void): void {
    this.#listeners.add(listener);
  }

  #set(denied: boolean): void {
    if (denied === this.#denied) return;
    this.#denied = denied;
    for (const listener of this.#listeners) listener(denied);
  }
}

/** Resolves if the API server denies it, now or later. */
export function whenDenied(access: Pick<Access, "denied" | "onChange">): Promise<void> {
  return new Promise((resolve) => {
    if (access.denied) resolve();
    else access.onChange((denied) => denied && resolve());
  });
}
