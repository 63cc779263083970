// Flags + environment → one frozen Config. Names, defaults and meanings are in flags.ts.
//
// Each flag can also be set as SECRETCAST_ + its name in capitals. Only exactly those names are
// read: a Service called secretcast makes the kubelet put SECRETCAST_PORT and the like into the
// environment of every pod in its namespace.
import {
  environmentName,
  FLAGS,
  configKey,
  type Address,
  type Flag,
  type FlagName,
  type FlagsRead,
  type ValueByKind,
} from "./flags.ts";
import { MOST_NAMES } from "../annotations/name-scope.ts";
import { OBJECT_KINDS, rulesOf, type ObjectKind } from "../model/kinds.ts";
import { parseDuration, parseSize } from "./units.ts";
import { matchesEveryName } from "../../text/globs.ts";
import { isNamespaceName, isSecretName } from "../../text/names.ts";

/**
 * The times of the Lease. A standby replica checks after up to 2.2 retry periods, 3.3 s, so that it has written
 * within 5 s of a release.
 */
export const LEASE_TIMES = {
  leaseDurationMs: 15_000,
  renewDeadlineMs: 10_000,
  retryPeriodMs: 1500,
} as const;

/** What was given, by flag name: the command line's value or the environment's. */
export type FlagValues = Readonly<Partial<Record<FlagName, string | boolean>>>;

/** What the flags say, and what follows from them and from the surroundings. */
export type Config = Readonly<Omit<FlagsRead, "configMaps" | keyof Derived> & Derived>;

type Derived = {
  inCluster: boolean;
  ownNamespace: string;
  /** The kinds of objects that take part. */
  kinds: readonly ObjectKind[];
  sourceNamespaces: readonly string[];
  excludeNamespaces: readonly string[];
  otherSourceNamespaces: readonly string[];
  namespacePolicy: "opt-out" | "opt-in";
  /** `stdout` or a file. undefined: none. */
  receipts: string | undefined;
  /** undefined: none. */
  sourceList: string | undefined;
  leaderElect: boolean;
  leaseNamespace: string;
  logFormat: "json" | "pretty";
};

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
const A_NAME = 'at most 253 lower-case letters, digits, "-" and "."';
const A_LIST = `the name of a ConfigMap in the controller's own namespace, ${A_NAME}; '' for none`;
const A_NAMESPACE = 'the name of a namespace, at most 63 lower-case letters, digits and "-"';

