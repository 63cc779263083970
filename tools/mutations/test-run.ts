// One run of test files, or of chaos, in a copy of the tree: ends at the first test that fails, and
// after a time that a run without a mutation never needs.
import { spawn } from "node:child_process";

const MOST_MEMORY_MIB = 1_500;

type Ending =
  | { readonly kind: "passed" }
  | {
      readonly kind: "failed";
      /** The test that failed; none where the process ended otherwise. */
      readonly failed: string | undefined;
      readonly why: string;
    };

/** Asks the files in one process, as long as none of them fails. */
export function runTests(cwd: string, tests: readonly string[], limitMs: number): Promise<Ending> {
  const args = ["--test", "--test-isolation=none", "--test-reporter=tap", ...tests];
  return run(cwd, args, limitMs, {});
}

export function run(
  cwd: string,
  args: readonly string[],
  limitMs: number,
  env: Readonly<Record<string, string>>,
): Promise<Ending> {
  return new Promise((resolve) => {
    // A group of its own: a program that a test started ends with it.
    const child = spawn(process.execPath, [`--max-old-space-size=${MOST_MEMORY_MIB}`, ...args], {
      cwd,
      detached: true,
      stdio: ["ignore", "pipe", "ignore"],
      env: { NODE_COMPILE_CACHE: "node_modules/.cache/node-compile", ...process.env, ...env },
    });
    let said = "";
    let failed: string | undefined;
    let late = false;
    const kill = (): void => {
      try {
        if (child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
      } catch {
        // It has ended by itself.
      }
    };
    const limit = setTimeout(() => {
      late = true;
      kill();
    }, limitMs);
    child.stdout.setEncoding("utf8");
    child.stdout.on("data", (chunk: string) => {
      said = (said + chunk).slice(-20_000);
      failed ??= /^\s*not ok \d+ - (.*)\n/m.exec(said)?.[1];
      if (failed !== undefined) kill();
    });
    child.on("close", (code) => {
      clearTimeout(limit);
      const why = late ? "no end within its time" : `exit code ${code}`;
      if (failed === undefined && code === 0) resolve({ kind: "passed" });
      else resolve({ kind: "failed", failed, why });
    });
  });
}
