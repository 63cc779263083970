// Wires the informers to one key and one worker. Any event says only "look again"; what to do
// follows from the whole cache (sync.ts). Promises: no sync before all caches are complete; at most
// one sync at a time, and no more than twenty a second for long; a sync that fails as a whole is tried
// again with back-off. Every replica keeps warm caches, only the leader works. The end comes in this
// order: the worker with what is in flight, the lease, the informers, the Events; after it nothing runs
// on.
import { safeErrorText } from "../../kube/rest/error-text.ts";
import { livenessProblems, readinessProblems } from "./health.ts";
import { sleep, type Clock } from "../../kube/time/clock.ts";
import type { EventRecorder } from "../../kube/events/event-recorder.ts";
import type { Watched } from "../../kube/cache/informer-group.ts";
import type { LeaderElector } from "../../kube/leaderelection/leader-elector.ts";
import type { Reachability } from "../../kube/rest/reachability.ts";
import { WorkQueue } from "../../kube/workqueue/queue.ts";
import type { QueueMetrics } from "../../kube/workqueue/queue-metrics.ts";
import { TokenBucket } from "../../kube/time/token-bucket.ts";
import type { Namespace, CachedObject } from "../model/cluster.ts";
import type { ObjectKind } from "../model/kinds.ts";
import type { SourceListCache } from "./source-list-cache.ts";
import type { Log } from "../report/log.ts";
import type { Caches } from "./caches.ts";
import type { KindCache } from "./kind-cache.ts";
import { Once } from "./once.ts";
import type { SyncResult, Sync } from "./sync.ts";
import type { ReservationRecord } from "../writes/reservation-record.ts";

export type ControllerDeps = {
  /** Of each kind that takes part. */
  readonly kinds: readonly Pick<KindCache, "kind" | "objects">[];
  readonly namespaces: Watched<Namespace>;
  /** All of these, by resource. */
  readonly watches: Caches["watches"];
  /** undefined: there is none. */
  readonly list?: SourceListCache | undefined;
  readonly sync: Sync;
  readonly elector: LeaderElector | undefined;
  /** What the last process left to be done; undefined: nothing is written. */
  readonly record?: Pick<ReservationRecord, "load" | "close"> | undefined;
  readonly events: Pick<EventRecorder, "close"> | undefined;
  readonly reachability: Reachability;
  readonly clock: Clock;
  readonly log: Log;
  readonly queueMetrics?: QueueMetrics;
};

export type ControllerSettings = {
  /** Full sync at least this often, ±10 %; 0 never. */
  readonly resyncMs: number;
  /** End once nothing is due any more. */
  readonly once: boolean;
  /** Longest grace of an ending; with `once` it is waited out. */
  readonly graceMs: number;
};

/** How run() ended: `lost` means that another replica may hold the lease by now. */
export type RunEnd = "stopped" | "lost" | "converged" | "unconverged";

/** The single sync key: every event adds it, and the worker runs a full doSync. */
const SYNC_KEY = "sync";
// So long the other caches wait for the source list before they are begun.
const LIST_FIRST_MS = 1000;
// Syncs keep a distance of this many times the last one's planning, so that a storm of events costs
// at most a sixth of a core; changes of namespaces and sources do not wait.
const DISTANCE = 5;
// Whatever asks for them, changes of namespaces and sources included: a burst goes through at once.
const PASSES = { perSecond: 16, burst: 40 } as const;

export class Controller {
  readonly #deps: ControllerDeps;
  readonly #settings: ControllerSettings;
  readonly #queue: WorkQueue<typeof SYNC_KEY>;
  readonly #passes: TokenBucket;
  readonly #once: Once | undefined;
  #planEnded = 0;
  #planTook = 0;
  #passStarted: number | undefined;
  #ended: RunEnd | undefined;
  #started = false;
  #working = false;
  #worker: Promise<void> | undefined;