/** Throws a UsageError that names the flag (or variable), its value and what would be right. */
export function readConfig(given: FlagValues, around: Environment): Config {
  const { configMaps, ...flags } = readFlags(given, around.env);
  check("lease-namespace", flags.leaseNamespace, isNamespaceName, A_NAMESPACE);
  // The API server would answer to any other name that it is invalid, at each try and without an end.
  check("lease-name", flags.leaseName, isSecretName, `a name of ${A_NAME}`);
  const inCluster =
    around.clusterNamespace !== undefined &&
    flags.kubeconfig === undefined &&
    flags.context === undefined;
  const ownNamespace =
    (inCluster && around.clusterNamespace) || flags.leaseNamespace || "secretcast";
  const sourceNamespaces = flags.sourceNamespaces ?? [inCluster ? ownNamespace : "secretcast"];
  const kinds = configMaps ? OBJECT_KINDS : ONLY_SECRETS;
  const sourceList = flags.sourceList === "" ? undefined : flags.sourceList;
  check("source-list", sourceList, isSecretName, A_LIST);
  for (const kind of kinds) checkNames(flags.onlyNames ?? [], kind, sourceList);
  const policy = everyNamespacePublishes(sourceNamespaces) ? "opt-in" : "opt-out";
  return Object.freeze({
    ...flags,
    inCluster,
    ownNamespace,
    kinds,
    sourceNamespaces,
    excludeNamespaces: flags.excludeNamespaces ?? [],
    otherSourceNamespaces: flags.otherSourceNamespaces ?? [],
    namespacePolicy: flags.namespacePolicy ?? policy,
    receipts: readReceipts(flags.receipts),
    sourceList,
    leaderElect: flags.leaderElect ?? inCluster,
    leaseNamespace: flags.leaseNamespace ?? ownNamespace,
    logFormat: flags.logFormat ?? (around.terminal ? "pretty" : "json"),
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
  const expected = "expected stdout, none or a file";
  const wrong = new Map([
    ["", expected],
    ["-", expected],
    ["stderr", `stderr has the log; ${expected}, such as /dev/stderr`],
  ]).get(text);
  if (wrong === undefined && !text.includes("\0")) return text;
  const why = wrong ?? "no file has such a name";
  throw new UsageError(`--receipts: ${JSON.stringify(text)} is wrong: ${why}`);
}

/** Throws a UsageError if a value is given and is wrong. */
function check(
  flag: FlagName,
  value: string | undefined,
  isRight: (text: string) => boolean,
  expected: string,
): void {
  if (value !== undefined && !isRight(value)) throw wrongValue(flag, value, expected);
}

/** Throws a UsageError if no object of one of these names may take part. */
function checkNames(
  names: readonly string[],
  kind: ObjectKind,
  sourceList: string | undefined,
): void {
  const { refusedPrefix, reserved } = rulesOf(kind, { sourceList });
  const refused = names.find((name) => name.startsWith(refusedPrefix));
  if (refused !== undefined)
    throw new UsageError(
      `--only-names: "${refused}" is never copied: names that begin with ${refusedPrefix} are records of Helm`,
    );
  const taken = names.find((name) => reserved?.includes(name));
  // Rights by name would let the controller change its own source list in every namespace.
  if (taken !== undefined)
    throw new UsageError(
      `--only-names: "${taken}" is reserved: a ${kind} of that name configures secretcast and never takes part`,
    );
}

export function wrongValue(flag: FlagName, value: string, expected: string): UsageError {
  return new UsageError(`--${flag}: "${value}" is wrong: expected ${expected}`);
}

/** Whether `--source-namespaces` lets every namespace publish, except those that it excludes. */
export function everyNamespacePublishes(sourceNamespaces: readonly string[]): boolean {
  const positive = sourceNamespaces.filter((entry) => !entry.startsWith("!"));
  return positive.length === 0 || positive.some(matchesEveryName);
}

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
    choice: (text, { choices = [] }) => parseChoice(text, choices),
  };

function readFlags(given: FlagValues, env: Environment["env"]): FlagsRead {
  const values = FLAGS.map((flag) => [configKey(flag), readFlag(flag, given, env)] as const);
  return Object.fromEntries(values) as FlagsRead;
}

// The command line wins over the environment, the environment over the table's default.
function readFlag(flag: Flag, given: FlagValues, env: Environment["env"]): unknown {
  const parse = PARSERS[flag.kind];
  const variable = environmentName(flag.name);
  const text = given[flag.name] ?? (env[variable] || undefined);
  if (text === undefined)
    return flag.derived || flag.default === "" ? undefined : parse(flag.default, flag);
  try {
    return parse(String(text), flag);
  } catch (error) {
    const where = given[flag.name] === undefined ? variable : `--${flag.name}`;
    throw new UsageError(`${where}: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function parseList(text: string): readonly string[] {
  const entries = text.split(",").map((entry) => entry.trim());
  if (entries.includes(""))
    throw new RangeError(`"${text}" has an empty entry: separate names or globs by single commas`);
  return entries;
}

/** Throws a RangeError that names the name at fault. */
function parseObjectNames(text: string): readonly string[] {
  const names = text.split(",").map((name) => name.trim());
  if (names.includes(""))
    throw new RangeError(`"${text}" has an empty name: separate names by single commas`);
  if (names.length > MOST_NAMES)
    throw new RangeError(`${names.length} names are too many: expected at most ${MOST_NAMES}`);
  const wrong = names.find((name) => !isSecretName(name));
  if (wrong !== undefined)
    throw new RangeError(
      `"${wrong}" is wrong: expected the name of an object, no glob: at most 253 lower-case letters, digits, "-" and "."`,
    );
  const twice = names.find((name, at) => names.indexOf(name) < at);
  if (twice !== undefined) throw new RangeError(`"${twice}" is given twice`);
  return names;
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
