// What the parts of a release are made with: programs that must succeed, and archives that are equal for
// equal content.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";

export const ROOT = join(import.meta.dirname, "../..");

type Around = {
  /** The root of the clone, unless it is given. */
  readonly cwd?: string;
  /** Beside what this process has. */
  readonly env?: NodeJS.ProcessEnv;
  readonly input?: string;
};

/** Answers with what the program printed, and throws what it complained of. */
export function run(
  command: string,
  words: readonly string[],
  { cwd = ROOT, env = {}, input = "" }: Around = {},
): string {
  const { status, stdout, stderr, error } = spawnSync(command, words, {
    cwd,
    encoding: "utf8",
    env: { ...process.env, ...env },
    input,
    maxBuffer: 64 * 2 ** 20,
  });
  if (status === 0) return stdout;
  throw new Error(`${command} ${words[0] ?? ""}: ${error?.message ?? stderr.trim()}`);
}

/** In hexadecimal digits. */
export function sha256(content: Buffer | string): string {
  return createHash("sha256").update(content).digest("hex");
}

export const sha256OfFile = (file: string): string => sha256(readFileSync(file));

/** The same bytes for the same content, whoever packs it and when; `seconds` of the epoch, `level` of gzip. */
export function archive(
  folder: string,
  what: readonly string[],
  file: string,
  seconds: number,
  level = 9,
): void {
  const owner = ["--owner=0", "--group=0", "--numeric-owner", "--mode=u=rwX,go=rX"];
  const words = ["--sort=name", `--mtime=@${seconds}`, ...owner, "--format=ustar"];
  const gzip = `--use-compress-program=gzip -n -${level}`;
  run("tar", [...words, gzip, "-C", folder, "-cf", file, ...what]);
}
