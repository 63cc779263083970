// doSync reads the cluster state from the shared cache, plans, passes the writes to the pool and reports.
// Promises:
// - Every sync starts from scratch, so lost, repeated or reordered events lead to the same state.
// - Sources are identified by UID.
// - Cached objects are never changed, because a desired copy is a deep copy.
// - A failed write belongs to its place and does not fail the sync.
// - While writes wait, a new event causes a new plan that replaces them.
// A sync is settled if it found nothing to write and no write is in flight.
import type { Apply, Course } from "../writes/apply.ts";
import type { PlannerMemory } from "../state/planner-memory.ts";
import {
  type CachedObject,
  type ListState,
  type Namespace,
  type PlannerSettings,
  type ClusterState,
} from "../model/cluster.ts";
import { plan } from "../plan/plan.ts";
import { isPending, type Plan, type Row } from "../model/verdicts.ts";
import type { Clock, Timer } from "../../kube/time/clock.ts";
import { finishInTurns } from "./turns.ts";
import { recordOutcome, type WrittenCaches, type Outcome } from "../writes/outcome.ts";
import { WritePool, type WriteEnd } from "../../kube/flowcontrol/write-pool.ts";
import type { SyncHooks } from "../report/sync-log.ts";
import { placeKey, type ObjectKind } from "../model/kinds.ts";
import { refText } from "../../text/names.ts";
import {
  type ActionWrite,
  isStillDecided,
  type LatestView,
  pooledWriteOf,
  withLatest,
} from "../writes/action-write.ts";
import { changedEntries } from "../observed/list-state.ts";

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
  readonly hooks: readonly SyncHooks[];
  readonly dryRun: boolean;
};

export type SyncResult = {
  readonly settled: boolean;
  /** Milliseconds until something becomes due without any event. */
  readonly dueMs: number | undefined;
  /** Something is pending and may change its state without any action. */
  readonly waiting: boolean;
  /** Everything that is wanted is there. */
  readonly ok: boolean;
  /** Places that are wanted or hold a copy. */
  readonly places: number;
  /** Writes that were made since the process began. */
  readonly written: number;
  readonly planMs: number;
};

// Planning may hold the event loop this long. Probes, lease and watches wait meanwhile.
const TURN_MS = 10;
// The least work before a newer plan replaces this one, so that a stream of events cannot starve the writes.
// If writes are slow, the time limit applies.
const SLICE_MS = 250;
const SLICE_WRITES = 64;
const LONGEST_SLICE_MS = 500;
// A plan that is not urgent waits for this many times the last planning time. With hundreds of thousands of
// missing copies, the process would otherwise only plan. The limit is the longest wait of a write for its retry.
const REST_OF_A_PLAN = 2;
const LONGEST_REST_MS = 2000;
// After these outcomes nothing is left to do at the place until an event.
const ENDED: ReadonlySet<Outcome["kind"]> = new Set(["done", "removed", "leaving"]);
// If writes wait and none has started for this long, a newer plan costs them nothing.
const STUCK_MS = 100;
// After a 429 without Retry-After.
const RETRY_MS = 1000;
// How often a sync that waits for writes checks whether to wait on.
const TICK_MS = 500;
// Writes were refused because this process does not hold the lease. Check again when that is decided.
const NO_PERMISSION_MS = 1000;
// Writes in flight at shutdown have this long. The lease and Events then end within 30 s.
const LANDING_MS = 10_000;

