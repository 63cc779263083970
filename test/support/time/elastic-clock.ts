// Real time, faster or skewed: for tests over sockets in which minutes must pass. Timers that are
// armed follow a change of speed.
import { systemClock, type Clock, type Timer } from "../../../packages/kube/time/clock.ts";

type Armed = { readonly at: number; readonly fn: () => void; timer: Timer };

export class ElasticClock implements Clock {
  readonly #skewMs: number;
  readonly #armed = new Set<Armed>();
  #speed = 1;
  #reached = 0;
  #since = performance.now();

  /** `skewMs`: how far the wall clock is off. */
  constructor(skewMs = 0) {
    this.#skewMs = skewMs;
  }

  now(): number {
    return systemClock.now() + this.#skewMs;
  }

  monotonic(): number {
    return this.#reached + (performance.now() - this.#since) * this.#speed;
  }

  boottime(): number {
    return this.monotonic();
  }

  random(): number {
    return systemClock.random();
  }

  setTimeout(fn: () => void, ms: number): Timer {
    const armed: Armed = {
      at: this.monotonic() + ms,
      fn,
      timer: { cancel: () => undefined },
    };
    this.#armed.add(armed);
    this.#arm(armed);
    return {
      cancel: () => {
        armed.timer.cancel();
        this.#armed.delete(armed);
      },
    };
  }

  /** From now on `speed` seconds pass in one. */
  run(speed: number): void {
    this.#reached = this.monotonic();
    this.#since = performance.now();
    this.#speed = speed;
    for (const armed of this.#armed) {
      armed.timer.cancel();
      this.#arm(armed);
    }
  }

  #arm(armed: Armed): void {
    const left = Math.max(0, armed.at - this.monotonic()) / this.#speed;
    armed.timer = systemClock.setTimeout(() => {
      this.#armed.delete(armed);
      armed.fn();
    }, left);
  }
}
