// When the cluster or the controller was last in a state that delays everybody, and when in one that
// delays what needs a live read: endings, and the entries of pulling Secrets.
import type { Change } from "../judges/expectations.ts";

/** A question that failed is asked again after at most so long. */
const ASKED_AGAIN_MS = 30_000;

export class Disturbance {
  #overMs = -Infinity;
  #beganMs = -Infinity;
  #lasting = 0;
  #readsMs = -Infinity;

  disturbedMs(change: Change): number {
    return change === "ended" || change === "pulled"
      ? Math.max(this.#overMs, this.#readsMs)
      : this.#overMs;
  }

  /** While `work` goes on, nobody is expected to be served. */
  async during<T>(work: () => Promise<T>): Promise<T> {
    if (this.#lasting++ === 0) this.#beganMs = performance.now();
    this.#overMs = Infinity;
    try {
      return await work();
    } finally {
      if (--this.#lasting === 0) this.#overMs = performance.now();
    }
  }

  /** Whether one that took so long goes on, or ended within `agoMs`. */
  lasted(ms: number, agoMs: number): boolean {
    const now = performance.now();
    return Math.min(now, this.#overMs) - this.#beganMs > ms && now - this.#overMs < agoMs;
  }

  /** From now on nothing is expected that needs a live read, since none is answered. */
  holdLiveReads(): void {
    this.#readsMs = Infinity;
  }

  releaseLiveReads(): void {
    this.#readsMs = performance.now() + ASKED_AGAIN_MS;
  }
}
