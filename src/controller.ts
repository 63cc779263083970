// Wires two informers to one key and one worker. Any event says only "look again"; what to do
// follows from the whole cache (sync.ts). Promises: no pass before both caches are complete; at most
// one pass at a time; a pass that fails as a whole is tried again with back-off; after stop nothing
// runs on. Every replica keeps warm caches, only the leader works.
import type { Clock } from "./kube/clock.ts";
import type { EventRecorder } from "./kube/events.ts";
import type { Informer } from "./kube/informer.ts";
import type { LeaderElector } from "./kube/lease.ts";
import { WorkQueue } from "./kube/queue.ts";
import type { QueueMetrics } from "./kube/queuemetrics.ts";
import type { Namespace, Secret } from "./core/model.ts";
import type { Log } from "./log.ts";
import type { PassResult, Sync } from "./sync.ts";

export type ControllerDeps = {
  readonly secrets: Informer<Secret>;
  readonly namespaces: Informer<Namespace>;
  readonly sync: Sync;
  readonly elector: LeaderElector | undefined;
  readonly events: EventRecorder | undefined;
  readonly clock: Clock;
  readonly log: Log;
  readonly queueMetrics?: QueueMetrics;
};

export type ControllerSettings = {
  /** Full pass at least this often, ±10 %; 0 never. */
  readonly resyncMs: number;
  /** End once nothing is due any more. */
  readonly once: boolean;
};

/** How run() ended: `lost` means that another replica may hold the lease by now. */
export type Ended = "stopped" | "lost" | "converged" | "unconverged";

const KEY = "sync";
// Passes keep a distance of this many times the last one's planning, so that a storm of events costs
// at most a sixth of a core; changes of namespaces and sources do not wait.
const DISTANCE = 5;
// A watch may be quiet for two minutes and healthy, and is renewed every five at most.
const SILENCE_MS = 10 * 60_000;
const STUCK_MS = 10 * 60_000;

export class Controller {
  readonly #deps: ControllerDeps;
  readonly #settings: ControllerSettings;
  readonly #queue: WorkQueue<typeof KEY>;
  #planEnded = 0;
  #planTook = 0;
  #passStarted: number | undefined;
  #ended: Ended | undefined;
  #working = false;

