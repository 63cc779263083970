// `secretcast check` as a word of the command line; the work is in print-check.ts, loaded when asked for.
import { FLAGS, type Flag } from "../../config/flags.ts";
import type { ClusterCommand } from "../kubectl/cluster-command.ts";
import { kubectlOptions } from "../kubectl/kubectl-flags.ts";
import { OF_THE_CONNECTION } from "./checked-settings.ts";

export const checkCommand: ClusterCommand = {
  words: "check",
  about: "Before and after installing: server, rights, guards, other replicators, size",
  options: (argv) => {
    kubectlOptions(argv);
    for (const { name, kind, description } of FLAGS as readonly Flag[]) {
      if (OF_THE_CONNECTION.includes(name)) continue;
      argv.option(name, {
        type: kind === "switch" ? "boolean" : "string",
        describe: description,
        requiresArg: kind !== "switch",
        group: "Settings, as flags of run (else those of the controller that is installed):",
      });
    }
    return argv
      .example("$0 check", "what a controller with the default flags would need, and may you do it")
      .example(
        "$0 check --as system:serviceaccount:secretcast:secretcast",
        "the rights of the controller's account",
      )
      .example("$0 check --namespaces team-a,team-b", "with rights in these namespaces alone")
      .epilogue("Exit code: 0 all that is needed is there; 1 something is not, or an error.");
  },
  run: async (given, program) => (await import("./print-check.ts")).printCheck(given, program),
};
