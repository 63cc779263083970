// What the command line needs of a command that looks at a cluster: its words, and how it is loaded.
import type { Argv } from "yargs";
import type { Program } from "../../run/program-context.ts";
import type { Given } from "./kubectl-flags.ts";

export type ClusterCommand = {
  /** As yargs reads it: `explain <name>`. */
  readonly words: string;
  /** One line of the help. */
  readonly about: string;
  readonly options: (argv: Argv) => Argv;
  /** Resolves with the exit code; rejects with an error whose message is the line for the user. */
  readonly run: (given: Given, program: Program) => Promise<number>;
};