  constructor(deps: ControllerDeps, settings: ControllerSettings) {
    const { clock, queueMetrics } = deps;
    this.#deps = deps;
    this.#settings = settings;
    this.#queue = new WorkQueue({
      name: KEY,
      clock,
      ...(queueMetrics && { metrics: queueMetrics }),
    });
  }

  /** Runs until `signal` aborts, the lease is lost, or, with `once`, nothing is due. */
  async run(signal: AbortSignal): Promise<Ended> {
    const { secrets, namespaces, elector, events, log, sync } = this.#deps;
    this.#listen();
    log.info({}, "starting informers");
    secrets.start();
    namespaces.start();
    try {
      await Promise.all([secrets.waitForSync(signal), namespaces.waitForSync(signal)]);
      if (signal.aborted) return "stopped";
      log.info({ secrets: secrets.store.size, namespaces: namespaces.store.size }, "caches filled");
      if (!elector) {
        await this.#work(signal);
        return this.#ended ?? "stopped";
      }
      return await this.#lead(elector, signal);
    } finally {
      await sync.stop();
      await Promise.all([secrets.stop(), namespaces.stop()]);
      // Last, so that what the last pass did is still told.
      await events?.close();
      log.info({}, "stopped");
    }
  }

  /** Asks for a pass. Urgent ones do not keep the distance. */
  enqueue(urgent: boolean): void {
    const { clock, sync } = this.#deps;
    const distance = this.#planEnded + DISTANCE * this.#planTook - clock.monotonic();
    sync.markDirty(urgent);
    this.#queue.add(KEY, { after: urgent ? 0 : Math.max(0, distance) });
  }

  /** Problems that a restart may mend, in plain words. */
  live(): readonly string[] {
    const { secrets, namespaces, clock, elector } = this.#deps;
    const problems: string[] = [];
    const now = clock.monotonic();
    for (const [name, informer] of [
      ["secrets", secrets] as const,
      ["namespaces", namespaces] as const,
    ]) {
      // Attempts in vain are signs of life: an API server's outage must not restart every replica.
      const silent = now - informer.lastSignOfLifeMs;
      if (silent > SILENCE_MS)
        problems.push(`${name}: no sign of life for ${Math.round(silent / 1000)} s`);
    }
    if (this.#passStarted !== undefined && now - this.#passStarted > STUCK_MS)
      problems.push(`sync: one pass has taken ${Math.round((now - this.#passStarted) / 1000)} s`);
    if (elector && !elector.healthy()) problems.push("lease: held but not renewed");
    return problems;
  }

  /** What is missing before this replica could serve; a stand-by is ready. */
  ready(): readonly string[] {
    const { secrets, namespaces } = this.#deps;
    return [
      ...(secrets.hasSynced ? [] : ["secrets: cache not filled yet"]),
      ...(namespaces.hasSynced ? [] : ["namespaces: cache not filled yet"]),
    ];
  }

  /** Whether this process is the one that writes. */
  get leading(): boolean {
    return this.#deps.elector?.isLeader ?? this.#working;
  }

  #listen(): void {
    const { secrets, namespaces, sync } = this.#deps;
    secrets.addHandler({
      add: (secret, _initial, echo) => this.#look(echo ? "no" : sync.concerns(undefined, secret)),
      update: (old, secret, echo) => this.#look(echo ? "no" : sync.concerns(old, secret)),
      delete: (last, { echo }) => this.#look(echo ? "no" : sync.concerns(last, undefined)),
    });
    namespaces.addHandler({
      add: () => this.enqueue(true),
      update: (old, namespace) => {
        if (old.resourceVersion !== namespace.resourceVersion) this.enqueue(true);
      },
      delete: () => this.enqueue(true),
    });
  }

  #look(concern: "urgent" | "later" | "no"): void {
    if (concern !== "no") this.enqueue(concern === "urgent");
  }

  async #lead(elector: LeaderElector, signal: AbortSignal): Promise<Ended> {
    const { log } = this.#deps;
    log.info({}, "waiting for the lease");
    const stop = new AbortController();
    const either = AbortSignal.any([signal, stop.signal]);
    const outcome = await elector.run(either, {
      onStartedLeading: async (leading) => {
        log.info({}, "leading");
        await this.#work(leading);
        stop.abort();
      },
      onStoppedLeading: () => undefined,
      onNewLeader: (identity) => log.info({ identity }, "new leader"),
    });
    return outcome === "lost" ? "lost" : (this.#ended ?? "stopped");
  }

  async #work(signal: AbortSignal): Promise<void> {
    const { log, sync } = this.#deps;
    const stop = (): void => {
      sync.interrupt();
      void this.#queue.shutDown();
    };
    signal.addEventListener("abort", stop, { once: true });
    this.#working = true;
    log.info({}, "started worker");
    this.enqueue(true);
    for (let item = await this.#queue.get(); !item.shutdown; item = await this.#queue.get()) {
      try {
        await this.#process();
      } finally {
        this.#queue.done(KEY);
      }
      if (this.#ended) void this.#queue.shutDown();
    }
    this.#working = false;
    signal.removeEventListener("abort", stop);
    await sync.stop();
  }

  async #process(): Promise<void> {
    const { clock, log, sync } = this.#deps;
    this.#passStarted = clock.monotonic();
    try {
      const result = await sync.pass();
      this.#queue.forget(KEY);
      this.#planEnded = clock.monotonic();
      this.#planTook = result.planMs;
      this.#schedule(result);
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      log.error({ error: message }, "sync failed, trying again");
      this.#queue.addRateLimited(KEY);
    } finally {
      this.#passStarted = undefined;
    }
  }

  #schedule({ settled, dueMs, pending, ok }: PassResult): void {
    const { clock } = this.#deps;
    if (!settled) {
      this.enqueue(true);
      return;
    }
    if (this.#settings.once && pending === 0) this.#ended = ok ? "converged" : "unconverged";
    if (dueMs !== undefined) this.#queue.addAfter(KEY, Math.max(0, dueMs));
    const { resyncMs } = this.#settings;
    if (resyncMs > 0) this.#queue.addAfter(KEY, resyncMs * (0.9 + 0.2 * clock.random()));
  }
}
