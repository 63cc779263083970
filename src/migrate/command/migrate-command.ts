// Declares the `secretcast migrate` command. migrate.ts does the work and is loaded on demand.
import type { ClusterCommand } from "../../inspect/kubectl/cluster-command.ts";
import { kubectlOptions, switchFlag, textFlag } from "../../inspect/kubectl/kubectl-flags.ts";
import { planningOptions } from "../../inspect/cluster/planning-settings.ts";

const OPTIONS = {
  from: textFlag(
    "reflector, replicator, kubed, clustersecret, kyverno, projection or external-secrets",
  ),
  filename: {
    ...textFlag(
      "look at files instead of a cluster: a file, a folder or - for stdin, YAML or JSON; repeatable",
    ),
    alias: "f",
  },
  recursive: { ...switchFlag("with -f: the folders of a folder too"), alias: "R" },
  write: { type: "boolean", describe: "do it; else it is only shown" },
  yes: { ...switchFlag("with --write: do not ask first"), alias: "y" },
  "adopt-drifted": textFlag(
    "NAMESPACE/NAME of a copy to adopt although it is not surely a correct one; repeatable",
  ),
  gain: textFlag(
    "NAMESPACE/NAME of a source that may serve namespaces without a copy of it now; repeatable",
  ),
  "by-list": switchFlag(
    "enter sources that something else makes into the source list, and write none of them",
  ),
  cleanup: switchFlag(
    "the second step: take the old tool's marks and annotations off what is ours",
  ),
  "print-patches": switchFlag("print the new annotations as patches for kustomize"),
  "old-args": textFlag("the old tool's own flags, where its Deployment is not there to be read"),
  "new-sources-in": textFlag(
    "namespace for sources whose data are in no Secret; the controller's own",
  ),
  "although-running": switchFlag(
    "write although a Pod runs the old tool, or Pods may not be listed",
  ),
} as const;

export const migrateCommand: ClusterCommand = {
  words: "migrate",
  about: "Move from another replicator: its sources, rules and copies",
  options: (argv) =>
    planningOptions(kubectlOptions(argv))
      .options(OPTIONS)
      .group(Object.keys(OPTIONS), "The move:")
      .example("$0 migrate --from reflector", "what a move would do, written nowhere")
      .example("$0 migrate --from reflector --write", "do it; asks first")
      .example("$0 migrate --from kubed -f cluster.json -o json", "of a dump of a cluster")
      .epilogue("Exit code: 0 complete; 2 something does not move, and it is said what; 1 error."),
  run: async (given, program) => (await import("./migrate.ts")).migrate(given, program),
};
