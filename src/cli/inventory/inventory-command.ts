// Declares the `secretcast inventory` command. print-inventory.ts does the work and is loaded on demand.
import type { ClusterCommand } from "../../inspect/kubectl/cluster-command.ts";
import { kubectlOptions, switchFlag, textFlag } from "../../inspect/kubectl/kubectl-flags.ts";
import { planningOptions } from "../../inspect/cluster/planning-settings.ts";

export const inventoryCommand: ClusterCommand = {
  words: "inventory",
  about: "Each source with its copies, the age of its value, and who may read it",
  options: (argv) =>
    planningOptions(kubectlOptions(argv))
      .option("output", textFlag("wide, json, yaml, name or csv"))
      .option("readers", switchFlag("who may read the source or a copy, by RBAC"))
      .option(
        "certificates",
        switchFlag("read tls.crt of the sources: subject, issuer and dates; needs get on them"),
      )
      .option("max-age", textFlag("exit code 2 if a value is, or may be, older, like 90d or 2160h"))
      .option(
        "min-validity",
        textFlag("with --certificates: exit code 2 if one expires sooner, like 30d"),
      )
      .example("$0 inventory --max-age 90d", "values that were not changed for 90 days")
      .example("$0 inventory --certificates --min-validity 30d", "certificates that expire soon")
      .example("$0 inventory --readers -o csv", "one line for each reader, for an audit")
      .epilogue(
        "Without --certificates it requests no data of any Secret.\nExit code: 0 printed; 1 something could not be read, or an error; 2 above a limit.",
      ),
  run: async (given, program) =>
    (await import("./print-inventory.ts")).printInventory(given, program),
};
