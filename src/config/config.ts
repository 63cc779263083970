// Flags + environment → one frozen Config. Names, defaults and meanings stand in flags.ts.
//
// Each flag can also be set as SECRETCAST_ + its name in capitals. Only exactly those names are
// read: a Service called secretcast makes the kubelet put SECRETCAST_PORT and the like into the
// environment of every pod in its namespace.
import { environmentName, FLAGS, LEVELS, type FlagName } from "./flags.ts";
import { parseDuration, parseSize } from "./units.ts";

/** What was given, by flag name: the command line's word or the environment's. */
export type FlagValues = Readonly<Partial<Record<FlagName, string | boolean>>>;

export type Config = Readonly<{
  kubeconfig: string | undefined;
  context: string | undefined;
  inCluster: boolean;
  ownNamespace: string;
  sourceNamespaces: readonly string[];
  /** undefined: all. */
  namespaces: readonly string[] | undefined;
  excludeNamespaces: readonly string[];
  includeSystemNamespaces: boolean;
  namespacePolicy: "opt-out" | "opt-in";
  resyncMs: number;
  concurrency: number;
  deleteGraceMs: number;
  deleteLimit: number;
  deleteHoldMs: number;
  fanoutLimitBytes: number;
  dataCacheBytes: number;
  dryRun: boolean;
  once: boolean;
  leaderElect: boolean;
  leaseNamespace: string;
  leaseName: string;
  httpAddress: Address;
  statusAddress: Address;
  logLevel: (typeof LEVELS)[number];
  logFormat: "json" | "pretty";
}>;

export type Address = Readonly<{ host: string; port: number }>;

/** What the process knows of its surroundings; read by the edge, so that this file stays testable. */
export type Environment = Readonly<{
  env: Readonly<Record<string, string | undefined>>;
  /** Namespace of the pod's service account; undefined outside a cluster. */
  clusterNamespace: string | undefined;
  terminal: boolean;
}>;

/** Wrong input of a user. The message is the one line they see. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

/** Throws a UsageError that names the flag (or variable), its value and what would be right. */
export function readConfig(given: FlagValues, around: Environment): Config {
  const read = reader(given, around.env);
  const inCluster =
    around.clusterNamespace !== undefined &&
    read.text("kubeconfig") === undefined &&
    read.text("context") === undefined;
  const leaseNamespace = read.text("lease-namespace");
  const ownNamespace = (inCluster && around.clusterNamespace) || leaseNamespace || "secretcast";
  const sourceNamespaces = read.list("source-namespaces") ?? [
    ownNamespaceOf(inCluster, ownNamespace),
  ];
  return Object.freeze({
    kubeconfig: read.text("kubeconfig"),
    context: read.text("context"),
    inCluster,
    ownNamespace,
    sourceNamespaces,
    namespaces: read.list("namespaces"),
    excludeNamespaces: read.list("exclude-namespaces") ?? [],
    includeSystemNamespaces: read.flag("include-system-namespaces") ?? false,
    namespacePolicy:
      read.choice("namespace-policy", ["opt-out", "opt-in"]) ??
      (everyNamespacePublishes(sourceNamespaces) ? "opt-in" : "opt-out"),
    resyncMs: read.duration("resync"),
    concurrency: read.count("concurrency", 1),
    deleteGraceMs: read.duration("delete-grace"),
    deleteLimit: read.count("delete-limit", 0),
    deleteHoldMs: read.duration("delete-hold"),
    fanoutLimitBytes: read.size("fanout-limit"),
    dataCacheBytes: read.size("data-cache"),
    dryRun: read.flag("dry-run") ?? false,
    once: read.flag("once") ?? false,
    leaderElect: read.flag("leader-elect") ?? inCluster,
    leaseNamespace: leaseNamespace ?? ownNamespace,
    leaseName: read.text("lease-name") ?? "secretcast",
    httpAddress: read.address("http-address"),
    statusAddress: read.address("status-address"),
    logLevel: read.choice("log-level", LEVELS) ?? "info",
    logFormat:
      read.choice("log-format", ["json", "pretty"]) ?? (around.terminal ? "pretty" : "json"),
  });
}

