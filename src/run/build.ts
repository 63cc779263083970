// Connects the parts: clients → informers → planner → writes → controller. Nothing runs yet.
import { hostname } from "node:os";
import { Apply } from "../controller/writes/apply.ts";
import type { Config } from "../controller/settings/config.ts";
import { Controller } from "../controller/sync/controller.ts";
import { FormerRules } from "../controller/state/former-rules.ts";
import { PlannerMemory } from "../controller/state/planner-memory.ts";
import { rulesOf } from "../controller/model/kinds.ts";
import type { PlannerSettings } from "../controller/model/cluster.ts";
import { readPayload } from "../controller/observed/read-object.ts";
import { recordLookup } from "../controller/writes/outcome.ts";
import { SyncLog } from "../controller/report/sync-log.ts";
import { Sync } from "../controller/sync/sync.ts";
import type { OwnPod } from "../page/leader-page.ts";
import { controllerSnapshot } from "../page/snapshot.ts";
import { watchCluster, type ClusterWatch } from "./cluster-watch.ts";
import type { Dependencies } from "./dependencies.ts";
import { createLeadership, type Leadership } from "./leadership.ts";
import { createJournal } from "./receipts.ts";
import { createReporters } from "./reporters.ts";

export function buildController(
  config: Config,
  settings: PlannerSettings,
  parts: Dependencies,
): Controller {
  const { client, clock, log, metrics, statusFeed } = parts;
  const memory = new PlannerMemory();
  const receipts = createJournal(parts, { cluster: () => cluster, leadership: () => leadership });
  const journal = receipts?.journal;
  const cluster: ClusterWatch = watchCluster(config, settings, { ...parts, journal });
  const { caches, watches } = cluster;
  const leadership: Leadership = createLeadership(config, parts, () => watches.relist());
  const { elector } = leadership;
  const reporters = createReporters(config, settings, parts, { caches, memory, elector });
  const syncLog = new SyncLog(log, metrics.syncMetrics, clock, caches.watches);
  const onPlan = (): void => statusFeed?.changed();
  const reporting = [syncLog, reporters.reporter, ...(receipts?.hooks ?? [])];
  const clusterStates = caches.kinds.map(({ clusterState }) => clusterState);
  const formerRules = new FormerRules(clusterStates);
  const sync: Sync = new Sync({
    clusterStates,
    settings,
    memory,
    caches: caches.written,
    apply: createApply(settings, parts, { cluster, leadership, memory }),
    concurrency: config.concurrency,
    clock,
    cpuMs: parts.cpuMs,
    hooks: [...reporting, parts.observer, formerRules, { onPlan }],
    dryRun: config.dryRun,
  });
  const { reachability } = client;
  const { events } = reporters;
  const controller: Controller = new Controller(
    { ...parts, watches, sync, elector, events, reachability, queueMetrics: metrics.queue },
    { resyncMs: config.resyncMs, once: config.once },
  );
  const shown = {
    clusterStates,
    controller,
    sync,
    syncLog,
    formerRules,
    elector,
    clock,
    reachability,
  };
  const observed = { ...config, ...caches, ...shown, pod: podOf(config) };
  metrics.observe(observed);
  statusFeed?.observe(controllerSnapshot(observed));
  return controller;
}

function podOf({ inCluster, ownNamespace, statusAddress }: Config): OwnPod | undefined {
  return inCluster
    ? { namespace: ownNamespace, hostname: hostname(), port: statusAddress.port }
    : undefined;
}

type WritingParts = {
  readonly cluster: ClusterWatch;
  readonly leadership: Leadership;
  readonly memory: PlannerMemory;
};

function createApply(
  settings: PlannerSettings,
  { client, clock, metrics: { syncMetrics } }: Dependencies,
  { cluster, leadership, memory }: WritingParts,
): Apply {
  const { caches, list, data, contextOf } = cluster;
  const { elector } = leadership;
  return new Apply({
    client,
    writeDeadlineMs: () => elector?.msLeft ?? Number.POSITIVE_INFINITY,
    onWrite: (verb, result) => syncMetrics.write(verb, result),
    onLiveRead: (liveRead, result) => {
      const [now, random] = [clock.monotonic(), clock.random()];
      const context = { caches: caches.written, memory, list: list?.written, now, random };
      recordLookup(liveRead, result, context);
    },
    isReserved: (kind, { name }) => rulesOf(kind, settings).reserved?.includes(name) === true,
    onReplace: ({ objectKind: kind, place, source }) =>
      memory.shared.reservations.note({ kind, place, source }),
    forget: (kind, { namespace, name }, uid) =>
      caches.written.of(kind).forget(namespace, name, uid),
    remember: (kind, raw) => void caches.written.of(kind).remember(raw),
    read: (kind, raw) => caches.written.of(kind).read(raw),
    sources: {
      cache: data,
      read: (raw, source) => readPayload(raw, source, contextOf(source.kind)),
      onRead: () => syncMetrics.sourceRead(),
    },
  });
}
