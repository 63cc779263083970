// The kubectl on PATH against one server, with a home folder and caches of its own, so that nothing
// of the machine's configuration leaks in and nothing of the test's leaks out.
import { execFile, execFileSync, spawn, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export type KubectlResult = {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
};

export type RunOptions = {
  readonly stdin?: string;
  readonly env?: Readonly<Record<string, string>>;
};

/** Why kubectl cannot be run here, or undefined when it can. */
export function kubectlMissing(): string | undefined {
  try {
    execFileSync("kubectl", ["version", "--client"], { stdio: "ignore" });
    return undefined;
  } catch {
    return "there is no kubectl on PATH";
  }
}

/** One run with this kubeconfig while this process waits, whatever the exit code. */
export function tryKubectl(
  kubeconfig: string,
  words: readonly string[],
  input = "",
): KubectlResult {
  const given = ["--kubeconfig", kubeconfig, ...words];
  const { status, stdout, stderr } = spawnSync("kubectl", given, { encoding: "utf8", input });
  return { code: status ?? -1, stdout, stderr };
}

/** The output of such a run, which must succeed. */
export function kubectlAt(kubeconfig: string, words: readonly string[], input?: string): string {
  const { code, stdout, stderr } = tryKubectl(kubeconfig, words, input);
  if (code === 0) return stdout;
  throw new Error(`kubectl ${words.join(" ")}: exit code ${code}: ${stderr}${stdout}`);
}

/** As kubectlAt, and without a warning. */
export function quietKubectl(kubeconfig: string, words: readonly string[]): void {
  const { code, stderr } = tryKubectl(kubeconfig, words);
  if (code !== 0 || stderr !== "") throw new Error(`kubectl ${words.join(" ")}: ${stderr}`);
}

export class Kubectl {
  readonly #home = mkdtempSync(join(tmpdir(), "kubectl-"));
  readonly #env: Readonly<Record<string, string>>;

  constructor(kubeconfig: string) {
    const config = join(this.#home, "config");
    writeFileSync(config, kubeconfig);
    this.#env = {
      PATH: process.env["PATH"] ?? "",
      HOME: this.#home,
      KUBECONFIG: config,
      KUBECACHEDIR: join(this.#home, "cache"),
    };
  }

  /** Runs to the end, whatever the exit code. */
  try(args: readonly string[], options: RunOptions = {}): Promise<KubectlResult> {
    return new Promise((resolve) => {
      const env = { ...this.#env, ...options.env };
      const child = execFile("kubectl", args, { env }, (error, stdout, stderr) => {
        const code = error === null ? 0 : typeof error.code === "number" ? error.code : -1;
        resolve({ code, stdout, stderr });
      });
      child.stdin?.end(options.stdin ?? "");
    });
  }

  /** The output of a run that must succeed. */
  async run(args: readonly string[], options: RunOptions = {}): Promise<string> {
    const { code, stdout, stderr } = await this.try(args, options);
    if (code === 0) return stdout;
    throw new Error(`kubectl ${args.join(" ")}: exit code ${code}: ${stderr}${stdout}`);
  }

  /** A run that goes on until `stop`, with what it has printed so far. */
  start(args: readonly string[]): { output(): string; stop(): Promise<void> } {
    const child = spawn("kubectl", args, {
      env: this.#env,
      stdio: ["ignore", "pipe", "inherit"],
    });
    let text = "";
    child.stdout.setEncoding("utf8").on("data", (chunk: string) => void (text += chunk));
    const ended = new Promise<void>((resolve) => void child.on("close", () => resolve()));
    return {
      output: () => text,
      stop: () => {
        child.kill("SIGTERM");
        return ended;
      },
    };
  }

  close(): void {
    rmSync(this.#home, { recursive: true, force: true });
  }
}
