// What a pass says of itself: one log line for a pass that changed something, one for each failure,
// refusal and conflict when it begins, metrics, and the last plan for whoever asks. A quiet cluster
// logs nothing. Only names, counts and reasons pass through here, never a Secret's content.
import type { Outcome } from "./outcome.ts";
import { problemText, refText } from "./core/model.ts";
import type { Action, Plan, Row } from "./core/verdicts.ts";
import type { ApiErrorKind } from "./kube/api-error.ts";
import type { Clock } from "./kube/clock.ts";
import type { Log } from "./log.ts";

/** Where figures go; the edge gives it prom-client's counters. */
export type Figures = {
  write(verb: string, result: "ok" | ApiErrorKind): void;
  sync(result: "ok" | "error", seconds: number): void;
  repaired(kind: "edited" | "deleted"): void;
  propagated(seconds: number): void;
};

export type PassNote = {
  readonly settled: boolean;
  readonly dryRun: boolean;
  readonly planMs: number;
  readonly tookMs: number;
};

/** For whoever shows the work as it happens. */
export type Observer = {
  readonly onOutcome?: (outcome: Outcome) => void;
  readonly onPlan?: (plan: Plan, note: PassNote) => void;
};

export class Reporter {
  readonly #log: Log;
  readonly #figures: Figures;
  readonly #clock: Clock;
  readonly #observer: Observer;
  /** Writes by kind since the last settled pass. */
  #tally = new Map<string, number>();
  #changedAt: number | undefined;
  #busySince: number | undefined;
  #told = new Set<string>();
  #plan: Plan | undefined;
  #convergedMs: number | undefined;

  constructor(log: Log, figures: Figures, clock: Clock, observer: Observer = {}) {
    this.#log = log;
    this.#figures = figures;
    this.#clock = clock;
    this.#observer = observer;
  }

  /** The plan of the newest pass. */
  get plan(): Plan | undefined {
    return this.#plan;
  }

  /** Wall time of the last pass that left nothing pending or failed. */
  get convergedMs(): number | undefined {
    return this.#convergedMs;
  }

  /** A namespace or a source changed. */
  changed(): void {
    this.#changedAt ??= this.#clock.monotonic();
  }

  ended(outcome: Outcome): void {
    const { action } = outcome;
    this.#observer.onOutcome?.(outcome);
    if (outcome.kind === "done" || outcome.kind === "removed") {
      this.#tally.set(action.kind, (this.#tally.get(action.kind) ?? 0) + 1);
      if (action.cause === "edited" || action.cause === "deleted")
        this.#figures.repaired(action.cause);
      this.#log.debug(keysOf(action), "written");
    } else if (outcome.kind === "failed") {
      this.#tally.set("failed", (this.#tally.get("failed") ?? 0) + 1);
      this.#log.warn({ ...keysOf(action), error: outcome.message }, "write failed, will try again");
    }
  }

  /** A pass threw, and is tried again. */
  passFailed(tookMs: number): void {
    this.#figures.sync("error", tookMs / 1000);
  }

  planned(plan: Plan, note: PassNote): void {
    this.#plan = plan;
    this.#busySince ??= this.#clock.monotonic() - note.tookMs;
    this.#figures.sync("ok", note.tookMs / 1000);
    if (note.settled) this.#settled(plan, note);
    this.#observer.onPlan?.(plan, note);
  }

  #settled(plan: Plan, { dryRun }: PassNote): void {
    const now = this.#clock.monotonic();
    const { states } = plan;
    if (states.pending + states.failed === 0) this.#convergedMs = this.#clock.now();
    this.#tellOnce(plan, dryRun);
    if (this.#tally.size > 0) {
      const tookMs = Math.round(now - (this.#busySince ?? now));
      this.#log.info({ ...Object.fromEntries(this.#tally), ...nonZero(states), tookMs }, "synced");
      if (this.#changedAt !== undefined) this.#figures.propagated((now - this.#changedAt) / 1000);
    }
    this.#tally = new Map();
    this.#changedAt = undefined;
    this.#busySince = undefined;
  }

  /** Logs each refusal, conflict, hold and (in a dry run) write when it begins, and not again. */
  #tellOnce(plan: Plan, dryRun: boolean): void {
    const told = new Set<string>();
    const tell = (id: string, say: () => void): void => {
      told.add(id);
      if (!this.#told.has(id)) say();
    };
    for (const { source, problems, state } of plan.sources) {
      if (state === "ok") continue;
      const reasons = problems.map(problemText);
      tell(`refused ${refText(source)} ${reasons.join()}`, () =>
        this.#log.warn({ source: refText(source), reasons }, "source refused"),
      );
    }
    for (const [verdict, rows] of groupRows(plan.rows)) {
      const source = rows[0] ? refText(rows[0].source) : "";
      const places = rows.map(({ place }) => refText(place));
      tell(`${verdict} ${places.join()}`, () =>
        this.#log.warn(
          { source, count: rows.length, places: places.slice(0, 5), reason: rows[0]?.reason ?? "" },
          MESSAGE[rows[0]?.verdict ?? "conflict"] ?? "not copied",
        ),
      );
    }
    if (dryRun)
      for (const action of plan.actions)
        tell(`would ${action.kind} ${refText(action.place)}`, () =>
          this.#log.info({ ...keysOf(action), reason: action.reason }, "would write"),
        );
    this.#told = told;
  }
}

const MESSAGE: Partial<Record<Row["verdict"], string>> = {
  conflict: "in conflict with Secrets that are not ours",
  held: "held",
  frozen: "copies frozen",
};

/** Conflicts, holds and frozen copies, each source's together. */
function groupRows(rows: readonly Row[]): ReadonlyMap<string, readonly Row[]> {
  const groups = new Map<string, Row[]>();
  for (const row of rows) {
    if (MESSAGE[row.verdict] === undefined) continue;
    const id = `${row.verdict} ${refText(row.source)}`;
    const group = groups.get(id);
    if (group) group.push(row);
    else groups.set(id, [row]);
  }
  return groups;
}

function keysOf({ kind, place, source, cause }: Action) {
  return { action: kind, place: refText(place), source: refText(source), cause };
}

function nonZero(states: Readonly<Record<string, number>>): Record<string, number> {
  return Object.fromEntries(Object.entries(states).filter(([, count]) => count > 0));
}
