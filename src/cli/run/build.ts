// Puts the parts together: clients → informers → planner → writes → controller. Nothing runs yet.
import { randomBytes } from "node:crypto";
import { hostname } from "node:os";
import { Apply } from "../../writes/apply.ts";
import { createCaches } from "../../controller/caches.ts";
import type { Config } from "../../config/config.ts";
import { Controller } from "../../controller/controller.ts";
import { createDigest } from "../../core/model/secret-data.ts";
import { DataCache } from "../../core/state/data-cache.ts";
import { createIntern, createShare } from "../../core/observed/intern.ts";
import { PlannerState } from "../../core/state/planner-state.ts";
import type { PlannerSettings } from "../../core/model/cluster.ts";
import { readPayload, readObject, type ReadContext } from "../../core/observed/read-object.ts";
import type { ApiClient } from "../../kube/rest/client.ts";
import type { EventDetails } from "../../kube/events/event-record.ts";
import { EventRecorder } from "../../kube/events/event-recorder.ts";
import { wallOffsetMs, type Clock } from "../../kube/time/clock.ts";
import { LeaderElector, newIdentity } from "../../kube/leaderelection/leader-elector.ts";
import type { Log } from "../../telemetry/log.ts";
import { SourceEvents, type SourceEvent } from "../../telemetry/source-events.ts";
import { recordLookup } from "../../writes/outcome.ts";
import { FailingPlaces } from "../../telemetry/failing-places.ts";
import { PlanWarnings } from "../../telemetry/plan-warnings.ts";
import { RemovalLog } from "../../telemetry/removal-log.ts";
import { SyncLog, type SyncHooks } from "../../telemetry/sync-log.ts";
import type { StatusFeed } from "../../server/status/status-feed.ts";
import type { Metrics } from "../../telemetry/metrics.ts";
import { namedSources } from "../../config/planner-settings.ts";
import { Sync } from "../../controller/sync.ts";
import { controllerSnapshot } from "./snapshot.ts";
import { createLeaseClient } from "../../kube/leaderelection/lease-lock.ts";
import { createEventClient } from "../../kube/events/event-writer.ts";
import type { Caches } from "../../controller/cluster-caches.ts";

export type Dependencies = {
  readonly client: ApiClient;
  /** Leases have a connection of their own: a renewal must never queue behind a fan-out. */
  readonly leaseApi: ApiClient;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly observer: SyncHooks;
  /** The status page reads here, where there is one. */
  readonly board?: StatusFeed;
};

// A stand-by looks after up to 2.2 times this: 3.3 s, so that it has written within 5 s of a release.
const LEASE_RETRY_MS = 1500;

export function buildController(
  config: Config,
  settings: PlannerSettings,
  parts: Dependencies,
): Controller {
  const { client, clock, log, metrics, observer } = parts;
  const dataCache = new DataCache(config.dataCacheBytes);
  const context: ReadContext = {
    // The key makes digests meaningless outside this process.
    digest: createDigest(randomBytes(32)),
    intern: createIntern(),
    share: createShare(),
    isSourceNamespace: (namespace) => settings.sourceNamespaces.matches(namespace),
    copyable: settings,
    keep: (source, payload) => dataCache.put(source, payload),
  };
  const caches = createCaches(settings.scope?.watched, parts, context, dataCache);
  const { world, cache, secrets, namespaces } = caches;
  const elector =
    config.leaderElect && !config.dryRun
      ? createElector(config, parts, () => {
          for (const informer of [secrets, namespaces]) informer.relist();
        })
      : undefined;
  const memory = new PlannerState();
  const events = config.dryRun ? undefined : createEvents(parts);
  const failing = new FailingPlaces();
  const sourceEvents = new SourceEvents({
    failing,
    mayName: namedSources(config),
    uidOf: (place) => caches.get(place)?.uid,
    tell: (event) => events?.record(eventOf(event)),
    now: () => clock.monotonic(),
  });
  const syncLog = new SyncLog(log, metrics.figures, clock, () =>
    [secrets, namespaces].every(({ disconnectedSinceMs }) => disconnectedSinceMs === undefined),
  );
  const apply = new Apply({
    client,
    permission: () => elector?.msLeft ?? Number.POSITIVE_INFINITY,
    onWrite: (verb, result) => metrics.figures.write(verb, result),
    onAnswer: (question, answer) => {
      const [now, chance] = [clock.monotonic(), clock.random()];
      recordLookup(question, answer, { memory, cache, now, chance });
    },
    onVacated: (place) => memory.vacated(place),
    remember: (raw) => void cache.remember(raw),
    read: (raw) => readObject(raw, context),
    sources: {
      cache: dataCache,
      read: (raw) => readPayload(raw, context),
      onRead: () => metrics.figures.sourceRead(),
    },
  });
  const sync = new Sync({
    world,
    settings,
    memory,
    cache,
    apply,
    concurrency: config.concurrency,
    clock,
    hooks: [
      syncLog,
      failing,
      new PlanWarnings(log, clock, failing),
      new RemovalLog(log, clock, (removed) => sourceEvents.removed(removed)),
      sourceEventsHooks(sourceEvents, memory),
      observer,
      feedHooks(parts.board),
    ],
    dryRun: config.dryRun,
  });
  const controller = new Controller(
    {
      secrets,
      namespaces,
      sync,
      elector,
      events,
      reachability: client.reachability,
      clock,
      log,
      queueMetrics: metrics.queue,
    },
    { resyncMs: config.resyncMs, once: config.once },
  );
  metrics.observe({
    copies: () => sync.newestPlan?.states ?? {},
    sources: () => countSources(sync),
    ignored: () => sync.newestPlan?.ignored.counts ?? {},
    lastConvergedMs: () => syncLog.convergedMs,
    unreadableNamespaces: () => caches.unreadable().length,
    watchActivityMs: () => lastActivity(caches, clock),
    watchDisconnectedMs: () => disconnected(caches, clock),
    leading: () => controller.leading,
  });
  const { dryRun } = config;
  const watches = { secrets, namespaces };
  parts.board?.observe(
    controllerSnapshot({
      world,
      watches,
      reachability: client.reachability,
      elector,
      pod: config.inCluster
        ? {
            namespace: config.ownNamespace,
            hostname: hostname(),
            port: config.statusAddress.port,
          }
        : undefined,
      controller,
      sync,
      syncLog,
      clock,
      dryRun,
    }),
  );
  return controller;
}

