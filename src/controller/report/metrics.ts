// The program's metrics under their public names. Each starts with zero, so that a dashboard shows a line before
// the first event. `npm run reference` writes names and help texts into docs/reference.md.
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from "prom-client";
import type { InformerMetrics } from "../../../packages/kube/cache/informer-options.ts";
import type { ApiErrorKind } from "../../../packages/kube/rest/api-error.ts";
import { FAILURE_CAUSES, type Cause } from "../../../packages/kube/rest/failure-cause.ts";
import type { QueueMetrics } from "../../../packages/kube/workqueue/queue-metrics.ts";
import { READ_GAUGES, type Measured } from "./gauges.ts";

type Described = {
  readonly name: string;
  readonly help: string;
  readonly labelNames?: readonly string[];
};
/** `zeros`: values of its label that are 0 from the start. */
type Counted = Described & { readonly zeros?: readonly string[] };

/** Counters that are read when they are scraped. */
const LOST = {
  lines: {
    name: "secretcast_log_lines_lost_total",
    help: "Log lines that could not be written, because stdout is closed, full or not read",
  },
  receipts: {
    name: "secretcast_receipts_lost_total",
    help: "Receipts that could not be written, because the stream is closed, full or not read",
  },
} satisfies Record<string, Described>;

const COUNTERS = {
  restarts: {
    name: "secretcast_watch_restarts_total",
    help: "Rounds of list and watch that ended, by resource and reason",
    labelNames: ["resource", "reason"],
  },
  drift: {
    name: "secretcast_drift_repaired_total",
    help: "Repairs of copies by kind: edited or deleted",
    labelNames: ["kind"],
    zeros: ["edited", "deleted"],
  },
  syncs: {
    name: "secretcast_syncs_total",
    help: "Syncs by result",
    labelNames: ["result"],
    zeros: ["ok", "error"],
  },
  writes: {
    name: "secretcast_writes_total",
    help: "Writes by verb and result: ok or the kind of the error",
    labelNames: ["verb", "result"],
  },
  failures: {
    name: "secretcast_write_failures_total",
    help: "Writes that failed and are retried, by cause",
    labelNames: ["cause"],
    zeros: Object.keys(FAILURE_CAUSES),
  },
  sourceReads: {
    name: "secretcast_source_reads_total",
    help: "Sources that were read again before a write, because --data-cache had no room",
  },
  requests: {
    name: "rest_client_requests_total",
    help: "Requests to the API server by method and status code; <error> if no answer came",
    labelNames: ["method", "code"],
  },
  adds: { name: "workqueue_adds_total", help: "Keys added", labelNames: ["name"] },
  retries: {
    name: "workqueue_retries_total",
    help: "Keys added with a delay",
    labelNames: ["name"],
  },
} satisfies Record<string, Counted>;

// client-go's buckets for the queue: exponential from 1e-6 s, factor 10, 10 buckets.
const QUEUE_BUCKETS = Array.from({ length: 10 }, (_, power) => 1e-6 * 10 ** power);

const HISTOGRAMS = {
  syncDuration: {
    name: "secretcast_sync_duration_seconds",
    help: "Duration of a sync: plan and the writes it waited for",
    buckets: [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30, 60],
  },
  propagation: {
    name: "secretcast_propagation_seconds",
    help: "From the event of a source or namespace to its last written copy",
    buckets: [0.005, 0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300],
  },
  latency: {
    name: "workqueue_queue_duration_seconds",
    help: "Wait of a key in the queue",
    labelNames: ["name"],
    buckets: QUEUE_BUCKETS,
  },
  work: {
    name: "workqueue_work_duration_seconds",
    help: "Processing time of a key",
    labelNames: ["name"],
    buckets: QUEUE_BUCKETS,
  },
} satisfies Record<string, Described & { readonly buckets: readonly number[] }>;

const GAUGES = {
  buildInfo: {
    name: "secretcast_build_info",
    help: "Always 1; version is that of the program",
    labelNames: ["version"],
  },
  depth: {
    name: "workqueue_depth",
    help: "Waiting keys; there is one key, so 0 or 1",
    labelNames: ["name"],
  },
  unfinished: {
    name: "workqueue_unfinished_work_seconds",
    help: "Age of the work in progress",
    labelNames: ["name"],
  },
  longest: {
    name: "workqueue_longest_running_processor_seconds",
    help: "Age of the oldest work in progress",
    labelNames: ["name"],
  },
} satisfies Record<string, Described>;

export type Metrics = ReturnType<typeof createMetrics>;
/** Receives the figures of syncs. */
export type SyncMetrics = Metrics["syncMetrics"];

