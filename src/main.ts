// argv → command → exit code. Apart from the signals, the only file that uses process.
import { existsSync, readFileSync } from "node:fs";
import { isSea } from "node:sea";
import type { Program } from "./run/program-context.ts";
import { runProgram } from "./cli/program.ts";
import { terminationSignal } from "../packages/kube/library/termination.ts";
import { safeErrorText } from "../packages/kube/rest/error-text.ts";

const LAST_LINES_MS = 1000;
const SERVICE_ACCOUNT = "/var/run/secrets/kubernetes.io/serviceaccount";

export async function main(): Promise<void> {
  process.on("uncaughtException", crash);
  process.on("unhandledRejection", crash);
  // A closed pipe (`| head`) is not an error. A controller has its own listener and continues without its log.
  process.stdout.on("error", ({ code }: NodeJS.ErrnoException) => {
    if (process.stdout.listenerCount("error") > 1) return;
    if (code !== "EPIPE") process.stderr.write(`secretcast: stdout: ${code ?? "write failed"}\n`);
    process.exit(code === "EPIPE" ? 0 : 1);
  });
  process.stderr.on("error", () => undefined);
  const program: Program = {
    version: version(),
    executable: isSea() ? runtime() : undefined,
    env: process.env,
    clusterNamespace: clusterNamespace(),
    stdout: process.stdout,
    stderr: process.stderr,
    stdin: process.stdin,
    signal: terminationSignal(),
  };
  const code = await runProgram(process.argv.slice(2), program);
  // A pipe may still hold written text. The wait for a controller's log is limited, in case nothing reads it.
  if (process.stdout.listenerCount("error") > 1)
    setTimeout(() => process.exit(code), LAST_LINES_MS);
  // The error of a full disk is an event that follows this callback.
  process.stdout.write("", () => setImmediate(() => process.exit(code)));
}

/** The state of the process is unknown. Log the error, and let a new process start from the cluster state. */
function crash(error: unknown): never {
  process.stderr.write(`secretcast: ${safeErrorText(error)}\n`);
  process.exit(1);
}

function version(): string {
  const text = readFileSync(new URL("../package.json", import.meta.url), "utf8");
  const { version }: { version: string } = JSON.parse(text);
  return version;
}

/** "Node 24.21.0, linux-x64" */
function runtime(): string {
  const { platform, arch, versions } = process;
  return `Node ${versions.node}, ${platform === "win32" ? "win" : platform}-${arch}`;
}

/** The pod's namespace, which the kubelet writes beside the token. Undefined outside a cluster. */
function clusterNamespace(): string | undefined {
  const file = `${SERVICE_ACCOUNT}/namespace`;
  if (!process.env["KUBERNETES_SERVICE_HOST"] || !existsSync(file)) return undefined;
  return readFileSync(file, "utf8").trim();
}
