// Provides the status page with answers and with notice of changes. Readers with the same filter share the work
// of one answer. Only those answers are stored, and only until the next change.
import type { Clock } from "../../packages/kube/time/clock.ts";
import type { Filter } from "./filter.ts";
import { readStatus, type ControllerSnapshot, type Status } from "./status.ts";

// Changes without a plan (a watch, the leader) are shown at most this late.
const STALE_MS = 2000;
// Each reader can use a different filter.
const MOST_ANSWERS = 64;

type Answer = { readonly at: number; readonly status: Promise<Status> };

export class StatusFeed {
  readonly #clock: Clock;
  readonly #version: string;
  #read: (() => ControllerSnapshot) | undefined;
  #plannedMs: number | undefined;
  readonly #answers = new Map<string, Answer>();
  readonly #waiting = new Set<() => void>();

  constructor(clock: Clock, version: string) {
    this.#clock = clock;
    this.#version = version;
  }

  /** Sets the source of snapshots. Reads work from then on. */
  observe(read: () => ControllerSnapshot): void {
    this.#read = read;
  }

  /** Reports a new plan. */
  changed(): void {
    this.#plannedMs = this.#clock.now();
    this.#answers.clear();
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    for (const wake of waiting) wake();
  }

  read(filter: Filter): Promise<Status> {
    const key = JSON.stringify(filter);
    const now = this.#clock.monotonic();
    const known = this.#answers.get(key);
    if (known && now - known.at < STALE_MS) return known.status;
    for (const [other, { at }] of this.#answers)
      if (now - at >= STALE_MS || this.#answers.size >= MOST_ANSWERS) this.#answers.delete(other);
    if (!this.#read) throw new Error("Cannot read a status before there is something to look at");
    const origin = { version: this.#version, plannedMs: this.#plannedMs };
    const status = readStatus(this.#read(), origin, filter);
    this.#answers.set(key, { at: now, status });
    return status;
  }

  /** Resolves at the next change, after `ms`, or when `signal` aborts. */
  next(ms: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const done = (): void => {
        this.#waiting.delete(done);
        timer.cancel();
        signal.removeEventListener("abort", done);
        resolve();
      };
      const timer = this.#clock.setTimeout(done, ms);
      this.#waiting.add(done);
      signal.addEventListener("abort", done);
      if (signal.aborted) done();
    });
  }
}
