// The program's metrics under their public names. Each starts with zero, so that a dashboard shows a line
// before the first event. Gauges of the state are read at scrape time.
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from "prom-client";
import type { InformerMetrics } from "../../kube/cache/informer.ts";
import type { QueueMetrics } from "../../kube/workqueue/queue-metrics.ts";
import { FAILURE_CAUSES } from "../../kube/rest/failure-cause.ts";
import type { SyncMetrics } from "./sync-log.ts";

type Counts = Readonly<Record<string, number>>;

/** The inputs of gauges at scrape time. Times are milliseconds since the epoch. */
export type GaugeInputs = {
  /** By resource, then by state. */
  copies(): Readonly<Record<string, Counts>>;
  sources(): Readonly<Record<string, Counts>>;
  ignored(): Readonly<Record<string, number>>;
  /** Entries of the source list by state. All are 0 if the list is not read. */
  listEntries(): Readonly<Record<string, number>>;
  lastConvergedMs(): number | undefined;
  unreadableNamespaces(): number;
  watchActivityMs(): Readonly<Record<string, number>>;
  /** How long the watch of each resource has been disconnected. */
  watchDisconnectedMs(): Readonly<Record<string, number>>;
  leading(): boolean;
};

export type Metrics = ReturnType<typeof createMetrics>;

// client-go's buckets for the queue: exponential from 1e-6 s, factor 10, 10 buckets.
const QUEUE_BUCKETS = Array.from({ length: 10 }, (_, power) => 1e-6 * 10 ** power);

/**
 * `ofProcess`: also register Node's metrics. They are observed until the process ends. `version`: of the program.
 */
export function createMetrics(leaseName: string, { ofProcess = true, version = "unknown" } = {}) {
  const registry = new Registry();
  const countLostLines = lostLines(registry);
  if (ofProcess) collectDefaultMetrics({ register: registry });
  new Gauge({
    name: "secretcast_build_info",
    help: "Always 1; the version of the program is a label",
    labelNames: ["version"],
    registers: [registry],
  }).set({ version }, 1);
  const own = ownMetrics(registry);
  return {
    registry,
    figures: figuresOf(own),
    /** Sets the source of the count of lost log lines. */
    countLostLines,
    queue: queueSink(queueMetrics(registry)),
    /** The sink of one informer. */
    watch: (resource: string): InformerMetrics => ({
      activity: () => undefined,
      restarted: (reason) => own.restarts.inc({ resource, reason }),
      // Both are bugs of secretcast and are logged.
      handlerFailed: () => undefined,
      eventDropped: () => undefined,
    }),
    requests: new Counter({
      name: "rest_client_requests_total",
      help: "Requests to the API server by method and status code (<error> when none came)",
      labelNames: ["method", "code"],
      registers: [registry],
    }),
    /** Connects the gauges that are read when scraped. */
    observe: (gaugeInputs: GaugeInputs) => gauges(registry, gaugeInputs, leaseName),
  };
}

function lostLines(registry: Registry): (count: () => number) => void {
  let lost = (): number => 0;
  const counter = new Counter({
    name: "secretcast_log_lines_lost_total",
    help: "Log lines that could not be written: stdout is closed, full, or not read",
    registers: [registry],
    collect: () => {
      counter.reset();
      counter.inc(lost());
    },
  });
  return (count) => {
    lost = count;
  };
}

function ownMetrics(registry: Registry) {
  const registers = [registry];
  const restarts = new Counter({
    name: "secretcast_watch_restarts_total",
    help: "Rounds of list and watch that ended, by resource and reason",
    labelNames: ["resource", "reason"],
    registers,
  });
  const drift = new Counter({
    name: "secretcast_drift_repaired_total",
    help: "Copies repaired after being edited or deleted",
    labelNames: ["kind"],
    registers,
  });
  for (const kind of ["edited", "deleted"]) drift.inc({ kind }, 0);
  const syncs = new Counter({
    name: "secretcast_syncs_total",
    help: "Passes over the whole cache by result",
    labelNames: ["result"],
    registers,
  });
  for (const result of ["ok", "error"]) syncs.inc({ result }, 0);
  const failures = new Counter({
    name: "secretcast_write_failures_total",
    help: "Writes that failed and are tried again, by cause",
    labelNames: ["cause"],
    registers,
  });
  for (const cause of Object.keys(FAILURE_CAUSES)) failures.inc({ cause }, 0);
  return {
    restarts,
    drift,
    syncs,
    writes: new Counter({
      name: "secretcast_writes_total",
      help: "Writes by verb and result: ok or the kind of the error",
      labelNames: ["verb", "result"],
      registers,
    }),
    failures,
    sourceReads: new Counter({
      name: "secretcast_source_reads_total",
      help: "Sources read again to be written, because --data-cache has no room for all of them",
      registers,
    }),
    syncDuration: new Histogram({
      name: "secretcast_sync_duration_seconds",
      help: "Duration of a sync: plan and the writes it waited for",
      buckets: [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30, 60],
      registers,
    }),
    propagation: new Histogram({
      name: "secretcast_propagation_seconds",
      help: "From seeing a source's or namespace's change to its last copy written",
      buckets: [0.005, 0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300],
      registers,
    }),
  };
}

