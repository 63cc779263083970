// By which settings a command judges: the flags of `run` that decide what is copied where. They come,
// each from the first that has it: the command line, the environment, the flags of the controller that
// is installed, the defaults. What was taken is printed.
import type { Argv } from "yargs";
import { readConfig, type Config, type FlagValues } from "../../config/config.ts";
import { environmentName, type FlagName } from "../../config/flags.ts";
import { readPlannerSettings } from "../../config/planner-settings.ts";
import type { PlannerSettings } from "../../core/model/cluster.ts";
import type { Program } from "../run/program-context.ts";
import { givenFlags, settingsOptions } from "../kubectl/run-flags.ts";
import type { Given } from "../kubectl/kubectl-flags.ts";
import type { Installed } from "./installed-controller.ts";

/** The flags of `run` that a plan follows from. */
const PLANNING_FLAGS: readonly FlagName[] = [
  "source-namespaces",
  "namespaces",
  "exclude-namespaces",
  "include-system-namespaces",
  "namespace-policy",
  "fanout-limit",
  "copyable-keys",
  "config-maps",
  "source-list",
  "delete-grace",
  "delete-limit",
  "delete-hold",
  "lease-namespace",
];

export type PlanningSettings = {
  readonly config: Config;
  readonly settings: PlannerSettings;
  /** Where they are from, in words: "the flags of Deployment secretcast/secretcast". */
  readonly from: string;
  /** What was given by anybody, and what decides most. */
  readonly flags: Readonly<Record<string, string>>;
};

export function planningOptions(argv: Argv): Argv {
  return settingsOptions(argv, PLANNING_FLAGS);
}

/** Those of the command line. */
export function planningFlags(given: Given): FlagValues {
  return givenFlags(given, PLANNING_FLAGS);
}

export function readPlanningSettings(
  own: FlagValues,
  { env }: Pick<Program, "env">,
  installed: Installed,
): PlanningSettings {
  const controller = installed.kind === "found" ? installed.controller : undefined;
  const isOwn = (name: FlagName): boolean =>
    own[name] !== undefined || Boolean(env[environmentName(name)]);
  const theirs = PLANNING_FLAGS.filter(
    (name) => !isOwn(name) && controller?.flags[name] !== undefined,
  );
  const flags = {
    ...own,
    ...Object.fromEntries(theirs.map((name) => [name, controller?.flags[name]])),
  };
  const planningEnv = Object.fromEntries(
    PLANNING_FLAGS.map((name) => [environmentName(name), env[environmentName(name)]]),
  );
  const around = {
    env: planningEnv,
    clusterNamespace: controller?.namespace,
    terminal: false,
  };
  const config = readConfig(flags, around);
  const settings = readPlannerSettings(config);
  return {
    config,
    settings,
    from: whence(installed, own),
    flags: shown(config, flags, planningEnv),
  };
}

// The order of sources and what an absent `accept` means are never left to be guessed.
function shown(
  config: Config,
  given: FlagValues,
  env: Readonly<Record<string, string | undefined>>,
): Readonly<Record<string, string>> {
  const flags: Record<string, string> = {
    "source-namespaces": config.sourceNamespaces.join(","),
    "namespace-policy": config.namespacePolicy,
  };
  for (const name of PLANNING_FLAGS) {
    const value = given[name] ?? env[environmentName(name)];
    if (value !== undefined && value !== "") flags[name] ??= String(value);
  }
  return flags;
}

function whence(installed: Installed, own: FlagValues): string {
  const first = Object.keys(own).length > 0 ? "the flags given here, then " : "";
  switch (installed.kind) {
    case "found": {
      const { namespace, name, unread } = installed.controller;
      const rest = unread.length > 0 ? ` (not readable there: ${unread.join(", ")})` : "";
      return `${first}those of Deployment ${namespace}/${name}${rest}`;
    }
    case "unasked":
      return `${first}the defaults`;
    case "none":
      return `${first}the defaults (no controller is installed)`;
    case "several":
      return `${first}the defaults (several controllers are installed: ${installed.names.join(", ")}; --lease-namespace chooses one)`;
    case "unknown":
      return `${first}the defaults (whether a controller is installed cannot be read)`;
  }
}

/** One line for people. */
export function settingsLine({ from, flags }: PlanningSettings): string {
  const words = Object.entries(flags).map(([name, value]) => `--${name}=${value}`);
  return `judged by ${words.join(" ")}, from ${from}`;
}
