// Decides when Events are made: with each report, and again while an Event waits for room. Promises: a plan is
// reported within ten seconds, even if a write without an answer delays the next plan. No timer is left after
// onStop().
import type { PlannerMemory } from "../state/planner-memory.ts";
import type { Plan } from "../model/verdicts.ts";
import type { Clock, Timer } from "../../kube/time/clock.ts";
import type { EventIdentity } from "./event-outbox.ts";
import type { Outcome } from "../writes/outcome.ts";
import { ReportPace } from "./report-pace.ts";
import type { SourceEvents } from "./source-events.ts";
import type { SyncHooks, SyncNote } from "./sync-log.ts";

// The recorder allows one more Event per object every five minutes.
const RETRY_MS = 30_000;

export class SourceEventHooks implements SyncHooks {
  readonly #events: SourceEvents;
  readonly #memory: PlannerMemory;
  readonly #clock: Clock;
  readonly #pace: ReportPace;
  /** The newest plan, if it was not reported. */
  #unreported: Plan | undefined;
  #report: Timer | undefined;
  #retry: Timer | undefined;
  #closed = false;

  constructor(events: SourceEvents, memory: PlannerMemory, clock: Clock) {
    this.#events = events;
    this.#memory = memory;
    this.#clock = clock;
    this.#pace = new ReportPace(clock);
  }

  onOutcome(outcome: Outcome): void {
    this.#events.ended(outcome);
  }

  onPlan(plan: Plan, { settled }: SyncNote): void {
    this.#unreported = plan;
    if (this.#pace.isDue(settled)) this.#tell();
    else if (!this.#closed)
      this.#report ??= this.#clock.setTimeout(() => this.#late(), Math.ceil(this.#pace.leftMs) + 1);
  }

  /** An Event was not sent. */
  lost(event: EventIdentity): void {
    this.#events.lost(event);
    this.#schedule();
  }

  onStop(): void {
    this.#closed = true;
    this.#report?.cancel();
    this.#retry?.cancel();
  }

  #late(): void {
    this.#report = undefined;
    if (this.#unreported && this.#pace.isDue(false)) this.#tell();
  }

  #tell(): void {
    const plan = this.#unreported;
    this.#unreported = undefined;
    this.#report?.cancel();
    this.#report = undefined;
    if (plan) this.#events.settled(plan, this.#memory.takeFights());
    this.#schedule();
  }

  #schedule(): void {
    if (this.#retry || this.#closed || !this.#events.waits) return;
    this.#retry = this.#clock.setTimeout(() => {
      this.#retry = undefined;
      this.#events.resend();
      this.#schedule();
    }, RETRY_MS);
  }
}
