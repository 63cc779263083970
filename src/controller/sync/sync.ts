// doSync reads the cluster state from the shared cache, plans, passes the writes to the pool and reports.
// Promises:
// - Every sync starts from scratch, so lost, repeated or reordered events lead to the same state.
// - Sources are identified by UID.
// - Cached objects are never changed, because a desired copy is a deep copy.
// - A failed write belongs to its place and does not fail the sync.
// - While writes wait, a new event causes a new plan that replaces them.
// A sync is settled if it found nothing to write and no write is in flight.
import type { Apply } from "../writes/apply.ts";
import type { WriteControl } from "../writes/write-requests.ts";
import type { PlannerMemory } from "../state/planner-memory.ts";
import type { PlannerSettings, ClusterState } from "../model/cluster.ts";
import { plan } from "../plan/plan.ts";
import type { Plan } from "../model/verdicts.ts";
import type { Clock, Timer } from "../../../packages/kube/time/clock.ts";
import { finishInTurns } from "../../../packages/kube/time/turns.ts";
import { recordOutcome, type WrittenCaches, type Outcome } from "../writes/outcome.ts";
import { WritePool, type WriteEnd } from "../flowcontrol/write-pool.ts";
import type { SyncHooks } from "../report/sync-log.ts";
import {
  type ActionWrite,
  type LatestView,
  isUntouched,
  pooledWriteOf,
  stillHolds,
  withLatest,
} from "../writes/action-write.ts";
import { ClusterEvents } from "./cluster-events.ts";
import { Slice } from "./slice.ts";
import { resultOf, type SyncResult } from "./sync-result.ts";

export type SyncDeps = {
  /** One for each kind that takes part. */
  readonly clusterStates: readonly ClusterState[];
  readonly settings: PlannerSettings;
  readonly memory: PlannerMemory;
  /** Informed of our own writes at once so that no sync repeats them. */
  readonly caches: WrittenCaches;
  readonly apply: Apply;
  /** Writes in flight at most. */
  readonly concurrency: number;
  readonly clock: Clock;
  /** CPU time of this thread in ms. The clock, if it is undefined. */
  readonly cpuMs?: (() => number) | undefined;
  readonly hooks: readonly SyncHooks[];
  readonly dryRun: boolean;
};

// Planning may hold the event loop this long. Probes, lease and watches wait meanwhile.
const TURN_MS = 10;
// After these outcomes nothing is left to do at the place until an event.
const ENDED: ReadonlySet<Outcome["kind"]> = new Set(["done", "removed", "leaving"]);
// After a 429 without Retry-After.
const RETRY_MS = 1000;
// Writes were refused because this process does not hold the lease. Check again when that is decided.
const NO_PERMISSION_MS = 1000;
// Writes in flight at shutdown have this long. The lease and Events then end within 30 s.
const DRAIN_MS = 10_000;

export class Sync {
  readonly #deps: SyncDeps;
  readonly #pool: WritePool<ActionWrite>;
  readonly #latest: LatestView;
  /** Receives what the watches report. */
  readonly events: ClusterEvents;
  #newest: Plan | undefined;
  #dirty = false;
  /** An event since the running sync began is urgent. */
  #urgent = false;
  /** Earliest retry of a write that was refused by 429 since the running sync began. */
  #retryAt = Number.POSITIVE_INFINITY;
  #stopping = false;
  #writesRefused = false;
  #isRunning = false;
  #written = 0;
  /** A write ended since the running sync began. */
  #writeEnded = false;
  #lateWriteListener: () => void = () => {};

