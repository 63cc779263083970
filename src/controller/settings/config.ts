// Flags + environment → one frozen Config. Names, defaults and meanings are in flags.ts.
//
// Each flag can also be set as SECRETCAST_ + its name in capitals. Only exactly those names are
// read: a Service called secretcast makes the kubelet put SECRETCAST_PORT and the like into the
// environment of every pod in its namespace.
import {
  environmentName,
  FLAGS,
  type Flag,
  type FlagName,
  type FlagOf,
  type LEVELS,
} from "./flags.ts";
import { OBJECT_KINDS, type ObjectKind } from "../model/kinds.ts";
import { contradictionOf, parseObjectNames } from "./only-names.ts";
import { parseDuration, parseSize } from "./units.ts";
import { isNamespaceName, isSecretName } from "../../text/names.ts";

/**
 * How often the Lease is read or renewed. A standby replica checks after up to 2.2 times this, 3.3 s, so that
 * it has written within 5 s of a release.
 */
export const LEASE_RETRY_MS = 1500;

/** What was given, by flag name: the command line's value or the environment's. */
export type FlagValues = Readonly<Partial<Record<FlagName, string | boolean>>>;

export type Config = Readonly<{
  kubeconfig: string | undefined;
  context: string | undefined;
  inCluster: boolean;
  ownNamespace: string;
  sourceNamespaces: readonly string[];
  /** The kinds of objects that take part. */
  kinds: readonly ObjectKind[];
  /** undefined: all. */
  namespaces: readonly string[] | undefined;
  excludeNamespaces: readonly string[];
  otherSourceNamespaces: readonly string[];
  includeSystemNamespaces: boolean;
  namespacePolicy: "opt-out" | "opt-in";
  resyncMs: number;
  concurrency: number;
  deleteGraceMs: number;
  sourceGraceMs: number;
  deleteLimit: number;
  deleteHoldMs: number;
  fanoutLimitBytes: number;
  /** The only object names that take part. undefined: all. */
  onlyNames: readonly string[] | undefined;
  /** `stdout` or a file. undefined: none. */
  receipts: string | undefined;
  /** undefined: none. */
  copyableKeys: readonly string[] | undefined;
  /** undefined: none. */
  sourceList: string | undefined;
  dataCacheBytes: number;
  /** 0: ages of values are not read. */
  maxValueAgeMs: number;
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

/** What the process knows of its surroundings. Its caller reads it, so that this file stays testable. */
export type Environment = Readonly<{
  env: Readonly<Record<string, string | undefined>>;
  /** Namespace of the pod's service account, or undefined outside a cluster. */
  clusterNamespace: string | undefined;
  terminal: boolean;
}>;

/** Wrong input of a user. The message is the one line they see. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

const ONLY_SECRETS: readonly ObjectKind[] = ["Secret"];

/** Throws a UsageError that names the flag (or variable), its value and what would be right. */
export function readConfig(given: FlagValues, around: Environment): Config {
  const read = reader(given, around.env);
  const inCluster =
    around.clusterNamespace !== undefined &&
    read("kubeconfig") === undefined &&
    read("context") === undefined;
  const leaseNamespace = readLeaseNamespace(read("lease-namespace"));
  const ownNamespace = (inCluster && around.clusterNamespace) || leaseNamespace || "secretcast";
  const sourceNamespaces = read("source-namespaces") ?? [ownNamespaceOf(inCluster, ownNamespace)];
  const kinds = read("config-maps") ? OBJECT_KINDS : ONLY_SECRETS;
  const sourceList = readListName(read("source-list"));
  const onlyNames = read("only-names");
  const contradiction = contradictionOf(onlyNames ?? [], kinds, sourceList);
  if (contradiction !== undefined) throw new UsageError(`--only-names: ${contradiction}`);
  return Object.freeze({
    kubeconfig: read("kubeconfig"),
    context: read("context"),
    inCluster,
    ownNamespace,
    sourceNamespaces,
    kinds,
    namespaces: read("namespaces"),
    excludeNamespaces: read("exclude-namespaces") ?? [],
    otherSourceNamespaces: read("other-source-namespaces") ?? [],
    includeSystemNamespaces: read("include-system-namespaces"),
    namespacePolicy:
      read("namespace-policy") ??
      (everyNamespacePublishes(sourceNamespaces) ? "opt-in" : "opt-out"),
    resyncMs: read("resync"),
    concurrency: read("concurrency"),
    deleteGraceMs: read("delete-grace"),
    sourceGraceMs: read("source-grace"),
    deleteLimit: read("delete-limit"),
    deleteHoldMs: read("delete-hold"),
    fanoutLimitBytes: read("fanout-limit"),
    onlyNames,
    receipts: readReceipts(read("receipts")),
    copyableKeys: read("copyable-keys"),
    sourceList,
    dataCacheBytes: read("data-cache"),
    maxValueAgeMs: read("max-value-age"),
    dryRun: read("dry-run"),
    once: read("once"),
    leaderElect: read("leader-elect") ?? inCluster,
    leaseNamespace: leaseNamespace ?? ownNamespace,
    leaseName: readLeaseName(read("lease-name")),
    httpAddress: read("http-address"),
    statusAddress: read("status-address"),
    logLevel: read("log-level"),
    logFormat: read("log-format") ?? (around.terminal ? "pretty" : "json"),
  });
}

/**
 * An empty variable counts as not set. Only with the source list can a user mean something else by it:
 * then a line that says how to turn the list off.
 */
export function emptyListVariable(given: FlagValues, env: Environment["env"]): string | undefined {
  const variable = environmentName("source-list");
  if (given["source-list"] !== undefined || env[variable] !== "") return undefined;
  return `${variable} is empty, which counts as not set: to turn the source list off, use the flag --source-list=''`;
}

function readReceipts(text: string): string | undefined {
  if (text === "none") return undefined;
  const advice: Readonly<Record<string, string>> = {
    "": "expected stdout, none or a file",
    stderr: "stderr has the log; expected stdout, none or a file, such as /dev/stderr",
    "-": "expected stdout, none or a file",
  };
  const wrong = advice[text];
  if (wrong === undefined && !text.includes("\0")) return text;
  throw new UsageError(
    `--receipts: ${JSON.stringify(text)} is wrong: ${wrong ?? "no file has such a name"}`,
  );
}

function readListName(name: string): string | undefined {
  if (name === "") return undefined;
  if (isSecretName(name)) return name;
  throw new UsageError(
    `--source-list: "${name}" is wrong: expected the name of a ConfigMap in the controller's own namespace, at most 253 lower-case letters, digits, "-" and "."; '' for none`,
  );
}

// The API server would answer to any other name that it is invalid, at each try and without an end.
function readLeaseName(name: string): string {
  if (isSecretName(name)) return name;
  throw new UsageError(
    `--lease-name: "${name}" is wrong: expected a name of at most 253 lower-case letters, digits, "-" and "."`,
  );
}

function readLeaseNamespace(name: string | undefined): string | undefined {
  if (name === undefined || isNamespaceName(name)) return name;
  throw new UsageError(
    `--lease-namespace: "${name}" is wrong: expected the name of a namespace, at most 63 lower-case letters, digits and "-"`,
  );
}

/** Whether `--source-namespaces` lets every namespace publish, except those that it excludes. */
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

// What the text of a flag becomes, by its kind in the table.
type ValueByKind = {
  text: string;
  list: readonly string[];
  names: readonly string[];
  switch: boolean;
  duration: number;
  size: number;
  count: number;
  address: Address;
};
type Value<N extends FlagName> =
  FlagOf<N> extends { readonly choices: readonly (infer C)[] }
    ? C
    : ValueByKind[Exclude<FlagOf<N>["kind"], "choice">];

const PARSERS: { readonly [K in keyof ValueByKind]: (text: string, flag: Flag) => ValueByKind[K] } =
  {
    text: (text) => text,
    list: parseList,
    names: parseObjectNames,
    switch: parseSwitch,
    duration: parseDuration,
    size: parseSize,
    count: (text, { minimum = 0 }) => parseCount(text, minimum),
    address: parseAddress,
  };

function parse(text: string, flag: Flag): unknown {
  return flag.kind === "choice"
    ? parseChoice(text, flag.choices ?? [])
    : PARSERS[flag.kind](text, flag);
}

// undefined where it is not given and its default follows from the others.
type Read = <N extends FlagName>(
  name: N,
) => FlagOf<N> extends { readonly derived: true } ? Value<N> | undefined : Value<N>;

function reader(given: FlagValues, env: Environment["env"]): Read {
  // The command line wins over the environment, the environment over the table's default.
  const find = (name: FlagName): { text: string; where: string } | undefined => {
    const value = given[name];
    if (value !== undefined) return { text: String(value), where: `--${name}` };
    const variable = environmentName(name);
    const set = env[variable];
    return set === undefined || set === "" ? undefined : { text: set, where: variable };
  };
  const read = (name: FlagName): unknown => {
    const flag: Flag | undefined = FLAGS.find((each) => each.name === name);
    if (!flag) return undefined;
    const found = find(name);
    if (!found) return flag.derived ? undefined : parse(flag.default, flag);
    try {
      return parse(found.text, flag);
    } catch (error) {
      throw new UsageError(
        `${found.where}: ${error instanceof Error ? error.message : String(error)}`,
      );
    }
  };
  return read as Read;
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

function parseChoice(text: string, choices: readonly string[]): string {
  if (!choices.includes(text))
    throw new RangeError(`"${text}" is not one of ${choices.join(", ")}`);
  return text;
}
