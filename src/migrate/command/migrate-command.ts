// Declares the `secretcast migrate` command. migrate.ts does the work and is loaded on demand.
import type { ClusterCommand } from "../../inspect/kubectl/cluster-command.ts";
import { kubectlOptions, switchFlag, textFlag } from "../../inspect/kubectl/kubectl-flags.ts";
import { planningOptions } from "../../inspect/cluster/planning-settings.ts";

const GROUP = "The move:";

export const migrateCommand: ClusterCommand = {
  words: "migrate",
  about: "Move from another replicator: its sources, rules and copies",
  options: (argv) =>
    planningOptions(kubectlOptions(argv))
      .option("from", {
        ...textFlag(
          "reflector, replicator, kubed, clustersecret, kyverno, projection or external-secrets",
        ),
        group: GROUP,
      })
      .option("filename", {
        ...textFlag(
          "look at files instead of a cluster: a file, a folder or - for stdin, YAML or JSON; repeatable",
        ),
        alias: "f",
        group: GROUP,
      })
      .option("recursive", {
        ...switchFlag("with -f: the folders of a folder too"),
        alias: "R",
        group: GROUP,
      })
      .option("write", { type: "boolean", describe: "do it; else it is only shown", group: GROUP })
      .option("yes", { ...switchFlag("with --write: do not ask first"), alias: "y", group: GROUP })
      .option("adopt-drifted", {
        ...textFlag(
          "NAMESPACE/NAME of a copy to adopt although it is not surely a correct one; repeatable",
        ),
        group: GROUP,
      })
      .option("by-list", {
        ...switchFlag(
          "enter sources that something else makes into the source list, and write none of them",
        ),
        group: GROUP,
      })
      .option("cleanup", {
        ...switchFlag(
          "the second step: take the old tool's marks and annotations off what is ours",
        ),
        group: GROUP,
      })
      .option("print-patches", {
        ...switchFlag("print the new annotations as patches for kustomize"),
        group: GROUP,
      })
      .option("old-args", {
        ...textFlag("the old tool's own flags, where its Deployment is not there to be read"),
        group: GROUP,
      })
      .option("new-sources-in", {
        ...textFlag("namespace for sources whose data are in no Secret; the controller's own"),
        group: GROUP,
      })
      .option("although-running", {
        ...switchFlag("write although a Pod runs the old tool, or Pods may not be listed"),
        group: GROUP,
      })
      .example("$0 migrate --from reflector", "what a move would do, written nowhere")
      .example("$0 migrate --from reflector --write", "do it; asks first")
      .example("$0 migrate --from kubed -f cluster.json -o json", "of a dump of a cluster")
      .epilogue("Exit code: 0 complete; 2 something does not move, and it is said what; 1 error."),
  run: async (given, program) => (await import("./migrate.ts")).migrate(given, program),
};
