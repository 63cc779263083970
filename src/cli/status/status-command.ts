// Declares the `secretcast status` command. print-status.ts does the work and is loaded on demand.
import type { ClusterCommand } from "../../inspect/kubectl/cluster-command.ts";
import { kubectlOptions, switchFlag } from "../../inspect/kubectl/kubectl-flags.ts";
import { waitOptions } from "../../inspect/kubectl/waiting.ts";
import { planningOptions } from "../../inspect/cluster/planning-settings.ts";

export const statusCommand: ClusterCommand = {
  words: "status",
  about: "Each source and what became of its copies",
  options: (argv) =>
    waitOptions(planningOptions(kubectlOptions(argv)), "until everything is current")
      .option("failing", switchFlag("only sources with something that somebody has to look at"))
      .option("watch", { type: "boolean", alias: "w", describe: "go on, and print what changes" })
      .example("$0 status", "all sources, and what is not as it should be")
      .example("$0 status --failing -o wide", "only what has to be looked at")
      .example("$0 status --wait --timeout 2m", "after kubectl apply, in a pipeline")
      .epilogue(
        "It reads the page of the running controller through a port-forward where your rights allow; else it plans from the cluster, and says so.\nExit code: 0 all current, 2 not, 1 error.",
      ),
  run: async (given, program) => (await import("./print-status.ts")).printStatus(given, program),
};
