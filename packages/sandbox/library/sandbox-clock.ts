// The time of a sandbox in another project's test: it stands still, or passes as on this machine, and a step
// moves it on. Calls that are due happen in their order.
import { inRealTime, type Schedule } from "../storage/schedule.ts";
import { checkStep } from "./checks.ts";

type Waiting = { readonly due: number; readonly fn: () => void; cancelTimer: () => void };

export class SandboxClock {
  readonly #passes: boolean;
  /** What is added to the machine's clock where time passes. Where it stands still, the time itself. */
  #offset: number;
  readonly #waiting = new Set<Waiting>();

  /** Without `time`, time passes. */
  constructor(time: number | undefined) {
    this.#passes = time === undefined;
    this.#offset = time ?? 0;
  }

  now(): number {
    return this.#offset + (this.#passes ? Date.now() : 0);
  }

  readonly schedule: Schedule = (fn, ms) => {
    const waiting: Waiting = { due: this.now() + ms, fn, cancelTimer: () => undefined };
    this.#waiting.add(waiting);
    this.#arm(waiting);
    return () => this.#forget(waiting);
  };

  step(ms: number): void {
    checkStep(this.now(), ms);
    const end = this.now() + ms;
    for (let next = this.#next(end); next !== undefined; next = this.#next(end)) {
      this.#offset += Math.max(0, next.due - this.now());
      this.#forget(next);
      next.fn();
    }
    this.#offset += Math.max(0, end - this.now());
    for (const waiting of this.#waiting) this.#arm(waiting);
  }

  /** The first one that is due by `end`. */
  #next(end: number): Waiting | undefined {
    let first: Waiting | undefined;
    for (const waiting of this.#waiting)
      if (waiting.due <= end && (first === undefined || waiting.due < first.due)) first = waiting;
    return first;
  }

  #arm(waiting: Waiting): void {
    waiting.cancelTimer();
    if (!this.#passes) return;
    const fire = (): void => {
      this.#forget(waiting);
      waiting.fn();
    };
    waiting.cancelTimer = inRealTime(fire, Math.max(0, waiting.due - this.now()));
  }

  #forget(waiting: Waiting): void {
    waiting.cancelTimer();
    this.#waiting.delete(waiting);
  }
}
