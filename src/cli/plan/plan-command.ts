// Declares the `secretcast plan` command. print-plan.ts does the work and is loaded on demand.
import type { ClusterCommand } from "../../inspect/kubectl/cluster-command.ts";
import { kubectlOptions, switchFlag, textFlag } from "../../inspect/kubectl/kubectl-flags.ts";
import { planningOptions } from "../../inspect/cluster/planning-settings.ts";

export const planCommand: ClusterCommand = {
  words: "plan",
  about: "What a run would write now, without writing",
  options: (argv) =>
    planningOptions(kubectlOptions(argv))
      .option("filename", {
        ...textFlag(
          "plan files instead of a cluster: a file, a folder or - for stdin, YAML or JSON; repeatable",
        ),
        alias: "f",
      })
      .option("recursive", { ...switchFlag("with -f: the folders of a folder too"), alias: "R" })
      .option(
        "expect",
        textFlag("compare with the verdicts of this file, as plan -o yaml prints them"),
      )
      .option(
        "base",
        textFlag(
          "with -f: the files before the change; prints who gains and loses what; repeatable",
        ),
      )
      .option(
        "allow-readers",
        textFlag("with --base: globs of namespaces that may gain a copy; others give exit code 2"),
      )
      .example("$0 plan", "what would be written in this cluster, and why")
      .example("$0 plan -n team-a -o wide", "only in team-a, with every reason")
      .example("kustomize build . | $0 plan -f -", "of what is about to be applied")
      .example("$0 plan -f manifests -o yaml > expected.yaml", "the verdicts, to keep in Git")
      .example("$0 plan -f manifests --expect expected.yaml", "in CI: are they still so?")
      .example("$0 plan --base old -f new -o markdown", "who gains and loses what, for a comment")
      .epilogue(
        "Exit code: 0 nothing to do, or as expected; 2 changes pending, or other than expected; with --base 2 for a new reader that is not allowed, or a source that is refused or has no effect; 1 error.",
      ),
  run: async (given, program) => (await import("./print-plan.ts")).printPlan(given, program),
};
