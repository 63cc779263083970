// The flags of `run` on a command line: declared as options, and read as text. config.ts parses the values,
// so the environment gives the same errors.
import type { Argv } from "yargs";
import { UsageError, type FlagValues } from "../../controller/settings/config.ts";
import { FLAGS, type Flag, type FlagName } from "../../controller/settings/flags.ts";

export const FLAG_NAMES: readonly FlagName[] = FLAGS.map(({ name }) => name);

/** All flags except those that select the cluster and do not affect how a controller runs in it. */
export const IN_CLUSTER_FLAGS: readonly FlagName[] = FLAG_NAMES.filter(
  (name) => name !== "kubeconfig" && name !== "context",
);

/**
 * Declares the flags as `run` does. Flags in `hides` are accepted but not shown. The help prints the values of
 * `defaults` in place of those of `run`.
 */
export function runOptions(argv: Argv, hides: FlagValues = {}, defaults: FlagValues = {}): Argv {
  for (const flag of FLAGS) {
    const value = defaults[flag.name] ?? flag.default;
    argv.option(flag.name, {
      ...optionOf(flag),
      describe: `${flag.description}${value && ` [default: ${value}]`}`,
      hidden: Object.hasOwn(hides, flag.name),
    });
  }
  return argv;
}

/**
 * Declares the flags for a command that uses the settings of a controller. Flags that are not given have
 * the controller's values.
 */
export function settingsOptions(argv: Argv, names: readonly FlagName[]): Argv {
  for (const flag of FLAGS) {
    if (!names.includes(flag.name)) continue;
    argv.option(flag.name, {
      ...optionOf(flag),
      describe: flag.description,
      group:
        "Settings, as flags of run (else the environment, the installed controller, the defaults):",
    });
  }
  return argv;
}

function optionOf({ kind }: Pick<Flag, "kind">) {
  return kind === "switch"
    ? ({ type: "boolean", requiresArg: false } as const)
    : ({ type: "string", requiresArg: true } as const);
}

/** The flags of `names` that were given. Each flag may be given once. */
export function givenFlags(
  parsed: Readonly<Record<string, unknown>>,
  names: readonly FlagName[],
): FlagValues {
  const given: Partial<Record<FlagName, string | boolean>> = {};
  for (const name of names) {
    const value = parsed[name];
    if (Array.isArray(value)) throw new UsageError(`--${name} is given more than once`);
    if (typeof value === "string" || typeof value === "boolean") given[name] = value;
  }
  return given;
}
