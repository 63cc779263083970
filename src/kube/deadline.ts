// A caller's signal and a time limit as one signal, without leaving a listener or timer behind.
import type { Clock, Timer } from "./clock.ts";

export class Deadline {
  readonly #controller = new AbortController();
  readonly #parents: readonly AbortSignal[];
  readonly #timer: Timer;
  #expired = false;

  /** `ms` from now, or when one of `parents` aborts. */
  constructor(clock: Clock, ms: number, ...parents: readonly (AbortSignal | undefined)[]) {
    this.#parents = parents.filter((parent) => parent !== undefined);
    this.#timer = clock.setTimeout(() => {
      this.#expired = true;
      this.#controller.abort();
    }, ms);
    for (const parent of this.#parents) {
      if (parent.aborted) this.#controller.abort();
      else parent.addEventListener("abort", this.#abort, { once: true });
    }
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Whether time ran out; false when a parent aborted first. */
  get expired(): boolean {
    return this.#expired;
  }

  /** Time no longer counts; the parents still do. */
  stopTimer(): void {
    this.#timer.cancel();
  }

  /** Ends what the signal guards. */
  abort(): void {
    this.#controller.abort();
    this.release();
  }

  /** Lets go of the timer and the parents; call it when the guarded work has ended. */
  release(): void {
    this.#timer.cancel();
    for (const parent of this.#parents) parent.removeEventListener("abort", this.#abort);
  }

  readonly #abort = (): void => this.#controller.abort();
}

/** `work`, or a rejection as soon as `signal` aborts; the work itself goes on unwatched. */
export function abandonable<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = (): void => reject(new Error("aborted"));
    if (signal.aborted) stop();
    else signal.addEventListener("abort", stop, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", stop));
  });
}
