// Declares the `secretcast rights` command. print-rights.ts does the work and is loaded on demand.
import { textFlag } from "../../inspect/kubectl/kubectl-flags.ts";
import type { ClusterCommand } from "../../inspect/kubectl/cluster-command.ts";
import { FLAG_NAMES, runOptions } from "../../inspect/kubectl/run-flags.ts";
import { RIGHTS_FLAGS } from "./needed-rights.ts";

// A command line of `run` is taken as it is. The help shows the flags that change the rights.
const OTHER_FLAGS = Object.fromEntries(
  FLAG_NAMES.filter((name) => !RIGHTS_FLAGS.includes(name)).map((name) => [name, true]),
);

export const rightsCommand: ClusterCommand = {
  words: "rights",
  about: "Print the smallest RBAC manifests for the given flags of run",
  options: (argv) =>
    runOptions(argv, OTHER_FLAGS)
      .option(
        "service-account",
        textFlag(
          "NAMESPACE/NAME of the account that gets the rights [default: secretcast in the namespace of the controller]",
        ),
      )
      .option("namespace", {
        ...textFlag(
          "namespace of the controller [default: that of --service-account, else secretcast]",
        ),
        alias: "n",
      })
      .option("output", { ...textFlag("yaml or json"), alias: "o", default: "yaml" })
      .example(
        "$0 rights --only-names registry | kubectl apply -f -",
        "no right to read other Secrets",
      )
      .example("$0 rights --namespaces team-a,team-b", "Roles in these namespaces, no ClusterRole")
      .epilogue("It asks no cluster. Exit code: 0 printed; 1 an error."),
  run: async (given, program) => (await import("./print-rights.ts")).printRights(given, program),
};
