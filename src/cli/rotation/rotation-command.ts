// Declares the `secretcast rotation` command. print-rotation.ts does the work and is loaded on demand.
import { planningOptions } from "../../inspect/cluster/planning-settings.ts";
import type { ClusterCommand } from "../../inspect/kubectl/cluster-command.ts";
import { kubectlOptions, textFlag } from "../../inspect/kubectl/kubectl-flags.ts";
import { waitOptions } from "../../inspect/kubectl/waiting.ts";

export const rotationCommand: ClusterCommand = {
  words: "rotation <name>",
  about: "Whether the old value of a source may be revoked, and which Pods still hold it",
  options: (argv) =>
    waitOptions(planningOptions(kubectlOptions(argv)), "until the old value may be revoked")
      .positional("name", {
        type: "string",
        describe: "NAME, secret/NAME or configmap/NAME of a source",
      })
      .option(
        "sync-period",
        textFlag("how long the kubelets take at most to refresh a volume, like 2m [default: 2m]"),
      )
      .example("$0 rotation db -n platform", "each copy, and the Pods to restart")
      .example("$0 rotation db -n platform --wait --timeout 10m", "in the pipeline that rotates")
      .epilogue(
        "It reads Secrets and Pods with your own rights, and prints no value.\nExit code: 0 the old value may be revoked; 2 something still has it, or may have it; 1 an error, or something could not be read.",
      ),
  run: async (given, program) =>
    (await import("./print-rotation.ts")).printRotation(given, program),
};
