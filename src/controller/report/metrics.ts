// The program's metrics under their public names (metric-table.ts). Each starts with zero, so that a dashboard
// shows a line before the first event. Gauges of the state are read at scrape time.
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from "prom-client";
import type { InformerMetrics } from "../../kube/cache/informer.ts";
import type { QueueMetrics } from "../../kube/workqueue/queue-metrics.ts";
import {
  COUNTERS,
  GAUGES,
  HISTOGRAMS,
  READ_GAUGES,
  type Counted,
  type GaugeInputs,
} from "./metric-table.ts";
import type { SyncMetrics } from "./sync-log.ts";

export type Metrics = ReturnType<typeof createMetrics>;

/**
 * `ofProcess`: also register Node's metrics. They are observed until the process ends. `version`: of the program.
 */
export function createMetrics(leaseName: string, { ofProcess = true, version = "unknown" } = {}) {
  const registry = new Registry();
  const registers = [registry];
  const countLostLines = readCounter(registry, LOST_LINES);
  const countLostReceipts = readCounter(registry, LOST_RECEIPTS);
  if (ofProcess) collectDefaultMetrics({ register: registry });
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
    figures: figuresOf(counters, histograms),
    /** Sets the source of the count of lost log lines. */
    countLostLines,
    /** Sets the source of the count of lost receipts. */
    countLostReceipts,
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
    observe: (inputs: Omit<GaugeInputs, "leaseName">) => {
      for (const { read, ...row } of READ_GAUGES) {
        const collect = (): void => {
          for (const [labels, value] of read({ ...inputs, leaseName })) gauge.set(labels, value);
        };
        const gauge = new Gauge({ ...row, registers, collect });
      }
    },
  };
}

const LOST_LINES = {
  name: "secretcast_log_lines_lost_total",
  help: "Log lines that could not be written: stdout is closed, full, or not read",
};
const LOST_RECEIPTS = {
  name: "secretcast_receipts_lost_total",
  help: "Receipts that could not be written: the stream is closed, full, or not read",
};

/** A counter that is read when it is scraped. */
function readCounter(
  registry: Registry,
  row: { readonly name: string; readonly help: string },
): (count: () => number) => void {
  let read = (): number => 0;
  const counter = new Counter({
    ...row,
    registers: [registry],
    collect: () => {
      counter.reset();
      counter.inc(read());
    },
  });
  return (count) => {
    read = count;
  };
}

/** A table's rows as instruments. */
function each<Key extends string, Row, Made>(
  table: Readonly<Record<Key, Row>>,
  make: (row: Row) => Made,
): Readonly<Record<Key, Made>> {
  const made: Partial<Record<Key, Made>> = {};
  for (const key in table) made[key] = make(table[key]);
  return made as Record<Key, Made>;
}

type Counters = Readonly<Record<keyof typeof COUNTERS, Counter>>;
type Histograms = Readonly<Record<keyof typeof HISTOGRAMS, Histogram>>;
type Gauges = Readonly<Record<keyof typeof GAUGES, Gauge>>;

/** The sync's figures, in the form that sync-log.ts needs. */
function figuresOf(counters: Counters, histograms: Histograms): SyncMetrics {
  return {
    write: (verb, result) => counters.writes.inc({ verb, result }),
    failed: (cause) => counters.failures.inc({ cause }),
    sync: (result, seconds) => {
      counters.syncs.inc({ result });
      histograms.syncDuration.observe(seconds);
    },
    repaired: (kind) => counters.drift.inc({ kind }),
    propagated: (seconds) => histograms.propagation.observe(seconds),
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
