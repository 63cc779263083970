// Connects the parts: clients → informers → planner → writes → controller. Nothing runs yet.
import { randomBytes } from "node:crypto";
import { hostname } from "node:os";
import { Apply } from "../controller/writes/apply.ts";
import { createCaches } from "../controller/sync/caches.ts";
import { LEASE_RETRY_MS, type Config } from "../controller/settings/config.ts";
import { Controller } from "../controller/sync/controller.ts";
import { createDigest } from "../controller/model/secret-data.ts";
import { DataCache } from "../controller/state/data-cache.ts";
import { createIntern, createShare } from "../controller/observed/intern.ts";
import { LIST_OFF } from "../controller/observed/list-state.ts";
import { PlannerMemory } from "../controller/state/planner-memory.ts";
import { KINDS, rulesOf, type ObjectKind } from "../controller/model/kinds.ts";
import type { ListState, PlannerSettings } from "../controller/model/cluster.ts";
import { SourceListCache } from "../controller/sync/source-list-cache.ts";
import { toldBy, watchLines } from "../controller/sync/informers.ts";
import type { ReadContext } from "../controller/observed/read-context.ts";
import { readPayload } from "../controller/observed/read-object.ts";
import { ApiError } from "../kube/rest/api-error.ts";
import { FAILURE_CAUSES } from "../kube/rest/failure-cause.ts";
import type { ApiClient } from "../kube/rest/api-client.ts";
import type { EventDetails } from "../kube/events/event-record.ts";
import { EventRecorder } from "../kube/events/event-recorder.ts";
import type { Clock } from "../kube/time/clock.ts";
import { LeaderElector, newIdentity } from "../kube/leaderelection/leader-elector.ts";
import type { Log } from "../controller/report/log.ts";
import { SourceEvents, type SourceEvent } from "../controller/report/source-events.ts";
import type { EventIdentity } from "../controller/report/event-outbox.ts";
import { SourceEventHooks } from "../controller/report/source-event-hooks.ts";
import { recordLookup, rememberRead, type ReadObjects } from "../controller/writes/outcome.ts";
import { FailureLines } from "../controller/report/failure-lines.ts";
import { FailingPlaces } from "../controller/report/failing-places.ts";
import { PlanWarnings } from "../controller/report/plan-warnings.ts";
import { WrittenLog } from "../controller/report/written-log.ts";
import { RemovalLog } from "../controller/report/removal-log.ts";
import { SyncLog, type SyncHooks } from "../controller/report/sync-log.ts";
import type { StatusFeed } from "../page/status-feed.ts";
import type { Metrics } from "../controller/report/metrics.ts";
import { namedSources } from "../controller/settings/planner-settings.ts";
import { Sync } from "../controller/sync/sync.ts";
import { controllerSnapshot } from "../page/snapshot.ts";
import { gaugeInputs } from "./gauge-inputs.ts";
import { LeaseAnnotation } from "../kube/leaderelection/lease-annotation.ts";
import { ReservationRecord } from "../controller/writes/reservation-record.ts";
import { RESERVATIONS_KEY } from "../controller/state/reservation-text.ts";
import { createLeaseClient } from "../kube/leaderelection/lease-lock.ts";
import { createEventClient } from "../kube/events/event-writer.ts";

export type Dependencies = {
  readonly client: ApiClient;
  /** Leases have a connection of their own: a renewal must never queue behind a fan-out. */
  readonly leaseApi: ApiClient;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly observer: SyncHooks;
  /** The source of the status page, if there is one. */
  readonly statusFeed?: StatusFeed;
};

// Every replace waits while the request is in flight.
const RECORD_REQUEST_MS = 5000;

