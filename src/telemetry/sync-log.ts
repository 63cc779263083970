// What a pass says of itself: one log line for a pass that changed something, one for each failure,
// refusal and conflict when it begins, metrics, and the last plan for whoever asks. A quiet cluster
// logs nothing. Only names, counts and reasons pass through here, never a Secret's content.
import type { Outcome } from "../writes/outcome.ts";
import type { Action, Plan, Row } from "../core/model/verdicts.ts";
import type { ApiErrorKind } from "../kube/rest/api-error.ts";
import type { Clock } from "../kube/time/clock.ts";
import type { Log } from "./log.ts";
import { CONFLICT_LINES, conflictKind } from "./conflicts.ts";
import { Repeats } from "./repeats.ts";
import { problemText } from "../core/annotations/rules.ts";
import { refText } from "../core/annotations/names.ts";

/** Where figures go; the edge gives it prom-client's counters. */
export type SyncMetrics = {
  write(verb: string, result: "ok" | ApiErrorKind): void;
  sync(result: "ok" | "error", seconds: number): void;
  repaired(kind: "edited" | "deleted"): void;
  propagated(seconds: number): void;
  /** A source's data were not in memory any more and were read again. */
  sourceRead(): void;
};

export type SyncNote = {
  readonly settled: boolean;
  readonly dryRun: boolean;
  readonly planMs: number;
  readonly tookMs: number;
};

/** What a sync tells of itself as it goes on, to each who wants to know. */
export type SyncHooks = {
  /** A namespace or a source changed. */
  readonly onChange?: () => void;
  readonly onOutcome?: (outcome: Outcome) => void;
  readonly onPlan?: (plan: Plan, note: SyncNote) => void;
  /** A sync threw, and is tried again. */
  readonly onError?: (tookMs: number) => void;
};

export class SyncLog implements SyncHooks {
  readonly #log: Log;
  readonly #figures: SyncMetrics;
  readonly #clock: Clock;
  /** Writes by kind since the last settled pass. */
  #tally = new Map<string, number>();
  #changedAt: number | undefined;
  #busySince: number | undefined;
  #told = new Set<string>();
  readonly #failures = new Repeats(1);
  readonly #states = new Repeats(5);
  #convergedMs: number | undefined;
  readonly #followsCluster: () => boolean;

  /** `followsCluster`: whether every watch is connected; a plan over old caches proves nothing. */
  constructor(
    log: Log,
    figures: SyncMetrics,
    clock: Clock,
    followsCluster: () => boolean = () => true,
  ) {
    this.#followsCluster = followsCluster;
    this.#log = log;
    this.#figures = figures;
    this.#clock = clock;
  }

  /** Wall time of the last pass that left nothing pending or failed. */
  get convergedMs(): number | undefined {
    return this.#convergedMs;
  }

  /** A namespace or a source changed. */
  onChange(): void {
    this.#changedAt ??= this.#clock.monotonic();
  }

  onOutcome(outcome: Outcome): void {
    const { action } = outcome;
    if (outcome.kind === "done" || outcome.kind === "removed") {
      this.#tally.set(action.kind, (this.#tally.get(action.kind) ?? 0) + 1);
      if (action.cause === "edited" || action.cause === "deleted")
        this.#figures.repaired(action.cause);
      this.#log.debug(keysOf(action), "written");
    } else if (outcome.kind === "failed") {
      this.#tally.set("failed", (this.#tally.get("failed") ?? 0) + 1);
      this.#failed(action, outcome.message);
    }
  }

  /** One line a minute for each kind of action and place, with how often it failed since the last. */
  #failed(action: Action, error: string): void {
    const id = `${action.kind} ${refText(action.place)}`;
    const count = this.#failures.happened(id, this.#clock.monotonic());
    if (count === undefined) return;
    const message =
      action.kind === "liveGet" ? "read failed, will try again" : "write failed, will try again";
    this.#log.warn({ ...keysOf(action), error, count }, message);
  }

  /** A pass threw, and is tried again. */
  onError(tookMs: number): void {
    this.#figures.sync("error", tookMs / 1000);
  }

  onPlan(plan: Plan, note: SyncNote): void {
    this.#busySince ??= this.#clock.monotonic() - note.tookMs;
    this.#figures.sync("ok", note.tookMs / 1000);
    if (note.settled) this.#settled(plan, note);
  }

  #settled(plan: Plan, { dryRun }: SyncNote): void {
    const now = this.#clock.monotonic();
    const { states } = plan;
    const converged = states.pending + states.failed === 0 && this.#followsCluster();
    if (converged) this.#convergedMs = this.#clock.now();
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
    const now = this.#clock.monotonic();
    // `of`: what changes to and fro, told a few times a minute at most. What is left out is told by
    // the first settled pass that may.
    const tell = (of: string, id: string, say: () => void): void => {
      if (this.#told.has(id)) told.add(id);
      else if (this.#states.happened(of, now) !== undefined) {
        told.add(id);
        say();
      }
    };
    for (const { source, problems, state } of plan.sources) {
      if (state === "ok") continue;
      const reasons = problems.map(problemText);
      const of = `refused ${refText(source)}`;
      tell(of, `${of} ${reasons.join()}`, () =>
        this.#log.warn({ source: refText(source), reasons }, "source refused"),
      );
    }
    const notable = plan.rows.filter(({ verdict }) => MESSAGE[verdict] !== undefined);
    const groups = Map.groupBy(notable, (row) => `${messageOf(row)} ${refText(row.source)}`);
    for (const [verdict, rows] of groups) {
      const source = rows[0] ? refText(rows[0].source) : "";
      const places = rows.map(({ place }) => refText(place));
      tell(verdict, `${verdict} ${places.join()}`, () =>
        this.#log.warn(
          { source, count: rows.length, places: places.slice(0, 5), reason: rows[0]?.reason ?? "" },
          rows[0] ? messageOf(rows[0]) : "not copied",
        ),
      );
    }
    if (dryRun)
      for (const action of plan.actions)
        tell(...twice(`would ${action.kind} ${refText(action.place)}`), () =>
          this.#log.info({ ...keysOf(action), reason: action.reason }, "would write"),
        );
    this.#told = told;
  }
}

function twice(text: string): [string, string] {
  return [text, text];
}

const MESSAGE: Partial<Record<Row["verdict"], string>> = {
  conflict: "in conflict",
  held: "held",
  frozen: "copies frozen",
};

function messageOf(row: Row): string {
  if (row.verdict === "conflict") return CONFLICT_LINES[conflictKind(row)];
  return MESSAGE[row.verdict] ?? "not copied";
}

function keysOf({ kind, place, source, cause }: Action) {
  return { action: kind, place: refText(place), source: refText(source), cause };
}

function nonZero(states: Readonly<Record<string, number>>): Record<string, number> {
  return Object.fromEntries(Object.entries(states).filter(([, count]) => count > 0));
}
