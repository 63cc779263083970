// Declares the `secretcast check` command. print-check.ts does the work and is loaded on demand.
import type { ClusterCommand } from "../../inspect/kubectl/cluster-command.ts";
import { kubectlOptions } from "../../inspect/kubectl/kubectl-flags.ts";
import { IN_CLUSTER_FLAGS, settingsOptions } from "../../inspect/kubectl/run-flags.ts";

export const checkCommand: ClusterCommand = {
  words: "check",
  about: "Before and after installing: server, rights, guards, other replicators, size",
  options: (argv) =>
    settingsOptions(kubectlOptions(argv), IN_CLUSTER_FLAGS)
      .example(
        "$0 check",
        "the rights of the installed controller and yours; before installing, yours",
      )
      .example(
        "$0 check --as system:serviceaccount:secretcast:secretcast",
        "the rights of that account; all else is read as yourself",
      )
      .example("$0 check --namespaces team-a,team-b", "with rights in these namespaces alone")
      .epilogue("Exit code: 0 all that is needed is there; 1 something is not, or an error."),
  run: async (given, program) => (await import("./print-check.ts")).printCheck(given, program),
};
