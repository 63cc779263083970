// doSync: read the cluster state from the shared cache, plan, hand the writes to the pool, report. Promises:
// every sync starts from scratch, so lost, repeated or reordered events lead to the same state; sources are
// identified by UID; cached objects are never changed, because a desired copy is a deep copy; a failed write
// belongs to its place and does not fail the sync; while writes wait, a new event makes a new plan that replaces
// them. A sync is settled if it found nothing to write and no write is in flight.
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
  /** Of each kind that takes part. */
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
  /** Something is on its way to another state and may be there without anybody's doing. */
  readonly waiting: boolean;
  /** Everything that is wanted is there. */
  readonly ok: boolean;
  /** Places that are wanted, or hold a copy. */
  readonly places: number;
  /** Writes that were made since the process began. */
  readonly written: number;
  readonly planMs: number;
};

// A plan may hold the event loop this long; probes, lease and watches wait meanwhile.
const TURN_MS = 10;
// A newer plan takes over at the earliest after this much work, so that a stream of events cannot
// starve the writes; where they are slow, after this long.
const SLICE_MS = 250;
const SLICE_WRITES = 64;
const LONGEST_SLICE_MS = 500;
// For what nobody waits for, a plan is made anew after this many times what the last one took, so that
// with hundreds of thousands of missing copies the process is not busy with plans alone; but never later
// than a write may have to wait for its retry.
const REST_OF_A_PLAN = 2;
const LONGEST_REST_MS = 2000;
// Outcomes that leave nothing to be done there before something happens.
const ENDED: ReadonlySet<Outcome["kind"]> = new Set(["done", "removed", "leaving"]);
// While writes wait and none has started for so long, a newer plan costs them nothing.
const STUCK_MS = 100;
// After a 429 without Retry-After.
const RETRY_MS = 1000;
// How often a sync that waits for writes looks whether it still should.
const TICK_MS = 500;
// Writes were refused because the lease is not ours: look again when that is decided.
const NO_PERMISSION_MS = 1000;
// What flies at the end may land for this long; lease and Events then have their turn within 30 s.
const LANDING_MS = 10_000;

export class Sync {
  readonly #deps: SyncDeps;
  readonly #pool: WritePool<ActionWrite, CachedObject | Namespace>;
  readonly #latest: LatestView;
  /** The source list as it was when it last changed. */
  readonly #lists = new Map<ObjectKind, ListState | undefined>();
  #newest: Plan | undefined;
  #wantedNames: ReadonlyMap<ObjectKind, ReadonlySet<string>> = new Map();
  #dirty = false;
  /** Somebody waits for what came since the sync now running began. */
  #urgent = false;
  /** When the first write may be tried again that was refused by 429 since the sync now running began. */
  #retryAt = Number.POSITIVE_INFINITY;
  #stopping = false;
  #refused = false;
  #passing = false;
  #written = 0;
  /** A write ended since the sync now running began. */
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

  /** Calls `listener` when a write ends that no sync waited for any more. */
  whenLate(listener: () => void): void {
    this.#onLate = listener;
  }

  /** An event came: a running sync hands over to the next as soon as its slice is done. */
  markDirty(urgent: boolean): void {
    this.#dirty = true;
    this.#urgent ||= urgent;
    if (urgent) for (const hooks of this.#deps.hooks) hooks.onChange?.();
    this.#pool.nudge();
  }

  /** The API server answers again after an outage: a sync should follow. */
  serverIsBack(): void {
    this.#deps.memory.serverIsBack();
  }

  /** Whether a change of one object can change the plan, and whether somebody waits for it. */
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
    // Our own write: the sync that waits for its answer looks again anyway.
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

  /** A Namespace changed. `before`: how it was; undefined where it is new. */
  namespaceChanged(name: string, before: Namespace | undefined): void {
    this.#pool.touch(name, before);
    this.#deps.memory.namespaceChanged(name);
  }

  /** A live read changed the cache, for which the watch sends no event. `before`: what the cache showed. */
  readAnew(key: string, before: CachedObject | Namespace | undefined): void {
    this.#pool.touch(key, before);
  }

  /** The source list changed. Writes stop if the list says something else about their source. */
  listChanged(): void {
    for (const { kind, list } of this.#deps.clusterStates) {
      const before = this.#lists.get(kind);
      this.#lists.set(kind, list);
      for (const { object } of changedEntries(before, list))
        if (object?.kind === kind) this.#pool.touch(placeKey(kind, object), undefined);
    }
  }

  /** Rejects when the sync as a whole failed; a failed write does not make it fail. */
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
    // A dry run asks, and writes nothing.
    const actions = dryRun ? made.actions.filter(({ kind }) => kind === "confirm") : made.actions;
    // What ended while this was planned, the plan still took for a write under way.
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

  /** No further write is begun. */
  interrupt(): void {
    this.#stopping = true;
    this.#pool.replace([]);
  }

  /** Resolves when nothing is in flight any more; what takes too long is cut off. */
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

  /** Reports what is left. No sync follows. */
  close(): void {
    for (const each of this.#deps.hooks) each.onStop?.();
  }

  /** As stop, but cuts off at once what is in flight: we may not write any more. */
  async abandon(): Promise<void> {
    this.#deps.apply.cancel();
    this.#pool.cut();
    await this.stop();
  }

  /** What became of one action. */
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
    // Of many that are refused, each would ask for a plan that has nothing for it yet.
    else if (throttled) this.#retryAt = Math.min(this.#retryAt, now + (retryAfterMs ?? RETRY_MS));
    // What is still to be done there has a time, which the next plan knows.
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
    // The writes of the plan before go on while this one is made.
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
    // When the slice ends and when something else becomes due: a write that hangs must hold up
    // neither fresh work nor retries, once no other can start.
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

/** It becomes due by itself; whether a failed write is worth another try, its failure says. */
function isUnderWay({ verdict, dueAt, hold }: Row): boolean {
  // What is certain to be held is not waited for.
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

/** Every place is as its source wants it and no source is refused; a paused one is as its owner wants. */
export function isAllCurrent({ states, sources, list }: Plan): boolean {
  const { current: _, paused: __, ...others } = states;
  return (
    Object.values(others).every((count) => count === 0) &&
    sources.every(({ state }) => state === "ok") &&
    list.state !== "unread" &&
    list.refused.length === 0
  );
}