  constructor(deps: ControllerDeps, settings: ControllerSettings) {
    const { clock, queueMetrics } = deps;
    this.#deps = deps;
    this.#settings = settings;
    this.#passes = new TokenBucket({ clock, ...PASSES });
    this.#once = settings.once ? new Once(deps, settings.graceMs) : undefined;
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
    const { watches, list, elector, log, reachability, sync } = this.#deps;
    const forget = reachability.onBack(() => {
      sync.serverIsBack();
      this.#enqueue(true);
    });
    log.info({}, "starting informers");
    this.#listen();
    const all = Object.values(watches);
    list?.informer.start();
    const listed = list?.settled(signal);
    // Known first, it spares a second look at each object that it names.
    if (listed) await this.#atMost(LIST_FIRST_MS, listed, signal);
    for (const watch of all) watch.start();
    try {
      log.info({}, "waiting for caches");
      const filled = Promise.all([...all.map((watch) => watch.waitForSync(signal)), listed]);
      if (this.#once && !(await this.#once.fills(filled, watches, signal))) return "unconverged";
      await filled;
      if (signal.aborted) return "stopped";
      log.info(sizesOf(watches), "caches filled");
      if (elector) return await this.#lead(elector, signal);
      await this.#work(signal);
      return this.#ended ?? "stopped";
    } finally {
      forget();
      await this.#stop();
    }
  }

  async #atMost(ms: number, wanted: Promise<void>, signal: AbortSignal): Promise<void> {
    const enough = new AbortController();
    const either = AbortSignal.any([signal, enough.signal]);
    await Promise.race([wanted, sleep(this.#deps.clock, ms, either)]);
    enough.abort();
  }

  /** Problems that a restart may mend, in plain words. */
  live(): readonly string[] {
    const { watches, list, clock, elector, sync } = this.#deps;
    return livenessProblems(clock.monotonic(), {
      watches: { ...watches, ...(list && { "source list": list.informer }) },
      passStartedMs: this.#passStarted,
      lastWriteMs: sync.lastWriteMs,
      elector,
    });
  }

  /** What is missing before this replica could serve; a stand-by is ready. */
  ready(): readonly string[] {
    const { watches, clock } = this.#deps;
    return readinessProblems(clock.monotonic(), watches);
  }

  /** Whether this process is the one that writes. */
  get leading(): boolean {
    return this.#deps.elector?.isLeader ?? this.#working;
  }

  #listen(): void {
    const { kinds, namespaces, list, sync } = this.#deps;
    list?.onChange(() => {
      sync.listChanged();
      this.#enqueue(true);
    });
    for (const { kind, objects } of kinds)
      objects.addHandler({
        add: (object, _initial, ownWrite) => this.#object(kind, undefined, object, ownWrite),
        update: (old, object, ownWrite) => this.#object(kind, old, object, ownWrite),
        delete: (last, { ownWrite }) => this.#object(kind, last, undefined, ownWrite),
      });
    namespaces.addHandler({
      add: ({ name }) => this.#namespace(name, undefined),
      update: (old, namespace) => {
        if (old.resourceVersion !== namespace.resourceVersion) this.#namespace(old.name, old);
      },
      delete: (last) => this.#namespace(last.name, last),
    });
    sync.whenLate(() => this.#enqueue(false));
  }

  // A stand-by remembers nothing: leading begins with a sync over all that is there.
  #object(
    kind: ObjectKind,
    old: CachedObject | undefined,
    object: CachedObject | undefined,
    ownWrite: boolean,
  ): void {
    if (ownWrite || !this.#working) return;
    const concern = this.#deps.sync.concerns(kind, old, object);
    if (concern !== "no") this.#enqueue(concern === "urgent");
  }

  #namespace(name: string, before: Namespace | undefined): void {
    this.#deps.sync.namespaceChanged(name, before);
    this.#enqueue(true);
  }

  // An event asks for a sync; an urgent one does not keep the distance. On a stand-by nothing is
  // asked for: leading begins with a sync.
  #enqueue(urgent: boolean): void {
    if (!this.#working) return;
    const { clock, sync } = this.#deps;
    const distance = this.#planEnded + DISTANCE * this.#planTook - clock.monotonic();
    sync.markDirty(urgent);
    this.#queue.add(SYNC_KEY, { after: urgent ? 0 : Math.max(0, distance) });
  }

  async #lead(elector: LeaderElector, signal: AbortSignal): Promise<RunEnd> {
    const { log, sync } = this.#deps;
    log.info({}, "waiting for the lease");
    const stop = new AbortController();
    const either = AbortSignal.any([signal, stop.signal]);
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
    const { log, sync, record } = this.#deps;
    const stop = (): void => {
      sync.interrupt();
      void this.#queue.shutDown();
    };
    signal.addEventListener("abort", stop, { once: true });
    if (signal.aborted) stop();
    await record?.load(signal);
    this.#working = true;
    log.info({}, "started worker");
    this.#queue.add(SYNC_KEY);
    for (let item = await this.#queue.get(); !item.shutdown; item = await this.#queue.get()) {
      await this.#process();
      this.#queue.done(SYNC_KEY);
      if (this.#ended) void this.#queue.shutDown();
      // Of the next sync, before it is known what asks for it: what comes meanwhile is one sync.
      const rest = this.#passes.reserve();
      if (rest > 0) await sleep(this.#deps.clock, rest, signal);
    }
    this.#working = false;
    signal.removeEventListener("abort", stop);
    await sync.stop();
    await record?.close();
    log.info({}, "stopped worker");
  }

  async #stop(): Promise<void> {
    const { watches, list, events, log, sync } = this.#deps;
    await sync.stop();
    await this.#worker;
    const stopping = Object.values(watches).map((watch) => watch.stop());
    await Promise.all([...stopping, list?.informer.stop()]);
    sync.close();
    // Last, so that Events about the last sync are still sent.
    await events?.close();
    log.info({}, "stopped");
  }

  /** One sync; never rejects. */
  async #process(): Promise<void> {
    const { clock, log, sync } = this.#deps;
    this.#passStarted = clock.monotonic();
    try {
      const result = await sync.doSync();
      this.#queue.forget(SYNC_KEY);
      this.#planEnded = clock.monotonic();
      this.#planTook = result.planMs;
      this.#schedule(result);
    } catch (error) {
      this.#queue.addRateLimited(SYNC_KEY);
      const failures = this.#queue.numRequeues(SYNC_KEY);
      log.error({ error: safeErrorText(error), failures }, "sync failed, will try again");
    } finally {
      this.#passStarted = undefined;
    }
  }

  #schedule(result: SyncResult): void {
    const { clock, list, sync } = this.#deps;
    const { settled, dueMs, ok } = result;
    const rows = sync.newestPlan?.rows ?? [];
    const leftMs = this.#once?.leftMs(result, list?.pending === true, rows);
    if (leftMs === 0) {
      this.#ended = ok ? "converged" : "unconverged";
      return;
    }
    if (!settled) {
      this.#queue.add(SYNC_KEY);
      return;
    }
    if (leftMs !== undefined) this.#queue.addAfter(SYNC_KEY, leftMs);
    // An add at once takes a pending delay away, so each sync asks for its own again.
    if (dueMs !== undefined) this.#queue.addAfter(SYNC_KEY, Math.max(0, dueMs));
    const { resyncMs } = this.#settings;
    if (resyncMs > 0) this.#queue.addAfter(SYNC_KEY, resyncMs * (0.9 + 0.2 * clock.random()));
  }
}

function sizesOf(watches: Caches["watches"]): Record<string, number> {
  return Object.fromEntries(
    Object.entries(watches).map(([resource, { store }]) => [resource, store.size]),
  );
}