export function buildController(
  config: Config,
  settings: PlannerSettings,
  parts: Dependencies,
): Controller {
  const { client, clock, log, metrics, observer } = parts;
  const dataCache = new DataCache(config.dataCacheBytes);
  const lines = watchLines(log, clock);
  const list = createSourceList(config, parts, lines);
  // The number is unknown until all are read.
  const objects = (): number => {
    const all = Object.values(watches);
    const unknown = all.some(({ hasSynced }) => !hasSynced);
    return unknown ? Number.POSITIVE_INFINITY : all.reduce((sum, { store }) => sum + store.size, 0);
  };
  const context: Omit<ReadContext, "kind" | "entryOf"> = {
    // The key makes digests meaningless outside this process.
    digest: createDigest(randomBytes(32)),
    intern: createIntern(objects),
    share: createShare(objects),
    isSourceNamespace: (namespace) => settings.sourceNamespaces.matches(namespace),
    copyable: settings,
    keep: (source, payload) => dataCache.put(source, payload),
  };
  const contextOf = (kind: ObjectKind): ReadContext => ({
    ...context,
    kind: rulesOf(kind, settings),
    entryOf: (object) => list?.entryOf(kind, object),
  });
  const contexts = config.kinds.map(contextOf);
  const listState = (kind: ObjectKind): ListState => list?.stateFor(kind) ?? LIST_OFF;
  const deps = { ...parts, lines, listState };
  const caches = createCaches(settings.scope?.watched, deps, contexts, dataCache);
  const { kinds, namespaces, watches, written } = caches;
  const clusterStates = kinds.map(({ clusterState }) => clusterState);
  const identity = newIdentity();
  const elector =
    config.leaderElect && !config.dryRun
      ? createElector(config, parts, identity, () => {
          for (const watch of Object.values(watches)) watch.relist();
          list?.informer.relist();
        })
      : undefined;
  const memory = new PlannerMemory();
  const record = createRecord(config, parts, identity, memory);
  const events = config.dryRun
    ? undefined
    : createEvents(parts, (details) => eventHooks.lost(details));
  const failing = new FailingPlaces();
  const sourceEvents = new SourceEvents({
    failing,
    mayName: namedSources(config),
    uidOf: (kind, place) => kinds.find((each) => each.kind === kind)?.written.get(place)?.uid,
    tell: (event) => events?.record(eventOf(event)),
    lease: () => elector?.lease,
    now: () => clock.monotonic(),
    wallNow: () => clock.now(),
  });
  const eventHooks = new SourceEventHooks(sourceEvents, memory, clock);
  const syncLog = new SyncLog(log, metrics.figures, clock, () =>
    Object.values(watches).every(({ disconnectedSinceMs }) => disconnectedSinceMs === undefined),
  );
  const reads: ReadObjects = {
    caches: written,
    onChange: (key, before) => sync.readAnew(key, before),
  };
  const apply = new Apply({
    client,
    writeDeadlineMs: () => elector?.msLeft ?? Number.POSITIVE_INFINITY,
    onWrite: (verb, result) => metrics.figures.write(verb, result),
    onAnswer: (question, answer) => {
      const [now, random] = [clock.monotonic(), clock.random()];
      const record = { ...reads, memory, list: list?.written };
      recordLookup(question, answer, { ...record, now, random });
    },
    isReserved: (kind, { name }) => rulesOf(kind, settings).reserved?.includes(name) === true,
    reservations: { where: record.where, reserve: (reservation) => record.reserve(reservation) },
    remember: (kind, raw) => rememberRead(kind, raw, reads),
    read: (kind, raw) => written.of(kind).read(raw),
    sources: {
      cache: dataCache,
      read: (raw, source) => readPayload(raw, source, contextOf(source.kind)),
      onRead: () => metrics.figures.sourceRead(),
    },
  });
  const sync = new Sync({
    clusterStates,
    settings,
    memory,
    caches: written,
    apply,
    concurrency: config.concurrency,
    clock,
    hooks: [
      syncLog,
      failing,
      new PlanWarnings(log, clock, failing),
      new WrittenLog(log, clock),
      new RemovalLog(log, clock, (removed) => sourceEvents.removed(removed)),
      eventHooks,
      observer,
      feedHooks(parts.statusFeed),
      recordHooks(config.dryRun ? undefined : record),
    ],
    dryRun: config.dryRun,
  });
  const controller = new Controller(
    {
      kinds,
      namespaces,
      watches,
      list,
      sync,
      elector,
      record: config.dryRun ? undefined : record,
      events,
      reachability: client.reachability,
      clock,
      log,
      queueMetrics: metrics.queue,
    },
    {
      resyncMs: config.resyncMs,
      once: config.once,
      graceMs: Math.max(settings.deleteGraceMs, settings.sourceGraceMs),
    },
  );
  metrics.observe(gaugeInputs({ kinds: config.kinds, caches, controller, sync, syncLog, clock }));
  const { dryRun } = config;
  parts.statusFeed?.observe(
    controllerSnapshot({
      clusterStates,
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

function recordHooks(record: ReservationRecord | undefined): SyncHooks {
  return { onPlan: () => record?.planned() };
}

function feedHooks(feed: StatusFeed | undefined): SyncHooks {
  return { onPlan: () => feed?.changed() };
}

function createSourceList(
  { sourceList, ownNamespace, kinds }: Config,
  { client, clock, metrics }: Dependencies,
  lines: FailureLines,
): SourceListCache | undefined {
  if (sourceList === undefined) return undefined;
  return new SourceListCache({
    client,
    clock,
    ref: { namespace: ownNamespace, name: sourceList },
    configMaps: kinds.includes("ConfigMap"),
    reserved: KINDS.ConfigMap.reserved,
    metrics: metrics.watch(SOURCE_LIST),
    ...toldBy(lines, SOURCE_LIST),
  });
}

// The name of the list's watch among those of resources.
const SOURCE_LIST = "source list";

function createElector(
  config: Config,
  { leaseApi, clock, log }: Dependencies,
  identity: string,
  relist: () => void,
): LeaderElector {
  const lines = new FailureLines(log, clock, "lease not taken, renewed or released");
  const { failed, worked } = lines.of(config.leaseName);
  return new LeaderElector({
    client: createLeaseClient(leaseApi, config.leaseNamespace, config.leaseName),
    clock,
    identity,
    namespace: config.leaseNamespace,
    name: config.leaseName,
    retryPeriodMs: LEASE_RETRY_MS,
    reachability: leaseApi.reachability,
    onVersionWentBack: () => {
      log.warn({}, "the API server's versions have gone back: everything is listed anew");
      relist();
    },
    onError: failed,
    onAnswer: worked,
  });
}

// Uses the client of the writes, because a renewal must never queue behind it.
function createRecord(
  config: Config,
  { client, clock }: Dependencies,
  identity: string,
  memory: PlannerMemory,
): ReservationRecord {
  const { leaseNamespace: namespace, leaseName: name } = config;
  const annotation = new LeaseAnnotation({
    client: createLeaseClient(client, namespace, name, RECORD_REQUEST_MS),
    namespace,
    name,
    key: RESERVATIONS_KEY,
    identity: config.leaderElect ? identity : undefined,
  });
  return new ReservationRecord(annotation, memory.shared.reservations, clock);
}

function createEvents(
  { client, clock, log }: Dependencies,
  onLost: (event: EventIdentity) => void,
): EventRecorder {
  const message = "event not sent";
  const lines = new FailureLines(log, clock, message);
  const lost = {
    refused: lines.of("refused", { reason: "refused" }),
    unreachable: lines.of("unreachable", { reason: "unreachable" }),
    overloaded: lines.of("overloaded", { reason: FAILURE_CAUSES.throttled }),
  };
  return new EventRecorder({
    client: createEventClient(client),
    reachability: client.reachability,
    clock,
    reporter: { controller: "secretcast", instance: hostname() },
    onDrop: (reason, error, details) => {
      // The API server refuses a refused Event again, unless the fault is its own.
      if (details && (reason !== "refused" || isUnavailable(error)))
        onLost({ ...details, uid: details.regarding.uid ?? "" });
      // Events dropped by our own limit are dropped on purpose.
      if (error instanceof ApiError && error.kind === "throttled") lost.overloaded.failed(error);
      else if (reason === "refused" || reason === "unreachable") lost[reason].failed(error);
      else log.debug({ reason }, message);
    },
  });
}

function eventOf({ kind, on, uid, type, reason, note }: SourceEvent): EventDetails {
  const place = kind === "Namespace" ? { name: on.name } : on;
  const apiVersion = kind === "Lease" ? "coordination.k8s.io/v1" : "v1";
  const regarding = { apiVersion, kind, ...place, uid };
  return { regarding, type, reason, action: "Copy", note };
}

function isUnavailable(error: unknown): boolean {
  return error instanceof ApiError && error.kind === "unavailable";
}
