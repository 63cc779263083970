// The table of metrics: public names, help texts, labels, and how gauges of the state are read. docs/reference.md
// has the same names; a test compares.
import type { StringMap } from "../../text/string-map.ts";
import { FAILURE_CAUSES } from "../../kube/rest/failure-cause.ts";

type Counts = Readonly<Record<string, number>>;

/** The inputs of gauges at scrape time. Times are milliseconds since the epoch. */
export type GaugeInputs = {
  readonly leaseName: string;
  /** By resource, then by state. */
  copies(): Readonly<Record<string, Counts>>;
  sources(): Readonly<Record<string, Counts>>;
  /** Sources whose value is older than a limit, by resource, then by certainty. Empty without a limit. */
  oldValues(): Readonly<Record<string, Counts>>;
  ignored(): Readonly<Record<string, number>>;
  /** Entries of the source list by state. All are 0 if the list is not read. */
  listEntries(): Readonly<Record<string, number>>;
  lastConvergedMs(): number | undefined;
  unreadableNamespaces(): number;
  unreadableNames(): number;
  watchActivityMs(): Readonly<Record<string, number>>;
  /** How long the watch of each resource has been disconnected. */
  watchDisconnectedMs(): Readonly<Record<string, number>>;
  leading(): boolean;
};

export type Described = {
  readonly name: string;
  readonly help: string;
  readonly labelNames?: readonly string[];
};
/** `zeros`: values of its label that are 0 from the start. */
export type Counted = Described & { readonly zeros?: readonly string[] };
/** A label's values and the number for them. */
type Sample = readonly [labels: StringMap, value: number];

export const COUNTERS = {
  restarts: {
    name: "secretcast_watch_restarts_total",
    help: "Rounds of list and watch that ended, by resource and reason",
    labelNames: ["resource", "reason"],
  },
  drift: {
    name: "secretcast_drift_repaired_total",
    help: "Copies repaired after being edited or deleted",
    labelNames: ["kind"],
    zeros: ["edited", "deleted"],
  },
  syncs: {
    name: "secretcast_syncs_total",
    help: "Passes over the whole cache by result",
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
    help: "Writes that failed and are tried again, by cause",
    labelNames: ["cause"],
    zeros: Object.keys(FAILURE_CAUSES),
  },
  sourceReads: {
    name: "secretcast_source_reads_total",
    help: "Sources read again to be written, because --data-cache has no room for all of them",
  },
  requests: {
    name: "rest_client_requests_total",
    help: "Requests to the API server by method and status code (<error> when none came)",
    labelNames: ["method", "code"],
  },
  adds: { name: "workqueue_adds_total", help: "Accepted adds", labelNames: ["name"] },
  retries: {
    name: "workqueue_retries_total",
    help: "Keys added with a delay",
    labelNames: ["name"],
  },
} satisfies Record<string, Counted>;

// client-go's buckets for the queue: exponential from 1e-6 s, factor 10, 10 buckets.
const QUEUE_BUCKETS = Array.from({ length: 10 }, (_, power) => 1e-6 * 10 ** power);

export const HISTOGRAMS = {
  syncDuration: {
    name: "secretcast_sync_duration_seconds",
    help: "Duration of a sync: plan and the writes it waited for",
    buckets: [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30, 60],
  },
  propagation: {
    name: "secretcast_propagation_seconds",
    help: "From seeing a source's or namespace's change to its last copy written",
    buckets: [0.005, 0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300],
  },
  latency: {
    name: "workqueue_queue_duration_seconds",
    help: "From the first accepted add to get",
    labelNames: ["name"],
    buckets: QUEUE_BUCKETS,
  },
  work: {
    name: "workqueue_work_duration_seconds",
    help: "From get to done",
    labelNames: ["name"],
    buckets: QUEUE_BUCKETS,
  },
} satisfies Record<string, Described & { readonly buckets: readonly number[] }>;

export const GAUGES = {
  buildInfo: {
    name: "secretcast_build_info",
    help: "Always 1; the version of the program is a label",
    labelNames: ["version"],
  },
  depth: { name: "workqueue_depth", help: "Current depth of the queue", labelNames: ["name"] },
  unfinished: {
    name: "workqueue_unfinished_work_seconds",
    help: "Sum of the ages of keys in process",
    labelNames: ["name"],
  },
  longest: {
    name: "workqueue_longest_running_processor_seconds",
    help: "Age of the oldest key in process",
    labelNames: ["name"],
  },
} satisfies Record<string, Described>;

/** Gauges that are read when they are scraped. */
export const READ_GAUGES: readonly (Described & {
  readonly read: (inputs: GaugeInputs) => Iterable<Sample>;
})[] = [
  {
    name: "secretcast_sources",
    help: "Sources by state and resource",
    labelNames: ["state", "resource"],
    read: (inputs) => byState(inputs.sources()),
  },
  {
    name: "secretcast_old_values",
    help: "Sources whose value is older than --max-value-age: certain, or possible where managedFields record a range",
    labelNames: ["certainty", "resource"],
    read: (inputs) => byState(inputs.oldValues(), "certainty"),
  },
  {
    name: "secretcast_copies",
    help: "Places by state and resource",
    labelNames: ["state", "resource"],
    read: (inputs) => byState(inputs.copies()),
  },
  {
    name: "secretcast_ignored",
    help: "Objects and namespaces with annotations of ours that have no effect, by reason",
    labelNames: ["reason"],
    read: (inputs) => by("reason", inputs.ignored()),
  },
  {
    name: "secretcast_source_list_entries",
    help: "Entries of the source list by state: ok, refused, or absent where their object is not there",
    labelNames: ["state"],
    read: (inputs) => by("state", inputs.listEntries()),
  },
  {
    name: "secretcast_watch_last_activity_timestamp_seconds",
    help: "When each watch last gave a sign of life",
    labelNames: ["resource"],
    read: (inputs) => by("resource", inputs.watchActivityMs(), 1000),
  },
  {
    name: "secretcast_watch_disconnected_seconds",
    help: "For how long each watch has been disconnected, so that its cache grows old; 0 while it is connected",
    labelNames: ["resource"],
    read: (inputs) => by("resource", inputs.watchDisconnectedMs(), 1000),
  },
  {
    name: "secretcast_unreadable_namespaces",
    help: "Namespaces of --namespaces that the API server does not let us read",
    read: (inputs) => [[{}, inputs.unreadableNamespaces()]],
  },
  {
    name: "secretcast_unreadable_names",
    help: "Names of --only-names that the API server does not let us read",
    read: (inputs) => [[{}, inputs.unreadableNames()]],
  },
  {
    name: "secretcast_last_converged_timestamp_seconds",
    help: "The last sync that left nothing pending or failed",
    read: (inputs) => [[{}, (inputs.lastConvergedMs() ?? 0) / 1000]],
  },
  {
    name: "leader_election_master_status",
    help: "1 where this process leads, else 0",
    labelNames: ["name"],
    read: (inputs) => [[{ name: inputs.leaseName }, inputs.leading() ? 1 : 0]],
  },
];

function* byState(resources: Readonly<Record<string, Counts>>, label = "state"): Iterable<Sample> {
  for (const [resource, counts] of Object.entries(resources))
    for (const [state, count] of Object.entries(counts))
      yield [{ [label]: state, resource }, count];
}

function by(label: string, values: Counts, divisor = 1): readonly Sample[] {
  return Object.entries(values).map(([value, count]) => [{ [label]: value }, count / divisor]);
}
