// With which settings a cluster is checked: the flags given, then those of the controller that is
// installed, then the defaults of one that runs in a cluster.
import { readConfig, type Config, type FlagValues } from "../../config/config.ts";
import type { FlagName } from "../../config/flags.ts";
import { readPlannerSettings } from "../../config/planner-settings.ts";
import type { Program } from "../run/program-context.ts";
import { FLAG_NAMES } from "../kubectl/run-flags.ts";
import type { Installed } from "../world/installed-controller.ts";

/** All but those that say which cluster is meant, and not how a controller runs in it. */
export const CHECKED_FLAGS: readonly FlagName[] = FLAG_NAMES.filter(
  (name) => name !== "kubeconfig" && name !== "context",
);

/** `home`: the namespace of a controller that is not installed yet. */
export function checkedConfig(
  own: FlagValues,
  { env }: Pick<Program, "env">,
  installed: Installed,
  home: string,
): Config {
  const controller = installed.kind === "found" ? installed.controller : undefined;
  const { kubeconfig: _, context: __, ...flags } = { ...controller?.flags, ...own };
  const around = {
    env: { ...env, SECRETCAST_KUBECONFIG: undefined, SECRETCAST_CONTEXT: undefined },
    clusterNamespace: controller?.namespace ?? home,
    terminal: false,
  };
  const config = readConfig(flags, around);
  // Throws where a namespace or a glob is none.
  readPlannerSettings(config);
  return config;
}

/** Whose settings they are, and who is asked about, in a line. */
export function checkedLine(installed: Installed, own: FlagValues, as: string | undefined): string {
  const first = Object.keys(own).length > 0 ? "the flags given, then " : "";
  const rest =
    installed.kind === "found"
      ? `those of Deployment ${installed.controller.namespace}/${installed.controller.name}`
      : `the defaults (${WHY[installed.kind]})`;
  const whose = as === undefined ? "yours; the controller's by --as" : `those of ${as}`;
  return `settings: ${first}${rest}; rights: ${whose}`;
}

const WHY: Readonly<Record<Exclude<Installed["kind"], "found">, string>> = {
  unasked: "no cluster was asked",
  none: "no controller is installed",
  several: "several controllers are installed: -n chooses one",
  unknown: "whether a controller is installed cannot be read",
};
