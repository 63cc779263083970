// Connects the informers to one work-queue key and one worker. An event only triggers a sync, which decides
// from the whole cache (sync.ts). Promises:
// - No sync runs before all caches are complete.
// - At most one sync runs at a time. None starts while plans have taken more than a sixth of the last second, so a plan
//   that takes longer leaves a second to others.
// - A sync that fails as a whole is retried with back-off.
// Every replica keeps its caches warm, and only the leader works. The controller stops the worker and its
// writes in flight first, then the lease, the informers and the Events. Nothing runs after that.
import { safeErrorText } from "../../../packages/kube/rest/error-text.ts";
import { livenessProblems, readinessProblems } from "./health.ts";
import { sleep, type Clock } from "../../../packages/kube/time/clock.ts";
import type { EventRecorder } from "../../../packages/kube/events/event-recorder.ts";
import type { LeaderElector } from "../../../packages/kube/leaderelection/leader-elector.ts";
import type { Reachability } from "../../../packages/kube/rest/reachability.ts";
import { WorkQueue } from "../../../packages/kube/workqueue/queue.ts";
import type { QueueMetrics } from "../../../packages/kube/workqueue/queue-metrics.ts";
import type { Log } from "../report/log.ts";
import { Once } from "./once.ts";
import { PlanningPace } from "./planning-pace.ts";
import type { Sync } from "./sync.ts";
import type { SyncResult } from "./sync-result.ts";
import type { Watches } from "./watches.ts";

export type ControllerDeps = {
  readonly watches: Watches;
  readonly sync: Sync;
  readonly elector: LeaderElector | undefined;
  readonly events: Pick<EventRecorder, "close"> | undefined;
  readonly reachability: Reachability;
  readonly clock: Clock;
  readonly log: Log;
  readonly queueMetrics?: QueueMetrics;
};

export type ControllerSettings = {
  /** A full sync runs at least this often, ±10 %. 0 disables it. */
  readonly resyncMs: number;
  /** Stop as soon as nothing is due. */
  readonly once: boolean;
};

/** How run() ended: `lost` means that another replica may hold the lease by now. */
export type RunEnd = "stopped" | "lost" | "converged" | "unconverged";

/** The single sync key: every event adds it, and the worker runs a full doSync. */
const SYNC_KEY = "sync";
// The distance between syncs is this many times the last planning time. A storm of events then costs at most
// a sixth of a core. Changes of namespaces and sources do not wait.
const DISTANCE = 5;

export class Controller {
  readonly #deps: ControllerDeps;
  readonly #settings: ControllerSettings;
  readonly #queue: WorkQueue<typeof SYNC_KEY>;
  readonly #pace = new PlanningPace();
  readonly #once: Once | undefined;
  #planEnded = 0;
  #planTook = 0;
  /** A namespace or source has changed since the running or the last sync began. */
  #urgent = false;
  /** Ends a rest that is only for syncs that are not urgent. */
  #wake: (() => void) | undefined;
  #syncStarted: number | undefined;
  #ended: RunEnd | undefined;
  #started = false;
  /** Aborts when the work must end. Undefined without work. */
  #workSignal: AbortSignal | undefined;
  #worker: Promise<void> | undefined;