function sourceEventsHooks(sourceEvents: SourceEvents, state: PlannerState): SyncHooks {
  return {
    onOutcome: (outcome) => sourceEvents.ended(outcome),
    onPlan: (plan, { settled }) => {
      if (settled) sourceEvents.settled(plan, state.takeFights());
    },
  };
}

function feedHooks(feed: StatusFeed | undefined): SyncHooks {
  return { onPlan: () => feed?.changed() };
}

function createElector(
  config: Config,
  { leaseApi, clock, log }: Dependencies,
  relist: () => void,
): LeaderElector {
  return new LeaderElector({
    client: createLeaseClient(leaseApi, config.leaseNamespace, config.leaseName),
    clock,
    identity: newIdentity(),
    namespace: config.leaseNamespace,
    name: config.leaseName,
    retryPeriodMs: LEASE_RETRY_MS,
    reachability: leaseApi.reachability,
    onVersionWentBack: () => {
      log.warn({}, "the API server's versions have gone back: everything is listed anew");
      relist();
    },
    onError: (error) =>
      log.warn(
        { error: error instanceof Error ? error.message : "unexpected" },
        "lease not renewed",
      ),
  });
}

function createEvents({ client, clock, log }: Dependencies): EventRecorder {
  return new EventRecorder({
    client: createEventClient(client),
    reachability: client.reachability,
    clock,
    reporter: { controller: "secretcast", instance: hostname() },
    onDrop: (reason) => log.debug({ reason }, "event not sent"),
  });
}

function eventOf({ on, uid, type, reason, note }: SourceEvent): EventDetails {
  const { name } = on;
  const regarding =
    on.namespace === ""
      ? { apiVersion: "v1", kind: "Namespace", name, uid }
      : { apiVersion: "v1", kind: "Secret", ...on, uid };
  return { regarding, type, reason, action: "Copy", note };
}

function countSources({ newestPlan: plan }: Sync): Record<string, number> {
  const refused = plan?.sources.filter(({ state }) => state === "refused").length ?? 0;
  return { ok: (plan?.sources.length ?? 0) - refused, refused };
}

/** Wall times out of monotonic ones. */
function lastActivity({ secrets, namespaces }: Caches, clock: Clock): Record<string, number> {
  const offset = wallOffsetMs(clock);
  return {
    secrets: secrets.lastActivityMs + offset,
    namespaces: namespaces.lastActivityMs + offset,
  };
}

function disconnected({ secrets, namespaces }: Caches, clock: Clock): Record<string, number> {
  const now = clock.monotonic();
  return {
    secrets: now - (secrets.disconnectedSinceMs ?? now),
    namespaces: now - (namespaces.disconnectedSinceMs ?? now),
  };
}
