// Connects the parts: clients → informers → planner → writes → controller. Nothing runs yet.
import { hostname } from "node:os";
import { Apply } from "../controller/writes/apply.ts";
import type { Config } from "../controller/settings/config.ts";
import { Controller } from "../controller/sync/controller.ts";
import { RecentChanges } from "../controller/state/recent-changes.ts";
import { PlannerMemory } from "../controller/state/planner-memory.ts";
import { rulesOf } from "../controller/model/kinds.ts";
import type { ClusterState, PlannerSettings } from "../controller/model/cluster.ts";
import { readPayload } from "../controller/observed/read-object.ts";
import { recordLookup, rememberRead, type ReadObjects } from "../controller/writes/outcome.ts";
import { SyncLog } from "../controller/report/sync-log.ts";
import type { ReceiptJournal } from "../controller/report/receipts/receipt-journal.ts";
import { Sync } from "../controller/sync/sync.ts";
import type { OwnPod } from "../page/leader-page.ts";
import { controllerSnapshot } from "../page/snapshot.ts";
import { watchCluster, type ClusterWatch } from "./cluster-watch.ts";
import type { Dependencies } from "./dependencies.ts";
import { gaugeInputs, type Measured } from "./gauge-inputs.ts";
import type { LeaderElector } from "../kube/leaderelection/leader-elector.ts";
import { createLeadership, type Leadership } from "./leadership.ts";
import { createJournal } from "./receipts.ts";
import { createReporters } from "./reporters.ts";

type Shown = Parameters<ReceiptJournal["onShown"]>;

export function buildController(
  config: Config,
  settings: PlannerSettings,
  parts: Dependencies,
): Controller {
  const { client, clock, log, metrics, statusFeed } = parts;
  const memory = new PlannerMemory();
  const changes = new RecentChanges();
  const journal = createJournal(parts, {
    cluster: () => cluster,
    leadership: () => leadership,
    changes,
  });
  const onShown = journal && ((...shown: Shown) => journal.onShown(...shown));
  const cluster: ClusterWatch = watchCluster(config, settings, { ...parts, onShown });
  const { caches, watches } = cluster;
  const { kinds } = caches;
  const leadership: Leadership = createLeadership(config, parts, memory, () => watches.relist());
  const { elector } = leadership;
  const record = config.dryRun ? undefined : leadership.record;
  const { events, reporter } = createReporters(config, settings, parts, {
    kinds,
    memory,
    lease: () => elector?.lease,
    triggerOf: (action) => changes.triggerOf(action),
  });
  const syncLog = new SyncLog(log, metrics.figures, clock, () =>
    Object.values(watches.byResource).every(
      ({ disconnectedSinceMs }) => disconnectedSinceMs === undefined,
    ),
  );
  const clusterStates = kinds.map(({ clusterState }) => clusterState);
  const reads: ReadObjects = {
    caches: caches.written,
    onChange: (key, before) => sync.events.readAnew(key, before),
  };
  const onPlan = (): void => {
    statusFeed?.changed();
    record?.planned();
  };
  const sync: Sync = new Sync({
    clusterStates,
    settings,
    memory,
    caches: caches.written,
    apply: createApply(settings, parts, { cluster, leadership, memory, reads }),
    concurrency: config.concurrency,
    clock,
    hooks: [changes, syncLog, reporter, ...(journal ? [journal] : []), parts.observer, { onPlan }],
    dryRun: config.dryRun,
  });
  const { reachability } = client;
  const graceMs = Math.max(settings.deleteGraceMs, settings.sourceGraceMs);
  const controller = new Controller(
    {
      ...parts,
      watches,
      sync,
      elector,
      record,
      events,
      reachability,
      queueMetrics: metrics.queue,
    },
    { resyncMs: config.resyncMs, once: config.once, graceMs },
  );
  exposeController(config, parts, { caches, clusterStates, controller, sync, syncLog, elector });
  return controller;
}

type RunningParts = Omit<Measured, "kinds" | "clock" | "maxValueAgeMs"> & {
  readonly clusterStates: readonly ClusterState[];
  readonly elector: LeaderElector | undefined;
};

// To the metrics and the status page.
function exposeController(
  { kinds, dryRun, maxValueAgeMs, ...config }: Config,
  { client, clock, metrics, statusFeed }: Dependencies,
  running: RunningParts,
): void {
  metrics.observe(gaugeInputs({ kinds, clock, maxValueAgeMs, ...running }));
  const { watches, deniedNames } = running.caches;
  const { reachability } = client;
  const pod = podOf(config);
  statusFeed?.observe(
    controllerSnapshot({ ...running, watches, deniedNames, reachability, pod, dryRun, clock }),
  );
}

type OwnPlace = Pick<Config, "inCluster" | "ownNamespace" | "statusAddress">;

function podOf({ inCluster, ownNamespace, statusAddress }: OwnPlace): OwnPod | undefined {
  return inCluster
    ? { namespace: ownNamespace, hostname: hostname(), port: statusAddress.port }
    : undefined;
}

type WritingParts = {
  readonly cluster: ClusterWatch;
  readonly leadership: Leadership;
  readonly memory: PlannerMemory;
  readonly reads: ReadObjects;
};

function createApply(
  settings: PlannerSettings,
  { client, clock, metrics: { figures } }: Dependencies,
  { cluster, leadership, memory, reads }: WritingParts,
): Apply {
  const { caches, list, data, contextOf } = cluster;
  const { elector, record } = leadership;
  return new Apply({
    client,
    writeDeadlineMs: () => elector?.msLeft ?? Number.POSITIVE_INFINITY,
    onWrite: (verb, result) => figures.write(verb, result),
    onAnswer: (question, answer) => {
      const [now, random] = [clock.monotonic(), clock.random()];
      recordLookup(question, answer, { ...reads, memory, list: list?.written, now, random });
    },
    isReserved: (kind, { name }) => rulesOf(kind, settings).reserved?.includes(name) === true,
    reservations: { where: record.where, reserve: (reservation) => record.reserve(reservation) },
    remember: (kind, raw) => rememberRead(kind, raw, reads),
    read: (kind, raw) => caches.written.of(kind).read(raw),
    sources: {
      cache: data,
      read: (raw, source) => readPayload(raw, source, contextOf(source.kind)),
      onRead: () => figures.sourceRead(),
    },
  });
}