export type MetricsOptions = {
  /** Also register Node's metrics. They are observed until the process ends. */
  readonly ofProcess?: boolean;
  /** Of the program. */
  readonly version?: string;
  /** How many log lines and receipts were lost so far. */
  readonly lost?: Readonly<Partial<Record<keyof typeof LOST, (() => number) | undefined>>>;
};

/** Gauges of prom-client that are called `_total` as counters are. The same by type has a right name. */
const MISNAMED = ["handles", "requests", "resources"].map((what) => `nodejs_active_${what}_total`);

export function createMetrics(
  leaseName: string,
  { ofProcess = true, version = "unknown", lost = {} }: MetricsOptions = {},
) {
  const registry = new Registry();
  const registers = [registry];
  each(LOST, (row, key) => {
    const collect = (): void => {
      counter.reset();
      counter.inc(lost[key]?.() ?? 0);
    };
    const counter = new Counter({ ...row, registers, collect });
    return counter;
  });
  if (ofProcess) {
    collectDefaultMetrics({ register: registry });
    for (const name of MISNAMED) registry.removeSingleMetric(name);
  }
  const gauges = each(GAUGES, (row) => new Gauge({ ...row, registers }));
  const histograms = each(HISTOGRAMS, (row) => new Histogram({ ...row, registers }));
  const counters = each(COUNTERS, ({ zeros = [], ...row }: Counted) => {
    const counter = new Counter({ ...row, registers });
    const [label = ""] = row.labelNames ?? [];
    for (const value of zeros) counter.inc({ [label]: value }, 0);
    return counter;
  });
  gauges.buildInfo.set({ version }, 1);
  return {
    registry,
    syncMetrics: syncMetricsOf(counters, histograms),
    queue: queueSink(gauges, counters, histograms),
    /** The sink of one informer. */
    watch: (resource: string): InformerMetrics => ({
      activity: () => undefined,
      restarted: (reason) => counters.restarts.inc({ resource, reason }),
      // Both are bugs of secretcast and are logged.
      handlerFailed: () => undefined,
      eventDropped: () => undefined,
    }),
    requests: counters.requests,
    /** Connects the gauges that are read when scraped. */
    observe: (measured: Omit<Measured, "leaseName">) => {
      for (const { read, ...row } of READ_GAUGES) {
        const collect = (): void => {
          for (const [labels, value] of read({ ...measured, leaseName })) gauge.set(labels, value);
        };
        const gauge = new Gauge({ ...row, registers, collect });
      }
    },
  };
}

/** A table's rows as instruments. */
function each<Key extends string, Row, Made>(
  table: Readonly<Record<Key, Row>>,
  make: (row: Row, key: Key) => Made,
): Readonly<Record<Key, Made>> {
  const made: Partial<Record<Key, Made>> = {};
  for (const key in table) made[key] = make(table[key], key);
  return made as Record<Key, Made>;
}

type Counters = Readonly<Record<keyof typeof COUNTERS, Counter>>;
type Histograms = Readonly<Record<keyof typeof HISTOGRAMS, Histogram>>;
type Gauges = Readonly<Record<keyof typeof GAUGES, Gauge>>;

function syncMetricsOf(counters: Counters, histograms: Histograms) {
  return {
    write: (verb: string, result: "ok" | ApiErrorKind) => counters.writes.inc({ verb, result }),
    /** A write or the read before it failed. */
    failed: (cause: Cause) => counters.failures.inc({ cause }),
    sync: (result: "ok" | "error", seconds: number) => {
      counters.syncs.inc({ result });
      histograms.syncDuration.observe(seconds);
    },
    repaired: (kind: "edited" | "deleted") => counters.drift.inc({ kind }),
    propagated: (seconds: number) => histograms.propagation.observe(seconds),
    /** A source's data were not in memory and were read again. */
    sourceRead: () => counters.sourceReads.inc(),
  };
}

const SYNC = { name: "sync" };

function queueSink(gauges: Gauges, counters: Counters, histograms: Histograms): QueueMetrics {
  return {
    depth: (keys) => gauges.depth.set(SYNC, keys),
    add: () => counters.adds.inc(SYNC),
    latency: (seconds) => histograms.latency.observe(SYNC, seconds),
    workDuration: (seconds) => histograms.work.observe(SYNC, seconds),
    unfinished: (seconds) => gauges.unfinished.set(SYNC, seconds),
    longestRunning: (seconds) => gauges.longest.set(SYNC, seconds),
    retry: () => counters.retries.inc(SYNC),
  };
}