  constructor(deps: ControllerDeps, settings: ControllerSettings) {
    const { clock, queueMetrics } = deps;
    this.#deps = deps;
    this.#settings = settings;
    this.#once = settings.once ? new Once(deps) : undefined;
    this.#queue = new WorkQueue({
      name: SYNC_KEY,
      clock,
      ...(queueMetrics && { metrics: queueMetrics }),
    });
  }

  /** Runs until `signal` aborts, the lease is lost, or, with `once`, nothing is due. Works once. */
  async run(signal: AbortSignal): Promise<RunEnd> {
    if (this.#started) throw new Error("Cannot run a controller twice: make a new one");
    this.#started = true;
    const { watches, elector, log, reachability, sync } = this.#deps;
    const forget = reachability.onRecovery(() => {
      sync.serverIsBack();
      this.#enqueue(true);
    });
    log.info({}, "starting informers");
    this.#listen();
    const { filled } = await watches.start(signal);
    try {
      log.info({}, "waiting for caches");
      const { byResource } = watches;
      if (this.#once && !(await this.#once.fills(filled, byResource, signal))) return "unconverged";
      await filled;
      if (signal.aborted) return "stopped";
      log.info(watches.sizes, "caches filled");
      if (elector) return await this.#lead(elector, signal);
      await this.#work(signal);
      return this.#ended ?? "stopped";
    } finally {
      forget();
      await this.#stop();
    }
  }

  /** Problems that a restart may fix, as text. */
  live(): readonly string[] {
    const { watches, clock, elector, sync } = this.#deps;
    return livenessProblems(clock.monotonic(), {
      watches: watches.all,
      syncStartedMs: this.#syncStarted,
      lastWriteMs: sync.lastWriteMs,
      elector,
    });
  }

  /** What this replica still needs before it can serve. A standby replica is ready. */
  ready(): readonly string[] {
    const { watches, clock } = this.#deps;
    return readinessProblems(clock.monotonic(), watches.byResource);
  }

  /** Whether this process is the writer. */
  get leading(): boolean {
    return this.#deps.elector?.isLeader ?? this.#workSignal !== undefined;
  }

  #listen(): void {
    const { watches, sync } = this.#deps;
    watches.listen({
      // A standby replica remembers nothing. Leading starts with a sync of the whole cluster state.
      object: (kind, old, object, ownWrite) => {
        if (ownWrite || !this.#workSignal) return;
        const concern = sync.events.concerns(kind, old, object);
        if (concern !== "no") this.#enqueue(concern === "urgent");
      },
      namespace: (name, before) => {
        sync.events.namespaceChanged(name, before);
        this.#enqueue(true);
      },
      listChanged: () => {
        sync.events.listChanged();
        this.#enqueue(true);
      },
      namesChanged: () => this.#enqueue(true),
    });
    sync.onLateWrite(() => this.#enqueue(false));
  }

  #enqueue(urgent: boolean): void {
    if (!this.#workSignal) return;
    const { clock, sync } = this.#deps;
    const distance = this.#planEnded + DISTANCE * this.#planTook - clock.monotonic();
    sync.markDirty(urgent);
    if (urgent && !this.#urgent) {
      this.#urgent = true;
      this.#wake?.();
    }
    this.#queue.add(SYNC_KEY, { after: urgent ? 0 : Math.max(0, distance) });
  }

  async #lead(elector: LeaderElector, signal: AbortSignal): Promise<RunEnd> {
    const { log, sync } = this.#deps;
    log.info({}, "waiting for the lease");
    const stop = new AbortController();
    const either = AbortSignal.any([signal, stop.signal]);
    const giveUp = (leads: boolean): void => {
      if (leads) return;
      this.#ended = "unconverged";
      stop.abort();
    };
    void this.#once?.leads(elector, either).then(giveUp);
    const outcome = await elector.run(either, {
      onStartedLeading: async (leading) => {
        log.info({}, "leading");
        this.#worker = this.#work(leading);
        await this.#worker;
        stop.abort();
      },
      onNewLeader: (identity) => log.info({ identity }, "new leader"),
    });
    if (outcome === "cancelled") return this.#ended ?? "stopped";
    log.error({}, "the lease is lost, another replica may be leading");
    await sync.abandon();
    return "lost";
  }

  async #work(signal: AbortSignal): Promise<void> {
    const { log, sync } = this.#deps;
    const stop = (): void => {
      sync.interrupt();
      void this.#queue.shutDown();
    };
    signal.addEventListener("abort", stop, { once: true });
    if (signal.aborted) stop();
    this.#workSignal = signal;
    log.info({}, "started worker");
    this.#queue.add(SYNC_KEY);
    for (let item = await this.#queue.get(); !item.shutdown; item = await this.#queue.get()) {
      await this.#process();
      this.#queue.done(SYNC_KEY);
      if (this.#ended) void this.#queue.shutDown();
      await this.#rest(signal);
    }
    this.#workSignal = undefined;
    signal.removeEventListener("abort", stop);
    await sync.stop();
    log.info({}, "stopped worker");
  }

  /** All events until it resolves share the next sync. */
  async #rest(signal: AbortSignal): Promise<void> {
    const { clock } = this.#deps;
    while (!signal.aborted) {
      const ms = this.#pace.waitMs(clock.monotonic(), this.#urgent);
      if (ms === 0) return;
      const awake = new AbortController();
      this.#wake = () => awake.abort();
      await sleep(clock, ms, AbortSignal.any([signal, awake.signal]));
      this.#wake = undefined;
    }
  }

  async #stop(): Promise<void> {
    const { watches, events, log, sync } = this.#deps;
    await sync.stop();
    await this.#worker;
    await watches.stop();
    sync.close();
    // Last, so that Events about the last sync are still sent.
    await events?.close();
    log.info({}, "stopped");
  }

  /** Runs one sync. Never rejects. */
  async #process(): Promise<void> {
    const { clock, log, sync } = this.#deps;
    this.#syncStarted = clock.monotonic();
    this.#urgent = false;
    try {
      const result = await sync.doSync();
      this.#queue.forget(SYNC_KEY);
      this.#planEnded = clock.monotonic();
      this.#planTook = result.planMs;
      this.#pace.planned(this.#planEnded, result.planCpuMs);
      this.#schedule(result);
    } catch (error) {
      this.#queue.addRateLimited(SYNC_KEY);
      const failures = this.#queue.numRequeues(SYNC_KEY);
      log.error({ error: safeErrorText(error), failures }, "sync failed, will try again");
    } finally {
      this.#syncStarted = undefined;
    }
  }

  #schedule(result: SyncResult): void {
    const { clock, watches, sync } = this.#deps;
    const { settled, dueMs, ok } = result;
    const leftMs = this.#once?.leftMs(result, watches.listPending, sync.newestPlan?.rows ?? []);
    if (leftMs === 0) {
      this.#ended = ok ? "converged" : "unconverged";
      return;
    }
    if (!settled) return this.#queue.add(SYNC_KEY);
    if (leftMs !== undefined) this.#queue.addAfter(SYNC_KEY, leftMs);
    // An immediate add cancels a pending delay, so each sync sets its own delay again.
    if (dueMs !== undefined) this.#queue.addAfter(SYNC_KEY, Math.max(0, dueMs));
    const { resyncMs } = this.#settings;
    if (resyncMs > 0) this.#queue.addAfter(SYNC_KEY, resyncMs * (0.9 + 0.2 * clock.random()));
  }
}