function queueMetrics(registry: Registry) {
  const registers = [registry];
  const labelNames = ["name"];
  const gauge = (name: string, help: string) => new Gauge({ name, help, labelNames, registers });
  const counter = (name: string, help: string) =>
    new Counter({ name, help, labelNames, registers });
  const histogram = (name: string, help: string) =>
    new Histogram({ name, help, labelNames, registers, buckets: QUEUE_BUCKETS });
  return {
    depth: gauge("workqueue_depth", "Current depth of the queue"),
    adds: counter("workqueue_adds_total", "Accepted adds"),
    latency: histogram("workqueue_queue_duration_seconds", "From the first accepted add to get"),
    work: histogram("workqueue_work_duration_seconds", "From get to done"),
    unfinished: gauge("workqueue_unfinished_work_seconds", "Sum of the ages of keys in process"),
    longest: gauge(
      "workqueue_longest_running_processor_seconds",
      "Age of the oldest key in process",
    ),
    retries: counter("workqueue_retries_total", "Keys added with a delay"),
  };
}

/** The sync's figures, in the form that sync-log.ts needs. */
function figuresOf(own: ReturnType<typeof ownMetrics>): SyncMetrics {
  return {
    write: (verb, result) => own.writes.inc({ verb, result }),
    failed: (cause) => own.failures.inc({ cause }),
    sync: (result, seconds) => {
      own.syncs.inc({ result });
      own.syncDuration.observe(seconds);
    },
    repaired: (kind) => own.drift.inc({ kind }),
    propagated: (seconds) => own.propagation.observe(seconds),
    sourceRead: () => own.sourceReads.inc(),
  };
}

const SYNC = { name: "sync" };

function queueSink(queue: ReturnType<typeof queueMetrics>): QueueMetrics {
  return {
    depth: (keys) => queue.depth.set(SYNC, keys),
    add: () => queue.adds.inc(SYNC),
    latency: (seconds) => queue.latency.observe(SYNC, seconds),
    workDuration: (seconds) => queue.work.observe(SYNC, seconds),
    unfinished: (seconds) => queue.unfinished.set(SYNC, seconds),
    longestRunning: (seconds) => queue.longest.set(SYNC, seconds),
    retry: () => queue.retries.inc(SYNC),
  };
}

function gauges(registry: Registry, gaugeInputs: GaugeInputs, leaseName: string): void {
  const registers = [registry];
  const labelled = (
    name: string,
    help: string,
    label: string,
    read: () => Readonly<Record<string, number>>,
  ) =>
    new Gauge({
      name,
      help,
      labelNames: [label],
      registers,
      collect() {
        for (const [value, count] of Object.entries(read())) this.set({ [label]: value }, count);
      },
    });
  const states = (name: string, help: string, read: () => Readonly<Record<string, Counts>>) =>
    new Gauge({
      name,
      help,
      labelNames: ["state", "resource"],
      registers,
      collect() {
        for (const [resource, counts] of Object.entries(read()))
          for (const [state, count] of Object.entries(counts)) this.set({ state, resource }, count);
      },
    });
  states("secretcast_sources", "Sources by state and resource", () => gaugeInputs.sources());
  states("secretcast_copies", "Places by state and resource", () => gaugeInputs.copies());
  labelled(
    "secretcast_ignored",
    "Objects and namespaces with annotations of ours that have no effect, by reason",
    "reason",
    () => gaugeInputs.ignored(),
  );
  labelled(
    "secretcast_source_list_entries",
    "Entries of the source list by state: ok, refused, or absent where their object is not there",
    "state",
    () => gaugeInputs.listEntries(),
  );
  labelled(
    "secretcast_watch_last_activity_timestamp_seconds",
    "When each watch last gave a sign of life",
    "resource",
    () => seconds(gaugeInputs.watchActivityMs()),
  );
  labelled(
    "secretcast_watch_disconnected_seconds",
    "For how long each watch has been disconnected, so that its cache grows old; 0 while it is connected",
    "resource",
    () => seconds(gaugeInputs.watchDisconnectedMs()),
  );
  registry.registerMetric(
    new Gauge({
      registers: [],
      name: "secretcast_unreadable_namespaces",
      help: "Namespaces of --namespaces that the API server does not let us read",
      collect() {
        this.set(gaugeInputs.unreadableNamespaces());
      },
    }),
  );
  registry.registerMetric(
    new Gauge({
      registers: [],
      name: "secretcast_last_converged_timestamp_seconds",
      help: "The last sync that left nothing pending or failed",
      collect() {
        this.set((gaugeInputs.lastConvergedMs() ?? 0) / 1000);
      },
    }),
  );
  registry.registerMetric(
    new Gauge({
      registers: [],
      name: "leader_election_master_status",
      help: "1 where this process leads, else 0",
      labelNames: ["name"],
      collect() {
        this.set({ name: leaseName }, gaugeInputs.leading() ? 1 : 0);
      },
    }),
  );
}

function seconds(times: Readonly<Record<string, number>>): Record<string, number> {
  return Object.fromEntries(Object.entries(times).map(([key, ms]) => [key, ms / 1000]));
}
