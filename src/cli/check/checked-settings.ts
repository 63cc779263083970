// The settings with which a cluster is checked: those of a controller that runs in it, installed or not.
import type { FlagValues } from "../../config/config.ts";
import type { FlagName } from "../../config/flags.ts";
import type { Program } from "../run/program-context.ts";
import { FLAG_NAMES } from "../kubectl/run-flags.ts";
import type { Installed } from "../world/installed-controller.ts";
import { readSettings, type PlanningSettings } from "../world/planning-settings.ts";

/** All except those that say which cluster is meant, and not how a controller runs in it. */
export const CHECKED_FLAGS: readonly FlagName[] = FLAG_NAMES.filter(
  (name) => name !== "kubeconfig" && name !== "context",
);

/** `home`: the namespace of a controller that is not installed yet. */
export function checkedSettings(
  own: FlagValues,
  program: Pick<Program, "env">,
  installed: Installed,
  home: string,
): PlanningSettings {
  return readSettings(CHECKED_FLAGS, own, program, installed, home);
}
