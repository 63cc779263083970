// The words after `npm run TOOL --`. Each tool's help is the comment at the top of its file, and a flag
// that it does not know ends it before it begins anything.
import { readFileSync } from "node:fs";
import { basename, dirname } from "node:path";
import { parseArgs, type ParseArgsConfig } from "node:util";

/** Nothing was done: the words are wrong. */
const WRONG_WORDS = 1;

/**
 * As parseArgs reads them, by `config`. Ends the process where they ask for help (exit code 0, `file`'s
 * help and `more` on stdout), and where parseArgs does not take them (1, one line on stderr).
 */
export function wordsOf<const T extends ParseArgsConfig>(
  file: string,
  config: T,
  more = "",
): ReturnType<typeof parseArgs<T>> {
  const given = process.argv.slice(2);
  if (asksForHelp(given)) {
    process.stdout.write(`${helpOf(readFileSync(file, "utf8"))}\n${more}`);
    process.exit(0);
  }
  try {
    return parseArgs({ ...config, args: given }) as ReturnType<typeof parseArgs<T>>;
  } catch (error) {
    const [said = ""] = String(error instanceof Error ? error.message : error).split(/\. |\n/, 1);
    refuse(file, said);
  }
}

/** `--help` or `-h`, before a `--`. */
export function asksForHelp(given: readonly string[]): boolean {
  const end = given.indexOf("--");
  return given
    .slice(0, end === -1 ? given.length : end)
    .some((word) => word === "--help" || word === "-h");
}

/** Ends the process with one line that names what is wrong, and where the right words are. */
export function refuse(file: string, said: string): never {
  process.stderr.write(`${nameOf(file)}: ${said} (see --help)\n`);
  process.exit(WRONG_WORDS);
}

/** As package.json's scripts call it: `test:cluster` is tools/test-cluster.ts, `bench` is bench/main.ts. */
function nameOf(file: string): string {
  const name = basename(file, ".ts");
  return name === "main" ? basename(dirname(file)) : name.replace("-", ":");
}

/** The comment with which a source begins, without its slashes. */
export function helpOf(source: string): string {
  const lines = source.split("\n");
  const end = lines.findIndex((line) => !line.startsWith("//"));
  return lines
    .slice(0, end)
    .map((line) => line.replace(/^\/\/ ?/, ""))
    .join("\n");
}
