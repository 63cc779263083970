// Who is informed of plans and outcomes: the log, and through Events the owners of sources and copies. Promises:
// - A plan is reported as soon as it is settled, and at the latest ten seconds after the last report. A constant
//   stream of changes leaves no plan settled, and a write without an answer delays the next plan.
// - An Event that waits for room is sent again, and a line that waits for room follows. No timer is left after onStop().
import type { Plan } from "../model/verdicts.ts";
import type { PlannerMemory } from "../state/planner-memory.ts";
import type { Clock, Timer } from "../../../packages/kube/time/clock.ts";
import { finishAtOnce } from "../../../packages/kube/time/turns.ts";
import type { Outcome } from "../writes/outcome.ts";
import { LeaseRemovals } from "./lease-removals.ts";
import { sendDone, sendFilled } from "./done-events.ts";
import { EventStates, type EventIdentity, type StateOptions } from "./event-states.ts";
import type { Log } from "./log.ts";
import { NoticeEvents } from "./notice-events.ts";
import { NoticeLog } from "./notice-log.ts";
import { noticesOf, type Notice } from "./notices.ts";
import { OutcomeJournal } from "./outcome-journal.ts";
import type { SyncHooks, SyncNote } from "./sync-log.ts";
import { Troubles } from "./troubles.ts";

const LONGEST_UNSETTLED_MS = 10_000;
// The recorder allows one more Event per object every five minutes.
const RETRY_MS = 30_000;

export type ReporterOptions = StateOptions & {
  readonly log: Log;
  readonly memory: Pick<PlannerMemory, "takeFights">;
};

export class Reporter implements SyncHooks {
  readonly #clock: Clock;
  readonly #memory: ReporterOptions["memory"];
  readonly #troubles = new Troubles();
  readonly #log: NoticeLog;
  readonly #journal: OutcomeJournal;
  readonly #states: EventStates;
  readonly #events: NoticeEvents;
  readonly #onLease: LeaseRemovals;
  /** When each was last printed. */
  #loggedMs = Number.NEGATIVE_INFINITY;
  #sentMs = Number.NEGATIVE_INFINITY;
  /** The newest plan, if no Events were sent for it. */
  #unsent: Plan | undefined;
  #late: Timer | undefined;
  #retry: Timer | undefined;
  #closed = false;

  constructor(options: ReporterOptions) {
    const { log, clock, memory } = options;
    this.#clock = clock;
    this.#memory = memory;
    this.#log = new NoticeLog(log, clock);
    this.#states = new EventStates(options);
    this.#events = new NoticeEvents(options, this.#states);
    this.#onLease = new LeaseRemovals(this.#states, clock);
    this.#journal = new OutcomeJournal(log, clock, (group) =>
      sendDone(this.#states, this.#onLease, group),
    );
  }

  onOutcome(outcome: Outcome): void {
    this.#troubles.onOutcome(outcome);
    this.#log.onOutcome(outcome);
    this.#journal.onOutcome(outcome);
    sendFilled(this.#states, outcome);
  }

  *onPlan(plan: Plan, note: SyncNote): Generator<undefined, void> {
    const now = this.#clock.monotonic();
    this.#troubles.onPlan(plan, this.#memory.takeFights(), now);
    this.#states.observe(plan);
    this.#journal.report(note.settled);
    this.#sendAgain();
    this.#unsent = plan;
    const isDue = (lastMs: number): boolean => note.settled || now - lastMs >= LONGEST_UNSETTLED_MS;
    const [logs, sends] = [isDue(this.#loggedMs), isDue(this.#sentMs)];
    if (!sends && !this.#closed) this.#late ??= this.#after(this.#sentMs - now);
    if (!logs && !sends) return;
    const notices = yield* noticesOf(plan, this.#troubles);
    if (sends) this.#send(plan, notices);
    if (!logs) return;
    this.#loggedMs = now;
    yield* this.#log.print(notices);
  }

  /** An Event was not sent. */
  lost(event: EventIdentity): void {
    this.#states.lost(event);
    this.#sendAgain();
  }

  onStop(): void {
    this.#closed = true;
    this.#late?.cancel();
    this.#retry?.cancel();
    this.#journal.onStop();
  }

  #after(sinceMs: number): Timer {
    return this.#clock.setTimeout(
      () => {
        this.#late = undefined;
        const plan = this.#unsent;
        if (plan) this.#send(plan, finishAtOnce(noticesOf(plan, this.#troubles)));
      },
      Math.ceil(sinceMs + LONGEST_UNSETTLED_MS) + 1,
    );
  }

  #send(plan: Plan, notices: readonly Notice[]): void {
    this.#unsent = undefined;
    this.#late?.cancel();
    this.#late = undefined;
    this.#sentMs = this.#clock.monotonic();
    this.#events.print(plan, notices);
    this.#sendAgain();
  }

  #sendAgain(): void {
    const waits = this.#events.waits || this.#journal.waits || this.#onLease.waits;
    if (this.#retry || this.#closed || !waits) return;
    this.#retry = this.#clock.setTimeout(() => {
      this.#retry = undefined;
      this.#events.resend();
      this.#journal.report(false);
      this.#onLease.send();
      this.#sendAgain();
    }, RETRY_MS);
  }
}
