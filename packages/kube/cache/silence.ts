// How long a watch may be silent on an open connection. An API server sends a bookmark on a quiet watch about once
// a minute, so silence needs no extra request to be noticed.
// Promises: a watch ends after 150 s without a byte, once the server has sent a bookmark by itself, on this watch or
// on an earlier one. Before that, silence proves nothing, because a server without a watch cache sends none.
import type { Clock, Timer } from "../time/clock.ts";

/** The first bookmark comes after two minutes at most, and the next ones after a minute. */
const SILENT_MS = 150_000;

/** One open watch. */
export type SilenceGuard = {
  /** Something arrived. */
  heard(): void;
  /** Releases the timer. Call it when the watch has ended. */
  release(): void;
};

export class Silence {
  readonly #clock: Pick<Clock, "monotonic" | "setTimeout">;
  #bookmarked = false;
  #begin: (() => void) | undefined;

  constructor(clock: Pick<Clock, "monotonic" | "setTimeout">) {
    this.#clock = clock;
  }

  /** The server has sent a bookmark that is not the end of a list. */
  bookmarked(): void {
    if (this.#bookmarked) return;
    this.#bookmarked = true;
    this.#begin?.();
  }

  /** Calls `onSilent` with the length of the silence in ms, once at most. One watch at a time. */
  guard(onSilent: (ms: number) => void): SilenceGuard {
    let heardAt = this.#clock.monotonic();
    let timer: Timer | undefined;
    // One timer for each silence, and not for each chunk.
    const wait = (ms: number): void => {
      timer = this.#clock.setTimeout(() => {
        const left = heardAt + SILENT_MS - this.#clock.monotonic();
        if (left > 0) wait(left);
        else onSilent(SILENT_MS);
      }, ms);
    };
    const begin = (): void => wait(SILENT_MS);
    if (this.#bookmarked) begin();
    else this.#begin = begin;
    return {
      heard: () => {
        heardAt = this.#clock.monotonic();
      },
      release: () => {
        timer?.cancel();
        this.#begin = undefined;
      },
    };
  }
}
