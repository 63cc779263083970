// Leader election on a coordination.k8s.io/v1 Lease.
// Promises: leading begins only with a Lease that names us. isLeader is false once the renew deadline after the
// last renewal is over. It is measured by a clock that counts suspended time, whether or not any timer ran. A
// lost lease aborts the work at once. On a cancel, the lease is renewed until the work has ended. Only then is
// it released, and only if the fetched Lease names us. run() works once: after a loss the process should end.
// Does not promise that no other process leads, because there is no fencing. A write may start while we lead
// and arrive when another leads. So writes must carry preconditions and a timeout of at most msLeft. The rates
// of the machines' clocks may differ by lease duration / renew deadline, and their times by any amount.
import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import { longestSince, type Moment } from "../time/clock.ts";
import {
  checkDurations,
  JITTER_FACTOR,
  type LeaderCallbacks,
  type LeaderElectorOptions,
} from "./elector-options.ts";
import { LeaderRun } from "./leader-run.ts";
import { LeaseLock } from "./lease-lock.ts";
import { Reachability } from "../rest/reachability.ts";
import { withTimeout } from "../time/deadline.ts";

type Defaulted = Required<
  Pick<
    LeaderElectorOptions,
    "leaseDurationMs" | "renewDeadlineMs" | "retryPeriodMs" | "reachability"
  >
>;

class LeaseLostError extends Error {
  override readonly name = "LeaseLostError";
}

// If a server fails half of all requests, all of the five attempts before the deadline would fail every few
// minutes. There is only one leader, and its request is tiny.
const TRIES_A_PERIOD_AFTER_FAILURE = 4;

/** Creates an identity that is unique to this process and readable for users. */
export function newIdentity(): string {
  return `${hostname()}_${randomUUID()}`;
}

/** Leader election on a Lease, as in client-go. It is not a fence: writes need preconditions. */
export class LeaderElector {
  readonly #options: LeaderElectorOptions & Defaulted;
  readonly #lock: LeaseLock;
  #callbacks: LeaderCallbacks | undefined;
  #leading = false;
  #renewedAt: Moment | undefined;
  #reported = "";

