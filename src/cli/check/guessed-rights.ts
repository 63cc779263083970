// Whether the rights that a check asks for are those of the controller.
import type { FlagValues } from "../../controller/settings/config.ts";
import { environmentName, type FlagName } from "../../controller/settings/flags.ts";
import type { Program } from "../../run/program-context.ts";
import type { Installed } from "../../inspect/cluster/installed-controller.ts";
import { RIGHTS_FLAGS } from "../rights/needed-rights.ts";

/**
 * Whether the needed rights are only guessed, because the controller's settings cannot be read. Advice to
 * create a ClusterRole would then grant rights on all Secrets where a few namespaces are served.
 */
export function isGuessed(
  own: FlagValues,
  { env }: Pick<Program, "env">,
  installed: Installed,
): boolean {
  const isOwn = (name: FlagName): boolean =>
    own[name] !== undefined || Boolean(env[environmentName(name)]);
  switch (installed.kind) {
    case "none":
    case "unasked":
      return false;
    case "found": {
      const { unread } = installed.controller;
      const open = RIGHTS_FLAGS.filter((name) => !isOwn(name));
      return unread.includes("envFrom") || open.some((name) => unread.includes(name));
    }
    case "several":
    case "unknown":
      // A command line with one of the controller's flags, as `helm test` has it, leaves out only defaults.
      return !RIGHTS_FLAGS.some((name) => own[name] !== undefined) && !isOwn("namespaces");
  }
}
