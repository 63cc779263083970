// Refuses arguments that yargs accepts in another meaning than a user of kubectl expects.
import { UsageError } from "../controller/settings/config.ts";

/**
 * yargs takes any text but `true` after a switch for false: `--dry-run=client`, as kubectl has it,
 * would write.
 */
export function refuseOtherThanSwitches(
  argv: readonly string[],
  given: Readonly<Record<string, unknown>>,
): void {
  for (const word of argv) {
    const [, name = "", text = ""] = /^--?([^=]+)=(.*)$/s.exec(word) ?? [];
    const isSwitch = typeof given[name] === "boolean";
    if (isSwitch && text !== "true" && text !== "false")
      throw new UsageError(`--${name}: "${text}" is neither true nor false`);
  }
}

/** yargs ignores what follows `--`: `run -- --dry-run` would write. */
export function refuseWordsAfterEnd(argv: readonly string[]): void {
  const end = argv.indexOf("--");
  const word = end < 0 ? undefined : argv[end + 1];
  if (word === undefined) return;
  const advice = 'leave "--" out (see secretcast --help)';
  throw new UsageError(`nothing is read after "--", and "${word}" is there: ${advice}`);
}

export function portOf(text: unknown): number {
  if (typeof text !== "string") throw new UsageError("--port is given more than once");
  const port = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (port <= 65_535) return port;
  throw new UsageError(`--port: "${text}" is not a whole number from 0 to 65535`);
}
