// Every flag of `run`, its default and its meaning, in one table: the command line, the help, the type of
// the configuration and the table of the reference follow from it or are compared with it.

export type Address = Readonly<{ host: string; port: number }>;

/** What the text of a flag becomes, by its kind. */
export type ValueByKind = {
  text: string;
  list: readonly string[];
  names: readonly string[];
  switch: boolean;
  duration: number;
  size: number;
  count: number;
  address: Address;
  choice: string;
};

type FlagRow = {
  readonly kind: keyof ValueByKind;
  /** As the help prints it, or "" without a default. It is read as if given, unless `derived`. */
  readonly default: string;
  /** Its default follows from other flags: config.ts. */
  readonly derived?: true;
  /** Least count. */
  readonly minimum?: number;
  readonly description: string;
  readonly choices?: readonly string[];
};

const TABLE = {
  kubeconfig: {
    kind: "text",
    default: "",
    description: "path to a kubeconfig; in a cluster the pod's service account, else as kubectl",
  },
  context: {
    kind: "text",
    default: "",
    description: "context of the kubeconfig to use",
  },
  "source-namespaces": {
    kind: "list",
    derived: true,
    default: "in a cluster the controller's own, outside secretcast",
    description:
      "globs of the namespaces that may publish, in order of precedence; * lets every one, and *,!kube-system or !x alone count as *",
  },
  namespaces: {
    kind: "list",
    derived: true,
    default: "all",
    description:
      "names of the only namespaces to serve; only they and named source namespaces are read, so that rights in each are enough",
  },
  "exclude-namespaces": {
    kind: "list",
    default: "",
    description: "namespace globs that never receive copies",
  },
  "include-system-namespaces": {
    kind: "switch",
    default: "false",
    description:
      "also serve kube-system, kube-public, kube-node-lease and the controller's own namespace",
  },
  "namespace-policy": {
    kind: "choice",
    derived: true,
    choices: ["opt-out", "opt-in"],
    default: "opt-out; opt-in when * is among the source namespaces",
    description: "what a namespace without the accept annotation takes: all copies or none",
  },
  resync: {
    kind: "duration",
    default: "10m",
    description: "full sync at least this often, ±10 %; 0 never",
  },
  concurrency: {
    kind: "count",
    minimum: 1,
    default: "32",
    description: "writes in flight at most",
  },
  "delete-grace": {
    kind: "duration",
    default: "10s",
    description:
      "how long a place must be unwanted before its copy is removed, where somebody clearly asked for it",
  },
  "delete-hold": {
    kind: "duration",
    default: "30m",
    description: "the same, in every other case, which could be a mistake; 0 turns the hold off",
  },
  "fanout-limit": {
    kind: "size",
    default: "256Mi",
    description: "maximum total size of one source's copies; new copies above it are held",
  },
  "other-source-namespaces": {
    kind: "list",
    default: "",
    description:
      "globs of namespaces whose sources belong to another installation; their copies are counted apart and cause no Ignored Event",
  },
  "only-names": {
    kind: "names",
    default: "",
    description:
      "the only object names that take part, at most 50; each is listed and watched by itself, so that rights by name are enough",
  },
  receipts: {
    kind: "text",
    default: "none",
    description:
      "stdout or a file: one JSON line for each copy that is created, changed or removed; with stdout, the log is on stderr",
  },
  "copyable-keys": {
    kind: "list",
    default: "",
    description:
      "globs of label and annotation keys taken off the never-copied list, for sources in namespaces that publish otherwise than by *",
  },
  "source-list": {
    kind: "text",
    default: "secretcast-sources",
    description:
      "name of the ConfigMap in the controller's own namespace that lists sources; '' turns it off, an empty variable does not",
  },
  "data-cache": {
    kind: "size",
    default: "64Mi",
    description:
      "bytes of source data kept in memory; what does not fit is read again before it is written",
  },
  "max-value-age": {
    kind: "duration",
    default: "0",
    description: "sources whose value is older are counted in secretcast_old_values; 0 counts none",
  },
  "config-maps": {
    kind: "switch",
    default: "false",
    description: "ConfigMaps take part as Secrets do; without it none is read",
  },
  "dry-run": {
    kind: "switch",
    default: "false",
    description: "plan and log, write nothing: no Secret, no Event, no Lease",
  },
  once: {
    kind: "switch",
    default: "false",
    description:
      "sync until everything is up to date, then exit: 0 if all copies are current, else 1",
  },
  "leader-elect": {
    kind: "switch",
    derived: true,
    default: "on in a cluster, off outside",
    description: "one writer among replicas, by a Lease; --no-leader-elect turns it off",
  },
  "lease-namespace": {
    kind: "text",
    derived: true,
    default: "the controller's own namespace",
    description: "namespace of the Lease",
  },
  "lease-name": {
    kind: "text",
    default: "secretcast",
    description: "name of the Lease",
  },
  "http-address": {
    kind: "address",
    default: "0.0.0.0:8080",
    description: "where /healthz, /readyz and /metrics are served",
  },
  "status-address": {
    kind: "address",
    default: "127.0.0.1:8081",
    description: "where the status page and /api/status are served; they name all tenants",
  },
  "log-level": {
    kind: "choice",
    choices: ["trace", "debug", "info", "warn", "error", "fatal", "silent"],
    default: "info",
    description: "least severe level that is logged",
  },
  "log-format": {
    kind: "choice",
    derived: true,
    choices: ["json", "pretty"],
    default: "json; pretty on a terminal",
    description: "form of a log line",
  },
} as const satisfies Readonly<Record<string, FlagRow>>;

export type FlagName = keyof typeof TABLE;
export type Flag = FlagRow & { readonly name: FlagName };
export const FLAGS: readonly Flag[] = Object.entries(TABLE).map(([name, row]) => ({
  name: name as FlagName,
  ...row,
}));

type Row<N extends FlagName> = (typeof TABLE)[N];
type ValueOf<N extends FlagName> =
  Row<N> extends { readonly choices: readonly (infer Choice)[] }
    ? Choice
    : ValueByKind[Row<N>["kind"]];
type Missing<N extends FlagName> =
  Row<N> extends { readonly default: "" } | { readonly derived: true } ? undefined : never;

const UNITS = { duration: "Ms", size: "Bytes" } as const;
type UnitOf<Kind> = Kind extends keyof typeof UNITS ? (typeof UNITS)[Kind] : "";
type Camel<Name extends string> = Name extends `${infer Word}-${infer Rest}`
  ? `${Word}${Capitalize<Camel<Rest>>}`
  : Name;

/**
 * The value of each flag under its key: `delete-grace` is `deleteGraceMs`. Undefined: it is not given, and it
 * has no default or one that follows from other flags.
 */
export type FlagsRead = {
  readonly [N in FlagName as `${Camel<N>}${UnitOf<Row<N>["kind"]>}`]: ValueOf<N> | Missing<N>;
};

export function configKey({ name, kind }: Flag): string {
  const camel = name.replaceAll(/-(.)/g, (_, letter: string) => letter.toUpperCase());
  return kind === "duration" || kind === "size" ? `${camel}${UNITS[kind]}` : camel;
}

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
  "delete-hold",
  "lease-namespace",
];

/** The environment variable that sets a flag. */
export function environmentName(flag: FlagName): string {
  return `SECRETCAST_${flag.toUpperCase().replaceAll("-", "_")}`;
}
