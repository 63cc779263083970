// The declaration of a command that reads a cluster: its arguments, and how it is loaded.
import type { Argv } from "yargs";
import type { Program } from "../../run/program-context.ts";
import type { Args } from "./kubectl-flags.ts";

export type ClusterCommand = {
  /** As yargs reads it: `explain <name>`. */
  readonly words: string;
  /** One line of the help. */
  readonly about: string;
  readonly options: (argv: Argv) => Argv;
  /** Resolves with the exit code. Rejects with an error whose message is printed for the user. */
  readonly run: (args: Args, program: Program) => Promise<number>;
};
