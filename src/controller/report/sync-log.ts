// Reports each sync: one log line for a sync that changed something, one for each write of a dry run, and
// metrics. A quiet cluster logs nothing, and neither does a retry that fails again. NoticeLog reports what a
// user should fix. Only names, counts and reasons are reported here, never a Secret's content.
import { reasonText } from "../model/reasons.ts";
import type { Outcome } from "../writes/outcome.ts";
import type { Plan } from "../model/verdicts.ts";
import { FAILURE_CAUSES } from "../../../packages/kube/rest/failure-cause.ts";
import type { Watched } from "../../../packages/kube/cache/informer-group.ts";
import type { Clock } from "../../../packages/kube/time/clock.ts";
import type { Log } from "./log.ts";
import type { SyncMetrics } from "./metrics.ts";
import { RateLimit } from "./rate-limit.ts";
import { refText, type Ref } from "../../text/names.ts";
import type { CachedObject, Namespace } from "../model/cluster.ts";
import { placeKey, type ObjectKind } from "../model/kinds.ts";
import type { Action } from "../model/actions.ts";

export type SyncNote = {
  readonly settled: boolean;
  readonly dryRun: boolean;
  readonly tookMs: number;
};

/** Hooks into the steps of a sync. */
export type SyncHooks = {
  /** A sync begins. The first one begins when this process leads and its caches are complete. */
  readonly onSync?: () => void;
  /** A namespace or a source changed. */
  readonly onChange?: () => void;
  /** A source was created, changed or deleted. */
  readonly onSource?: (
    kind: ObjectKind,
    old: CachedObject | undefined,
    now: CachedObject | undefined,
  ) => void;
  readonly onNamespace?: (before: Namespace | undefined, now: Namespace | undefined) => void;
  /** The source list's entry for an object was added, changed or removed. */
  readonly onEntry?: (kind: ObjectKind, source: Ref) => void;
  /** An action is about to begin. Its outcome follows. */
  readonly onBegin?: (action: Action) => void;
  readonly onOutcome?: (outcome: Outcome) => void;
  /** Long work returns steps, so that other work can run between them. */
  readonly onPlan?: (plan: Plan, note: SyncNote) => void | Iterator<undefined, void>;
  /** A sync threw and is retried. */
  readonly onError?: (tookMs: number) => void;
  /** The controller stops: no outcome and no plan follows. */
  readonly onStop?: () => void;
};

/** By resource. */
type SyncWatches = Readonly<Record<string, Pick<Watched<never>, "disconnectedSinceMs">>>;

export class SyncLog implements SyncHooks {
  readonly #log: Log;
  readonly #metrics: SyncMetrics;
  readonly #clock: Clock;
  /** Writes by kind since the last settled sync. */
  #tally = new Map<string, number>();
  #changedAt: number | undefined;
  #busySince: number | undefined;
  #reported = new Set<string>();
  readonly #writes = new RateLimit(5);
  readonly #overloads = new RateLimit(3);
  #convergedMs: number | undefined;
  readonly #watches: SyncWatches;

  constructor(log: Log, figures: SyncMetrics, clock: Clock, watches: SyncWatches = {}) {
    this.#watches = watches;
    this.#log = log;
    this.#metrics = figures;
    this.#clock = clock;
  }

  /** Wall time of the last sync that left nothing pending or failed. */
  get convergedMs(): number | undefined {
    return this.#convergedMs;
  }

  onChange(): void {
    this.#changedAt ??= this.#clock.monotonic();
  }

  onOutcome(outcome: Outcome): void {
    const { action } = outcome;
    if (outcome.kind === "done" || outcome.kind === "removed") {
      this.#tally.set(action.kind, (this.#tally.get(action.kind) ?? 0) + 1);
      if (action.cause === "edited" || action.cause === "deleted")
        this.#metrics.repaired(action.cause);
      this.#log.debug(keysOf(action), "written");
    } else if (outcome.kind === "failed") {
      this.#tally.set("failed", (this.#tally.get("failed") ?? 0) + 1);
      if (outcome.error === "throttled") this.#overloaded();
      this.#metrics.failed(outcome.cause);
    }
  }

  // Such a write is retried so soon that a plan seldom shows it as failed.
  #overloaded(): void {
    const message = `writes refused: ${FAILURE_CAUSES.throttled}`;
    const count = this.#overloads.tryTake(message, this.#clock.monotonic());
    if (count !== undefined) this.#log.warn({ cause: "throttled", count }, message);
  }

  onError(tookMs: number): void {
    this.#metrics.sync("error", tookMs / 1000);
  }

  onPlan(plan: Plan, note: SyncNote): void {
    this.#busySince ??= this.#clock.monotonic() - note.tookMs;
    this.#metrics.sync("ok", note.tookMs / 1000);
    if (note.settled) this.#settled(plan, note);
  }

  #settled(plan: Plan, { dryRun }: SyncNote): void {
    const now = this.#clock.monotonic();
    const { states } = plan;
    // A plan over old caches proves nothing.
    const isCurrent = Object.values(this.#watches).every(
      ({ disconnectedSinceMs }) => disconnectedSinceMs === undefined,
    );
    if (isCurrent && states.pending + states.failed === 0) this.#convergedMs = this.#clock.now();
    if (dryRun) this.#logDueWrites(plan);
    if ([...this.#tally.keys()].some((kind) => kind !== "failed")) {
      const tookMs = Math.round(now - (this.#busySince ?? now));
      this.#log.info({ ...Object.fromEntries(this.#tally), ...nonZero(states), tookMs }, "synced");
      if (this.#changedAt !== undefined) this.#metrics.propagated((now - this.#changedAt) / 1000);
    }
    this.#tally = new Map();
    this.#changedAt = undefined;
    this.#busySince = undefined;
  }

  /** Logs each write of a dry run when it becomes due, and not again. */
  #logDueWrites({ actions }: Plan): void {
    const reported = new Set<string>();
    const now = this.#clock.monotonic();
    for (const action of actions) {
      const id = `${action.kind} ${placeKey(action.objectKind, action.place)}`;
      if (!this.#reported.has(id)) {
        if (this.#writes.tryTake(id, now) === undefined) continue;
        this.#log.info({ ...keysOf(action), reason: reasonText(action.reason) }, "would write");
      }
      reported.add(id);
    }
    this.#reported = reported;
  }
}

function keysOf({ kind, objectKind, place, source, cause }: Action) {
  return { action: kind, kind: objectKind, place: refText(place), source: refText(source), cause };
}

function nonZero(states: Readonly<Record<string, number>>): Record<string, number> {
  return Object.fromEntries(Object.entries(states).filter(([, count]) => count > 0));
}
