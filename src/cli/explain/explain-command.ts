// Declares the `secretcast explain` command. print-explain.ts does the work and is loaded on demand.
import type { ClusterCommand } from "../../inspect/kubectl/cluster-command.ts";
import { kubectlOptions, textFlag } from "../../inspect/kubectl/kubectl-flags.ts";
import { planningOptions } from "../../inspect/cluster/planning-settings.ts";

export const explainCommand: ClusterCommand = {
  words: "explain <name>",
  about: "Why a Secret is, or is not, copied: every rule on the way, and which one decided",
  options: (argv) =>
    planningOptions(kubectlOptions(argv))
      .positional("name", {
        type: "string",
        describe:
          "NAME, secret/NAME or configmap/NAME: a source, a copy, a pulling object, or any other",
      })
      .option(
        "in",
        textFlag("only of this namespace, rule by rule; else namespaces grouped by reason"),
      )
      .option(
        "since",
        textFlag(
          "also what is recorded since then, like 2h or 7d: Events, and who changed what last",
        ),
      )
      .example("$0 explain registry -n shared", "where it goes, and why not elsewhere")
      .example("$0 explain registry -n shared --in team-a", "every rule on the way to team-a")
      .example(
        "$0 explain registry -n team-a",
        "what the Secret in team-a is, and what becomes of it",
      )
      .example("$0 explain registry -n team-a --since 1h", "why it appeared there")
      .epilogue("Exit code: 0 explained; 1 there is nothing of that name, or an error."),
  run: async (given, program) => (await import("./print-explain.ts")).printExplain(given, program),
};