/** Does `--source-namespaces` let namespaces of every name publish, but for those that it excludes? */
export function everyNamespacePublishes(sourceNamespaces: readonly string[]): boolean {
  const positive = sourceNamespaces.filter((entry) => !entry.startsWith("!"));
  return positive.length === 0 || positive.some(matchesEveryName);
}

/** `*`, and what is the same in other signs, such as `**` and `?*`. */
export function matchesEveryName(glob: string): boolean {
  return glob.includes("*") && glob.replaceAll(/[*?]/g, "") === "";
}

function ownNamespaceOf(inCluster: boolean, ownNamespace: string): string {
  return inCluster ? ownNamespace : "secretcast";
}

function reader(given: FlagValues, env: Environment["env"]) {
  // The command line wins over the environment, the environment over the table's default.
  const find = (flag: FlagName): { text: string; where: string } | undefined => {
    const value = given[flag];
    if (value !== undefined) return { text: String(value), where: `--${flag}` };
    const variable = environmentName(flag);
    const set = env[variable];
    return set === undefined || set === "" ? undefined : { text: set, where: variable };
  };
  const parsed = <T>(flag: FlagName, parse: (text: string) => T): T | undefined => {
    const found = find(flag);
    if (!found) return undefined;
    try {
      return parse(found.text);
    } catch (error) {
      throw new UsageError(
        `${found.where}: ${error instanceof Error ? error.message : String(error)}`,
      );
    }
  };
  const withDefault = <T>(flag: FlagName, parse: (text: string) => T): T =>
    parsed(flag, parse) ?? parse(FLAGS.find(({ name }) => name === flag)?.default ?? "");
  return {
    text: (flag: FlagName) => parsed(flag, (text) => text),
    list: (flag: FlagName) => parsed(flag, parseList),
    flag: (flag: FlagName) => parsed(flag, parseSwitch),
    duration: (flag: FlagName) => withDefault(flag, parseDuration),
    size: (flag: FlagName) => withDefault(flag, parseSize),
    count: (flag: FlagName, least: number) => withDefault(flag, (text) => parseCount(text, least)),
    address: (flag: FlagName) => withDefault(flag, parseAddress),
    choice: <C extends string>(flag: FlagName, choices: readonly C[]) =>
      parsed(flag, (text) => parseChoice(text, choices)),
  };
}

function parseList(text: string): readonly string[] {
  const entries = text.split(",").map((entry) => entry.trim());
  if (entries.includes(""))
    throw new RangeError(`"${text}" has an empty entry: separate names or globs by single commas`);
  return entries;
}

function parseSwitch(text: string): boolean {
  if (text === "true") return true;
  if (text === "false") return false;
  throw new RangeError(`"${text}" is neither true nor false`);
}

function parseCount(text: string, least: number): number {
  const count = Number(text);
  if (!/^\d+$/.test(text) || !Number.isSafeInteger(count) || count < least)
    throw new RangeError(`"${text}" is not a whole number of at least ${least}`);
  return count;
}

function parseAddress(text: string): Address {
  const parts = /^(?:\[([0-9a-fA-F:.]+)\]|([^:[\]]*)):(\d{1,5})$/.exec(text);
  const port = Number(parts?.[3]);
  if (!parts || port > 65_535)
    throw new RangeError(
      `"${text}" is not an address: write host:port, like 0.0.0.0:8080 or [::1]:8080`,
    );
  return { host: parts[1] ?? (parts[2] || "0.0.0.0"), port };
}

function parseChoice<C extends string>(text: string, choices: readonly C[]): C {
  const found = choices.find((choice) => choice === text);
  if (found === undefined) throw new RangeError(`"${text}" is not one of ${choices.join(", ")}`);
  return found;
}
