// Every flag of `run`, its default and its meaning, in one table: the command line, the help and the
// README's table are made from it or checked against it.

export type FlagKind =
  | "text"
  | "list"
  | "names"
  | "switch"
  | "duration"
  | "size"
  | "count"
  | "address"
  | "choice";

export type Flag = {
  readonly name: string;
  readonly kind: FlagKind;
  /** As the help prints it, or "" without a default. It is read as if given, unless `derived`. */
  readonly default: string;
  /** What it is when it is not given, config.ts works out of the others. */
  readonly derived?: true;
  /** Least count. */
  readonly minimum?: number;
  readonly description: string;
  readonly choices?: readonly string[];
};

export const LEVELS = ["trace", "debug", "info", "warn", "error", "fatal", "silent"] as const;

export const FLAGS = [
  {
    name: "kubeconfig",
    kind: "text",
    derived: true,
    default: "",
    description: "path to a kubeconfig; in a cluster the pod's service account, else as kubectl",
  },
  {
    name: "context",
    kind: "text",
    derived: true,
    default: "",
    description: "context of the kubeconfig to use",
  },
  {
    name: "source-namespaces",
    kind: "list",
    derived: true,
    default: "in a cluster the controller's own, outside secretcast",
    description:
      "globs of the namespaces that may publish, in order of precedence; * lets every one, and *,!kube-system or !x alone count as *",
  },
  {
    name: "namespaces",
    kind: "list",
    derived: true,
    default: "all",
    description:
      "names of the only namespaces to serve; only they and named source namespaces are read, so that rights in each are enough",
  },
  {
    name: "exclude-namespaces",
    kind: "list",
    derived: true,
    default: "",
    description: "namespace globs that never receive copies",
  },
  {
    name: "include-system-namespaces",
    kind: "switch",
    default: "false",
    description:
      "also serve kube-system, kube-public, kube-node-lease and the controller's own namespace",
  },
  {
    name: "namespace-policy",
    kind: "choice",
    derived: true,
    choices: ["opt-out", "opt-in"],
    default: "opt-out; opt-in when * is among the source namespaces",
    description: "what a namespace without the accept annotation takes: all copies or none",
  },
  {
    name: "resync",
    kind: "duration",
    default: "10m",
    description: "full sync at least this often, ±10 %; 0 never",
  },
  {
    name: "concurrency",
    kind: "count",
    minimum: 1,
    default: "32",
    description: "writes in flight at most",
  },
  {
    name: "delete-grace",
    kind: "duration",
    default: "10s",
    description: "how long a place must be unwanted before its copy is removed",
  },
  {
    name: "source-grace",
    kind: "duration",
    default: "5m",
    description: "how long a source must be absent before it counts as deleted",
  },
  {
    name: "delete-limit",
    kind: "count",
    default: "100",
    description:
      "more removals than this that are due at once, or more than a fifth of all copies, are held for --delete-hold; 0 turns that off",
  },
  {
    name: "delete-hold",
    kind: "duration",
    default: "30m",
    description:
      "how long a removal that could be a mistake must have been due before it is made; 0 holds none",
  },
  {
    name: "fanout-limit",
    kind: "size",
    default: "256Mi",
    description: "maximum total size of one source's copies; new copies above it are held",
  },
  {
    name: "other-source-namespaces",
    kind: "list",
    derived: true,
    default: "",
    description:
      "globs of namespaces whose sources belong to another installation; their copies are counted apart and cause no Ignored Event",
  },
  {
    name: "only-names",
    kind: "names",
    derived: true,
    default: "",
    description:
      "the only object names that take part, at most 50; each is listed and watched by itself, so that rights by name are enough",
  },
  {
    name: "receipts",
    kind: "text",
    default: "none",
    description:
      "stdout or a file: one JSON line for each copy that is created, changed or removed; with stdout, the log is on stderr",
  },
  {
    name: "copyable-keys",
    kind: "list",
    derived: true,
    default: "",
    description:
      "globs of label and annotation keys taken off the never-copied list, for sources in namespaces that publish otherwise than by *",
  },
  {
    name: "source-list",
    kind: "text",
    default: "secretcast-sources",
    description:
      "name of the ConfigMap in the controller's own namespace that lists sources; '' turns it off, an empty variable does not",
  },
  {
    name: "data-cache",
    kind: "size",
    default: "64Mi",
    description:
      "bytes of source data kept in memory; what does not fit is read again before it is written",
  },
  {
    name: "max-value-age",
    kind: "duration",
    default: "0",
    description: "sources whose value is older are counted in secretcast_old_values; 0 counts none",
  },
  {
    name: "config-maps",
    kind: "switch",
    default: "false",
    description: "ConfigMaps take part as Secrets do; without it none is read",
  },
  {
    name: "dry-run",
    kind: "switch",
    default: "false",
    description: "plan and log, write nothing: no Secret, no Event, no Lease",
  },
  {
    name: "once",
    kind: "switch",
    default: "false",
    description:
      "sync until everything is up to date, then exit: 0 if all copies are current, else 1",
  },
  {
    name: "leader-elect",
    kind: "switch",
    derived: true,
    default: "on in a cluster, off outside",
    description: "one writer among replicas, by a Lease; --no-leader-elect turns it off",
  },
  {
    name: "lease-namespace",
    kind: "text",
    derived: true,
    default: "the controller's own namespace",
    description: "namespace of the Lease",
  },
  { name: "lease-name", kind: "text", default: "secretcast", description: "name of the Lease" },
  {
    name: "http-address",
    kind: "address",
    default: "0.0.0.0:8080",
    description: "where /healthz, /readyz and /metrics are served",
  },
  {
    name: "status-address",
    kind: "address",
    default: "127.0.0.1:8081",
    description: "where the status page and /api/status are served; they name all tenants",
  },
  {
    name: "log-level",
    kind: "choice",
    choices: LEVELS,
    default: "info",
    description: "least severe level that is logged",
  },
  {
    name: "log-format",
    kind: "choice",
    derived: true,
    choices: ["json", "pretty"],
    default: "json; pretty on a terminal",
    description: "form of a log line",
  },
] as const satisfies readonly Flag[];

export type FlagName = (typeof FLAGS)[number]["name"];
/** The line of the table. */
export type FlagOf<N extends FlagName> = Extract<(typeof FLAGS)[number], { readonly name: N }>;

/** The flags of `run` that a plan follows from. */
export const PLANNING_FLAGS: readonly FlagName[] = [
  "source-namespaces",
  "namespaces",
  "exclude-namespaces",
  "other-source-namespaces",
  "include-system-namespaces",
  "namespace-policy",
  "fanout-limit",
  "only-names",
  "copyable-keys",
  "config-maps",
  "source-list",
  "delete-grace",
  "source-grace",
  "delete-limit",
  "delete-hold",
  "lease-namespace",
];

/** The environment variable that sets a flag. */
export function environmentName(flag: FlagName): string {
  return `SECRETCAST_${flag.toUpperCase().replaceAll("-", "_")}`;
}
