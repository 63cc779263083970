// The settings of a command that judges a cluster, mainly the flags of `run` that decide what is copied
// where. Each setting comes from the first of these that has it: the command line, the environment, the
// flags of the installed controller, the defaults. The order is the same for all commands, and the settings
// are printed.
import { shellWord } from "../../text/shell-word.ts";
import { isDeepStrictEqual } from "node:util";
import type { Argv } from "yargs";
import {
  emptyListVariable,
  readConfig,
  type Config,
  type FlagValues,
} from "../../controller/settings/config.ts";
import { environmentName, PLANNING_FLAGS, type FlagName } from "../../controller/settings/flags.ts";
import { readPlannerSettings } from "../../controller/settings/planner-settings.ts";
import type { PlannerSettings } from "../../controller/model/cluster.ts";
import type { Program } from "../../run/program-context.ts";
import { givenFlags, settingsOptions } from "../kubectl/run-flags.ts";
import type { Args } from "../kubectl/kubectl-flags.ts";
import type { ControllerHome, Installed } from "./installed-controller.ts";

export type PlanningSettings = {
  readonly config: Config;
  readonly settings: PlannerSettings;
  /** The origin of the settings as text: "the flags of Deployment secretcast/secretcast". */
  readonly from: string;
  /** The flags that were given anywhere, and the most important ones. */
  readonly flags: Readonly<Record<string, string>>;
  /** The settings of the installed controller. Undefined when none is installed or it cannot be read. */
  readonly theirs: Config | undefined;
  /** Flags given here, or in the environment. */
  readonly own: readonly FlagName[];
  /** Those of them that differ from what the installed controller runs with. */
  readonly otherwise: readonly FlagName[];
  /** Why the settings may not be those of the controller, and what to pass. */
  readonly unclear: string | undefined;
  /** A line about a likely mistake in the flags. */
  readonly hint: string | undefined;
};

export function planningOptions(argv: Argv): Argv {
  return settingsOptions(argv, PLANNING_FLAGS);
}

/** Those of the command line. */
export function planningFlags(args: Args): FlagValues {
  return givenFlags(args, PLANNING_FLAGS);
}

export function readPlanningSettings(
  own: FlagValues,
  program: Pick<Program, "env">,
  installed: Installed,
): PlanningSettings {
  return readSettings(PLANNING_FLAGS, own, program, installed, undefined);
}

/** Where a controller is looked for. `current`: the namespace of -n or of the context. */
export function controllerHome(
  own: FlagValues,
  program: Pick<Program, "env">,
  current: string,
): ControllerHome {
  const name = environmentName("lease-namespace");
  const isNamed = own["lease-namespace"] !== undefined || Boolean(program.env[name]);
  return { lease: homeOf(own, program), isNamed, current };
}

/** The namespace where a controller is looked for first. */
export function homeOf(own: FlagValues, { env }: Pick<Program, "env">): string {
  const home = own["lease-namespace"] ?? env[environmentName("lease-namespace")];
  return typeof home === "string" && home !== "" ? home : USUAL_HOME;
}

const USUAL_HOME = "secretcast";

/**
 * Reads each flag of `names` from the first that has it: `own`, the environment, the installed controller,
 * the defaults. `home` is the namespace of a controller that is not installed. Undefined means that it runs
 * outside the cluster.
 */
export function readSettings(
  names: readonly FlagName[],
  own: FlagValues,
  program: Pick<Program, "env">,
  installed: Installed,
  home: string | undefined,
): PlanningSettings {
  const controller = installed.kind === "found" ? installed.controller : undefined;
  const env = Object.fromEntries(
    names.map((name) => [environmentName(name), program.env[environmentName(name)]]),
  );
  const isOwn = (name: FlagName): boolean =>
    own[name] !== undefined || Boolean(env[environmentName(name)]);
  const theirs = flagsAmong(names, controller?.flags ?? {});
  const values = {
    ...flagsAmong(
      names.filter((name) => !isOwn(name)),
      theirs,
    ),
    ...own,
  };
  const clusterNamespace = controller?.namespace ?? home;
  const configOf = (flags: FlagValues, variables: Program["env"]): Config =>
    readConfig(flags, { env: variables, clusterNamespace, terminal: false });
  const config = configOf(values, env);
  const differs = (name: FlagName): boolean => {
    const changed = { ...theirs, [name]: own[name] ?? env[environmentName(name)] };
    return !isDeepStrictEqual(configOf(changed, {}), configOf(theirs, {}));
  };
  const unread = new Set(controller?.unread);
  const otherwise =
    controller && !unread.has("envFrom")
      ? names.filter((name) => isOwn(name) && !unread.has(name) && differs(name))
      : [];
  return {
    config,
    settings: readPlannerSettings(config),
    from: whence(installed, own, names, env),
    flags: shown(config, names, values, env),
    theirs: controller && configOf(theirs, {}),
    own: names.filter(isOwn),
    unclear: unclearText(installed, isOwn, names),
    otherwise,
    hint: emptyListVariable(own, program.env),
  };
}