export class Sync {
  readonly #deps: SyncDeps;
  readonly #pool: WritePool<ActionWrite, CachedObject | Namespace>;
  readonly #latest: LatestView;
  /** The source list at its last change. */
  readonly #lists = new Map<ObjectKind, ListState | undefined>();
  #newest: Plan | undefined;
  #wantedNames: ReadonlyMap<ObjectKind, ReadonlySet<string>> = new Map();
  #dirty = false;
  /** An event since the running sync began is urgent. */
  #urgent = false;
  /** Earliest retry of a write that was refused by 429 since the running sync began. */
  #retryAt = Number.POSITIVE_INFINITY;
  #stopping = false;
  #refused = false;
  #passing = false;
  #written = 0;
  /** A write ended since the running sync began. */
  #landed = false;
  #onLate: () => void = () => {};

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
      (write, cut, isOvertaken) => this.perform(write, { cut, isOvertaken }),
      (write, touched) => isStillDecided(write, touched, this.#latest),
    );
    this.#pool.whenLanded(() => {
      this.#landed = true;
      if (!this.#passing) this.#onLate();
    });
  }

  /** Calls `listener` when a write ends after its sync has stopped waiting for it. */
  whenLate(listener: () => void): void {
    this.#onLate = listener;
  }

  /** Reports an event. A running sync ends as soon as its slice is done, and the next one follows. */
  markDirty(urgent: boolean): void {
    this.#dirty = true;
    this.#urgent ||= urgent;
    if (urgent) for (const hooks of this.#deps.hooks) hooks.onChange?.();
    this.#pool.nudge();
  }

  /** The API server answers again after an outage. A sync should follow. */
  serverIsBack(): void {
    this.#deps.memory.serverIsBack();
  }

  /** Whether a change of one object can change the plan, and whether it is urgent. */
  concerns(
    kind: ObjectKind,
    old: CachedObject | undefined,
    secret: CachedObject | undefined,
  ): "urgent" | "later" | "no" {
    const present = secret ?? old;
    if (!present || (old && secret && old.resourceVersion === secret.resourceVersion)) return "no";
    const roles = [old?.role, secret?.role];
    const place = placeKey(kind, present);
    const memory = this.#deps.memory.of(kind);
    const published = roles.includes("source");
    // The sync that waits for the answer to our own write reads the cache again anyway.
    if (!published && this.#pool.inFlight.has(place)) return "no";
    this.#pool.touch(place, old);
    const isTriedSooner = memory.backoff.objectChanged(refText(present));
    if (old?.role === "source" && (old.uid !== secret?.uid || secret.role !== "source"))
      memory.gone.add(old.uid, this.#deps.clock.monotonic());
    if (published) return "urgent";
    if (old?.role === "copy" && !secret) memory.copyVanished(old);
    if (isTriedSooner || roles.includes("copy") || roles.includes("pull")) return "later";
    if (old?.ignored !== secret?.ignored) return "later";
    const isWanted = this.#wantedNames.get(kind)?.has(present.name) === true;
    return isWanted || mayBeAdopted(secret) ? "later" : "no";
  }

  /** A Namespace changed. `before`: its previous state. Undefined if it is new. */
  namespaceChanged(name: string, before: Namespace | undefined): void {
    this.#pool.touch(name, before);
    this.#deps.memory.namespaceChanged(name);
  }

  /** A live read changed the cache, for which the watch sends no event. `before`: the previous cached state. */
  readAnew(key: string, before: CachedObject | Namespace | undefined): void {
    this.#pool.touch(key, before);
  }

  /** The source list changed. Writes stop if the list now has another entry for their source. */
  listChanged(): void {
    for (const { kind, list } of this.#deps.clusterStates) {
      const before = this.#lists.get(kind);
      this.#lists.set(kind, list);
      for (const { object } of changedEntries(before, list))
        if (object?.kind === kind) this.#pool.touch(placeKey(kind, object), undefined);
    }
  }

  /** Rejects if the sync as a whole failed. A failed write does not make it fail. */
  async doSync(): Promise<SyncResult> {
    const { clock, hooks } = this.#deps;
    const started = clock.monotonic();
    this.#passing = true;
    try {
      return await this.#syncOnce(started);
    } catch (error) {
      for (const each of hooks) each.onError?.(clock.monotonic() - started);
      throw error;
    } finally {
      this.#passing = false;
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
    this.#refused = false;
    this.#landed = false;
    const quiet = pool.calm;
    const made = await this.#plan(started);
    const planMs = clock.monotonic() - started;
    // A dry run sends reads and no writes.
    const actions = dryRun ? made.actions.filter(({ kind }) => kind === "confirm") : made.actions;
    // For writes that ended during planning, the plan still assumed a write in flight.
    const settled = quiet && actions.length === 0 && !this.#landed;
    if (!settled && !this.#stopping) await this.#write({ ...made, actions }, started, planMs);
    else pool.replace([]);
    this.#newest = made;
    const note = { settled, planMs, dryRun, tookMs: clock.monotonic() - started };
    for (const each of hooks) {
      const steps = each.onPlan?.(made, note);
      if (steps) await finishInTurns(steps, clock, TURN_MS);
    }
    return this.#result(made, settled, planMs);
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
    const patience = clock.setTimeout(() => {
      apply.cancel();
      this.#pool.cut();
    }, LANDING_MS);
    await this.#pool.stop();
    patience.cancel();
  }

  /** Reports the rest. No sync follows. */
  close(): void {
    for (const each of this.#deps.hooks) each.onStop?.();
  }

  /** As stop, but cuts off writes in flight at once, because this process may no longer write. */
  async abandon(): Promise<void> {
    this.#deps.apply.cancel();
    this.#pool.cut();
    await this.stop();
  }

  /** Performs one action and records its outcome. */
  async perform({ action: planned }: ActionWrite, course?: Course): Promise<WriteEnd> {
    const { apply, memory, caches, clock, hooks } = this.#deps;
    const action = withLatest(planned, this.#latest);
    const { due, liveReads } = memory.shared;
    due.started();
    const questions = action.kind === "confirm" ? action.questions : [];
    liveReads.began(questions);
    const outcome = await apply.perform(action, course);
    liveReads.ended(questions);
    const now = clock.monotonic();
    const failed = outcome.kind === "failed";
    const throttled = failed && outcome.error === "throttled";
    const retryAfterMs = throttled ? outcome.retryAfterMs : undefined;
    if (ENDED.has(outcome.kind)) this.#written++;
    if (outcome.kind === "stopped") this.#refused = true;
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
    this.#wantedNames = new Map(
      clusterStates.map((clusterState) => [clusterState.kind, wantedNames(clusterState)]),
    );
    const planning = plan(
      clusterStates,
      settings,
      memory,
      now,
      new Set(this.#pool.inFlight.keys()),
    );
    // Writes of the previous plan continue during planning.
    this.#pool.mark();
    return finishInTurns(planning, clock, TURN_MS);
  }

  async #write(
    { actions, nextAt = Infinity }: Plan,
    started: number,
    planMs: number,
  ): Promise<void> {
    const { clock } = this.#deps;
    const pool = this.#pool;
    const before = pool.started;
    const planned = started + planMs;
    const restMs = Math.min(LONGEST_REST_MS, REST_OF_A_PLAN * planMs);
    pool.replace(actions.map(pooledWriteOf));
    // The timer fires when the slice ends and when something else becomes due. A write that hangs must delay
    // neither new work nor retries when no other write can start.
    let timer: Timer | undefined;
    const tick = (): void => {
      pool.nudge();
      const now = clock.monotonic();
      const next = [started + SLICE_MS, planned + restMs, nextAt, now + TICK_MS].filter(
        (at) => at > now,
      );
      // Timers count whole milliseconds and may be one early.
      timer = clock.setTimeout(tick, Math.ceil(Math.min(...next) - now) + 1);
    };
    const moves = (now: number): boolean =>
      pool.started - before < SLICE_WRITES &&
      now - planned < LONGEST_SLICE_MS &&
      now - pool.lastStartedMs < STUCK_MS &&
      !pool.paused;
    const sliceDone = (now: number): boolean =>
      (this.#dirty || now >= Math.min(nextAt, this.#retryAt)) &&
      now - started >= SLICE_MS &&
      (pool.waiting === 0 || ((this.#urgent || now - planned >= restMs) && !moves(now)));
    tick();
    await pool.until(
      () => pool.calm || pool.outdated || this.#stopping || sliceDone(clock.monotonic()),
    );
    timer?.cancel();
  }

  get #mayPass(): boolean {
    const { clusterStates, memory } = this.#deps;
    return clusterStates.some(({ kind }) => memory.of(kind).backoff.mayPass);
  }

  #result(made: Plan, settled: boolean, planMs: number): SyncResult {
    const { nextAt } = made;
    const now = this.#deps.clock.monotonic();
    const due = nextAt === undefined ? undefined : nextAt - now;
    return {
      settled: settled || this.#refused,
      dueMs: this.#refused ? NO_PERMISSION_MS : due,
      waiting:
        this.#refused ||
        this.#dirty ||
        !this.#pool.idle ||
        made.rows.some(isUnderWay) ||
        this.#mayPass,
      ok: isAllCurrent(made),
      places: Object.values(made.states).reduce((sum, count) => sum + count, 0),
      written: this.#written,
      planMs,
    };
  }
}

/** Whether the row becomes due by itself. Retries of failed writes are decided by their failure. */
function isUnderWay({ verdict, dueAt, hold }: Row): boolean {
  // A removal that is certain to be held is not pending.
  return dueAt !== undefined && isPending(verdict) && hold === undefined;
}

function mayBeAdopted(secret: CachedObject | undefined): boolean {
  return secret?.role === "unmanaged" && secret.adopt !== undefined;
}

function wantedNames(clusterState: ClusterState): ReadonlySet<string> {
  const names = new Set<string>();
  for (const source of clusterState.sources)
    if (source.role === "source") names.add(source.rule.copyName);
  return names;
}

/** Every place is as its source wants it, or as its owner wants it if it is paused. No source is refused. */
export function isAllCurrent({ states, sources, list }: Plan): boolean {
  const { current: _, paused: __, ...others } = states;
  return (
    Object.values(others).every((count) => count === 0) &&
    sources.every(({ state }) => state === "ok") &&
    list.state !== "unread" &&
    list.refused.length === 0
  );
}
