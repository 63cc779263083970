// Explains an argument that is not a known command or flag: what was typed, the likely intention, and where
// to find help. Like completion, it reads the help, so no second list can become outdated.
import type { HelpOf } from "./complete.ts";
import { nearest } from "./nearest.ts";

/** One line, without the program's name. `unknown`: as yargs calls them, flags without their dashes. */
export async function unknownWord(
  unknown: readonly string[],
  argv: readonly string[],
  helpOf: HelpOf,
): Promise<string> {
  const { commands, flags: general } = await helpOf("");
  const names = commands.map(({ name }) => name);
  const command = argv.find((word) => names.includes(word));
  const see = `(see secretcast ${command === undefined ? "" : `${command} `}--help)`;
  const [first = ""] = unknown;
  // Flags are unknown without their command.
  const word = command === undefined ? unknown.find((each) => argv.includes(each)) : undefined;
  if (word !== undefined) return `unknown command "${word}"${meant(nearest(word, names))} ${see}`;
  if (argv.includes(first)) return `unexpected word "${first}" ${see}`;
  const flag = flagCalled(first, argv);
  const flags = command === undefined ? general : (await helpOf(command)).flags;
  const known = flags.map(({ name }) => name);
  return `unknown flag ${flag}${meant(flagNear(flag, known))} ${see}`;
}

/** As it was typed, without its value. */
function flagCalled(unknown: string, argv: readonly string[]): string {
  const flags = argv
    .filter((word) => word.startsWith("-"))
    .map((word) => word.replace(/=.*$/s, ""));
  const typed = flags.find((flag) => flag.replace(/^--?(no-)?/, "") === unknown);
  // A single letter may be one of several after one dash.
  return typed ?? (unknown.length === 1 ? `-${unknown}` : `--${unknown}`);
}

/** `known` with their dashes. */
function flagNear(flag: string, known: readonly string[]): string | undefined {
  const near = (typed: string): string | undefined =>
    nearest(
      typed,
      known.map((each) => each.slice("--".length)),
    );
  // Single letters are too similar to guess.
  const name = flag.replace(/^-+/, "");
  if (name.length === 1) return undefined;
  const off = name.startsWith("no-") ? near(name.slice("no-".length)) : undefined;
  if (off !== undefined) return `--no-${off}`;
  const found = near(name);
  return found === undefined ? undefined : `--${found}`;
}

function meant(word: string | undefined): string {
  return word === undefined ? "" : `, did you mean ${word}?`;
}