  /** Throws a RangeError for times that are not consistent. */
  constructor(options: LeaderElectorOptions) {
    const { leaseDurationMs = 15_000, renewDeadlineMs = 10_000, retryPeriodMs = 2000 } = options;
    checkDurations(leaseDurationMs, renewDeadlineMs, retryPeriodMs);
    if (options.identity === "")
      throw new TypeError('Cannot elect a leader with the identity "": it must not be empty');
    const reachability = options.reachability ?? new Reachability(options.clock);
    const times = { leaseDurationMs, renewDeadlineMs, retryPeriodMs };
    this.#options = { ...options, ...times, reachability };
    this.#lock = new LeaseLock({
      ...this.#options,
      requestTimeoutMs: Math.max(1000, renewDeadlineMs / 2),
      onRecord: (holder) => this.#report(holder),
    });
    options.metrics?.leading(false);
  }

  /** The Lease that names us, as last seen. Undefined if we do not hold it. */
  get lease(): { namespace: string; name: string; uid: string } | undefined {
    return this.#lock.own;
  }

  /**
   * How often the Lease that names us has changed its holder, as last seen. Undefined if we do not hold it.
   * @internal
   */
  get transitions(): number | undefined {
    return this.#lock.transitions;
  }

  /** Whether a write may begin now. */
  get isLeader(): boolean {
    return this.msLeft > 0;
  }

  /** The identity that was last seen to hold the lease. "" means that it has no holder. */
  get holder(): string {
    return this.#reported;
  }

  /** Ms since the last successful renewal was sent, including suspended time. Infinity when not leading. */
  get msSinceRenewal(): number {
    if (!this.#leading || !this.#renewedAt) return Number.POSITIVE_INFINITY;
    return longestSince(this.#options.clock, this.#renewedAt);
  }

  /** How long we may still write without another renewal, in ms: the maximum timeout of a write. */
  get msLeft(): number {
    return Math.max(0, this.#options.renewDeadlineMs - this.msSinceRenewal);
  }

  /** False when we hold the lease but did not renew it until `toleranceMs` after its end. */
  healthy(toleranceMs = 20_000): boolean {
    return !this.#leading || this.msSinceRenewal <= this.#options.leaseDurationMs + toleranceMs;
  }

  /**
   * Acquires the lease and leads. Ends when the lease is lost or, after `signal`, when the work has ended and
   * the lease is released. Rejects with the work's own error, after the lease is released.
   */
  async run(signal: AbortSignal, callbacks: LeaderCallbacks): Promise<"cancelled" | "lost"> {
    if (this.#callbacks) throw new Error("Cannot run a leader elector twice: make a new one");
    this.#callbacks = callbacks;
    try {
      const acquired = await this.#acquire(signal);
      if (acquired && !signal.aborted) return await this.#lead(signal, callbacks);
      // A claim may have arrived although we did not wait for its answer.
      if (acquired || this.#lock.unanswered) await this.#release();
      return "cancelled";
    } finally {
      this.#setLeading(false);
      callbacks.onStoppedLeading?.();
    }
  }

  async #acquire(signal: AbortSignal): Promise<boolean> {
    while (!signal.aborted) {
      try {
        const claim = await this.#lock.tryAcquireOrRenew(signal);
        this.#options.onAnswer?.();
        if (claim.held && this.#renew(claim.since)) return true;
      } catch (error) {
        if (!signal.aborted) this.#options.onError?.(error);
      }
      const wait = this.#options.retryPeriodMs * (1 + JITTER_FACTOR * this.#options.clock.random());
      await this.#options.reachability.sleep(wait, signal);
    }
    return false;
  }

  async #lead(signal: AbortSignal, callbacks: LeaderCallbacks): Promise<"cancelled" | "lost"> {
    this.#setLeading(true);
    this.#options.onEvent?.(`${this.#options.identity} became leader`);
    const work = new LeaderRun(signal, callbacks.onStartedLeading);
    try {
      if (!(await this.#keep(work.over))) {
        this.#setLeading(false);
        work.abort(new LeaseLostError(`The lease "${this.#options.name}" is lost`));
        return "lost";
      }
      await this.#release();
      work.throwIfFailed();
      return "cancelled";
    } finally {
      work.dispose();
      this.#options.onEvent?.(`${this.#options.identity} stopped leading`);
    }
  }

  /** Renews until `over` aborts (true) or the lease is lost (false). */
  async #keep(over: AbortSignal): Promise<boolean> {
    let tellFrom = 0;
    for (let wait = this.#options.retryPeriodMs; ;) {
      await this.#options.reachability.sleep(Math.min(wait, this.msLeft), over);
      if (over.aborted) return true;
      if (this.msLeft === 0) return false;
      wait = this.#options.retryPeriodMs;
      try {
        const claim = await withTimeout(this.#options.clock, this.msLeft, over, (inner) =>
          this.#lock.tryAcquireOrRenew(inner),
        );
        this.#options.onAnswer?.();
        if (!claim.held) return false;
        this.#renew(claim.since);
      } catch (error) {
        wait /= TRIES_A_PERIOD_AFTER_FAILURE;
        const now = this.#options.clock.monotonic();
        if (over.aborted || now < tellFrom) continue;
        tellFrom = now + this.#options.retryPeriodMs;
        this.#options.onError?.(error);
      }
    }
  }

  /** Returns whether the renewal, sent at `since`, was answered soon enough to be useful. */
  #renew(since: Moment): boolean {
    this.#renewedAt = since;
    return longestSince(this.#options.clock, since) < this.#options.renewDeadlineMs;
  }

  async #release(): Promise<void> {
    this.#setLeading(false);
    if (this.#options.releaseOnCancel === false) return;
    const signal = new AbortController().signal;
    try {
      await withTimeout(this.#options.clock, this.#options.renewDeadlineMs, signal, (inner) =>
        this.#lock.release(inner),
      );
    } catch (error) {
      this.#options.onError?.(error);
    }
  }

  #setLeading(leading: boolean): void {
    if (leading === this.#leading) return;
    this.#leading = leading;
    this.#options.metrics?.leading(leading);
  }

  #report(holder: string): void {
    if (holder === this.#reported) return;
    this.#reported = holder;
    if (holder !== "") queueMicrotask(() => this.#callbacks?.onNewLeader?.(holder));
  }
}