function flagsAmong(names: readonly FlagName[], flags: FlagValues): FlagValues {
  return Object.fromEntries(
    names.flatMap((name) => (flags[name] === undefined ? [] : [[name, flags[name]]])),
  );
}

// The order of sources and the meaning of an absent `accept` are always shown.
function shown(
  config: Config,
  names: readonly FlagName[],
  values: FlagValues,
  env: Program["env"],
): Readonly<Record<string, string>> {
  const flags: Record<string, string> = {
    "source-namespaces": config.sourceNamespaces.join(","),
    "namespace-policy": config.namespacePolicy,
  };
  for (const name of names) {
    const value = values[name] ?? (env[environmentName(name)] || undefined);
    if (value !== undefined) flags[name] ??= String(value);
  }
  return flags;
}

function whence(
  installed: Installed,
  own: FlagValues,
  names: readonly FlagName[],
  env: Program["env"],
): string {
  const variables = names
    .filter((name) => own[name] === undefined && env[environmentName(name)])
    .map(environmentName);
  const first = [
    ...(Object.keys(own).length > 0 ? ["the flags given here"] : []),
    ...(variables.length > 0 ? [`the environment (${variables.join(", ")})`] : []),
  ];
  return [...first, rest(installed)].join(", then ");
}

function rest(installed: Installed): string {
  switch (installed.kind) {
    case "found": {
      const { namespace, name, unread } = installed.controller;
      const missing = unread.length > 0 ? ` (not readable there: ${unread.join(", ")})` : "";
      return `those of Deployment ${namespace}/${name}${missing}`;
    }
    case "unasked":
      return "the defaults";
    case "none":
      return "the defaults (no controller is installed)";
    case "several":
      return `the defaults (${SEVERAL}: ${installed.names.join(", ")}; --lease-namespace chooses one)`;
    case "unknown":
      return `the defaults (${NO_DEPLOYMENTS})`;
  }
}

/** Without the controller's flags, every verdict could be different. */
const NO_DEPLOYMENTS = "you may not list Deployments: the flags of the controller are not known";
const SEVERAL = "which Deployment is the controller is not known";
const TO_PASS = "pass --lease-namespace, or --source-namespaces and the other flags that matter";

function unclearText(
  installed: Installed,
  isOwn: (name: FlagName) => boolean,
  names: readonly FlagName[],
): string | undefined {
  switch (installed.kind) {
    case "unasked":
    case "none":
      return undefined;
    case "several":
    case "unknown": {
      if (isOwn("source-namespaces")) return undefined;
      const why =
        installed.kind === "unknown" ? NO_DEPLOYMENTS : `${SEVERAL}: ${installed.names.join(", ")}`;
      return `${why}; ${TO_PASS}`;
    }
    case "found": {
      const { namespace, name, unread } = installed.controller;
      const open = names.filter((each) => unread.includes(each) && !isOwn(each));
      if (open.length === 0) return undefined;
      const flags = open.map((each) => `--${each}`).join(", ");
      return `the values of ${flags} of Deployment ${namespace}/${name} are only known in its pod; pass them`;
    }
  }
}

/** For the terminal, in one line or two. */
export function settingsLine({ from, flags, hint }: PlanningSettings): string {
  const words = Object.entries(flags).map(([name, value]) => `--${name}=${shellWord(value)}`);
  const line = `judged by ${words.join(" ")}, from ${from}`;
  return hint === undefined ? line : `${line}\n${hint}`;
}