  constructor(deps: SyncDeps) {
    this.#deps = deps;
    const { caches, clusterStates, concurrency, clock } = deps;
    this.#latest = {
      caches,
      entryOf: (kind, object) => {
        const list = clusterStates.find((clusterState) => clusterState.kind === kind)?.list;
        return list?.state === "read" ? list.of(object) : undefined;
      },
    };
    this.#pool = new WritePool(
      concurrency,
      clock,
      (write, signal) => this.perform(write, { signal }),
      ({ action }) => isUntouched(action, caches) && stillHolds(action, this.#latest),
    );
    this.events = new ClusterEvents(deps, this.#pool);
    this.#pool.onWriteEnd(() => {
      this.#writeEnded = true;
      if (!this.#isRunning) this.#lateWriteListener();
    });
  }

  /** Calls `listener` when a write ends after its sync has stopped waiting for it. */
  onLateWrite(listener: () => void): void {
    this.#lateWriteListener = listener;
  }

  /** Reports an event. A running sync ends as soon as its slice is done, and the next one follows. */
  markDirty(urgent: boolean): void {
    this.#dirty = true;
    this.#urgent ||= urgent;
    if (urgent) for (const hooks of this.#deps.hooks) hooks.onChange?.();
    this.#pool.wake();
  }

  /** The API server answers again after an outage. A sync should follow. */
  serverIsBack(): void {
    this.#deps.memory.serverIsBack();
  }

  /** Rejects if the sync as a whole failed. A failed write does not make it fail. */
  async doSync(): Promise<SyncResult> {
    const { clock, hooks } = this.#deps;
    const started = clock.monotonic();
    this.#isRunning = true;
    try {
      for (const each of hooks) each.onSync?.();
      return await this.#syncOnce(started);
    } catch (error) {
      for (const each of hooks) each.onError?.(clock.monotonic() - started);
      throw error;
    } finally {
      this.#isRunning = false;
    }
  }

  /** The plan of the newest sync. */
  get newestPlan(): Plan | undefined {
    return this.#newest;
  }

  /** Monotonic time at which a write last ended. */
  get lastWriteMs(): number {
    return this.#pool.lastEndedMs;
  }

  async #syncOnce(started: number): Promise<SyncResult> {
    const { clock, hooks, dryRun } = this.#deps;
    const pool = this.#pool;
    this.#dirty = false;
    this.#urgent = false;
    this.#retryAt = Number.POSITIVE_INFINITY;
    this.#writesRefused = false;
    this.#writeEnded = false;
    const quiet = pool.onlySlowLeft;
    const { cpuMs = () => clock.monotonic() } = this.#deps;
    const spent = cpuMs();
    const made = await this.#plan(started);
    const planMs = clock.monotonic() - started;
    const planCpuMs = cpuMs() - spent;
    // A dry run sends reads and no writes.
    const actions = dryRun ? made.actions.filter(({ kind }) => kind === "confirm") : made.actions;
    // For writes that ended during planning, the plan still assumed a write in flight.
    const settled = quiet && actions.length === 0 && !this.#writeEnded;
    if (!settled && !this.#stopping) await this.#write({ ...made, actions }, started, planMs);
    else pool.replace([]);
    this.#newest = made;
    const note = { settled, dryRun, tookMs: clock.monotonic() - started };
    for (const each of hooks) {
      const steps = each.onPlan?.(made, note);
      if (steps) await finishInTurns(steps, clock, TURN_MS);
    }
    // A write that ended while this sync reported has changed what the next plan finds.
    return { ...this.#result(made, settled && !this.#writeEnded), planMs, planCpuMs };
  }

  /** Starts no further write. */
  interrupt(): void {
    this.#stopping = true;
    this.#pool.replace([]);
  }

  /** Resolves when no write is in flight. Cuts off writes that take too long. */
  async stop(): Promise<void> {
    const { apply, clock } = this.#deps;
    this.interrupt();
    const timeout = clock.setTimeout(() => {
      apply.cancel();
      this.#pool.abort();
    }, DRAIN_MS);
    await this.#pool.stop();
    timeout.cancel();
  }

  /** Reports the rest. No sync follows. */
  close(): void {
    for (const each of this.#deps.hooks) each.onStop?.();
  }

  /** As stop, but cuts off writes in flight at once, because this process may no longer write. */
  async abandon(): Promise<void> {
    this.#deps.apply.cancel();
    this.#pool.abort();
    await this.stop();
  }

  /** Performs one action and records its outcome. */
  async perform({ action: planned }: ActionWrite, control: WriteControl = {}): Promise<WriteEnd> {
    const { apply, memory, caches, clock, hooks } = this.#deps;
    const action = withLatest(planned, this.#latest);
    const { dueSince, liveReads } = memory.shared;
    dueSince.started();
    const requested = action.kind === "confirm" ? action.liveReads : [];
    liveReads.began(requested);
    for (const each of hooks) each.onBegin?.(action);
    const isDecisionChanged = (): boolean => !stillHolds(action, this.#latest);
    const outcome = await apply.perform(action, { ...control, isDecisionChanged });
    liveReads.ended(requested);
    const now = clock.monotonic();
    const failed = outcome.kind === "failed";
    const throttled = failed && outcome.error === "throttled";
    const retryAfterMs = throttled ? outcome.retryAfterMs : undefined;
    if (ENDED.has(outcome.kind)) this.#written++;
    if (outcome.kind === "stopped") this.#writesRefused = true;
    // If many are refused, each would request a plan that cannot write yet.
    else if (throttled) this.#retryAt = Math.min(this.#retryAt, now + (retryAfterMs ?? RETRY_MS));
    // The next plan knows when the remaining work there is due.
    else if (!ENDED.has(outcome.kind)) this.#dirty = true;
    recordOutcome(outcome, { memory, caches, now, random: clock.random() });
    for (const each of hooks) each.onOutcome?.(outcome);
    return { throttled, failed, retryAfterMs };
  }

  async #plan(now: number): Promise<Plan> {
    const { clusterStates, settings, memory, clock } = this.#deps;
    this.events.planned();
    const inFlight = new Set(this.#pool.inFlight.keys());
    const planning = plan(clusterStates, settings, memory, now, inFlight);
    // Writes of the previous plan continue during planning.
    this.#pool.beginPlan();
    return finishInTurns(planning, clock, TURN_MS);
  }

  async #write(
    { actions, nextAt = Infinity }: Plan,
    started: number,
    planMs: number,
  ): Promise<void> {
    const { clock } = this.#deps;
    const pool = this.#pool;
    const slice = new Slice(pool, { started, planMs, nextAt });
    pool.replace(actions.map(pooledWriteOf));
    // The timer fires when the slice ends and when something else becomes due. A write that hangs must delay
    // neither new work nor retries when no other write can start.
    let timer: Timer | undefined;
    const tick = (): void => {
      pool.wake();
      const now = clock.monotonic();
      // Timers count whole milliseconds and may be one early.
      timer = clock.setTimeout(tick, Math.ceil(slice.nextCheck(now) - now) + 1);
    };
    const isOver = (): boolean =>
      slice.isOver(clock.monotonic(), this.#dirty, this.#urgent, this.#retryAt);
    tick();
    await pool.until(() => pool.onlySlowLeft || pool.outdated || this.#stopping || isOver());
    timer?.cancel();
  }

  #result(made: Plan, settled: boolean): Omit<SyncResult, "planMs" | "planCpuMs"> {
    const { memory, clock } = this.#deps;
    const refused = this.#writesRefused;
    const open = refused || this.#dirty || !this.#pool.idle || memory.mayRecover;
    const result = resultOf(made, clock.monotonic(), open);
    const dueMs = refused ? NO_PERMISSION_MS : result.dueMs;
    return { ...result, settled: settled || refused, dueMs, written: this.#written };
  }
}
