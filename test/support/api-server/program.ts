// Programs that a test starts beside itself (etcd, kube-apiserver): each writes to a log file, is
// stopped by signal, and does not outlive the test process, however that ends. A guardian (one small
// `sh`) holds the reading end of a pipe from us: when we are gone the pipe closes, and it kills what
// we had running and removes our folder. It promises nothing after the machine itself went down.
import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync, readFileSync, rmSync } from "node:fs";

// A fifth less CPU for the control plane's programs, for twice their memory.
const GO = { GOGC: "400", GOMEMLIMIT: "1GiB" };

// Each line it reads is the whole list of process ids that are alive now.
const GUARD = `while read -r line; do pids=$line; done; [ -n "$pids" ] && kill -9 $pids; [ -n "$1" ] && rm -rf "$1"`;

export class Guardian {
  readonly #shell: ChildProcess;
  readonly #pids = new Set<number>();
  readonly #folder: string | undefined;

  /** `folder` is removed at the end. */
  constructor(folder?: string) {
    this.#folder = folder;
    this.#shell = spawn("sh", ["-c", GUARD, "guardian", folder ?? ""], {
      stdio: ["pipe", "ignore", "ignore"],
      detached: true,
    });
    this.#shell.unref();
  }

  watch(pid: number): void {
    this.#pids.add(pid);
    this.#tell();
  }

  unwatch(pid: number): void {
    this.#pids.delete(pid);
    this.#tell();
  }

  /** Ends the guardian and removes the folder; whatever is still watched is killed first. */
  async dismiss(): Promise<void> {
    const ended = once(this.#shell, "exit");
    this.#shell.ref();
    this.#shell.stdin?.end();
    await ended;
    if (this.#folder !== undefined) rmSync(this.#folder, { recursive: true, force: true });
  }

  #tell(): void {
    this.#shell.stdin?.write(`${[...this.#pids].join(" ")}\n`);
  }
}

export class Program {
  readonly #guardian: Guardian;
  readonly #name: string;
  readonly #path: string;
  readonly #args: readonly string[];
  readonly #log: string;
  #child: ChildProcess | undefined;

  constructor(guardian: Guardian, folder: string, path: string, args: readonly string[]) {
    this.#guardian = guardian;
    this.#path = path;
    this.#name = path.slice(path.lastIndexOf("/") + 1);
    this.#args = args;
    this.#log = `${folder}/${this.#name}.log`;
  }

  start(): void {
    const log = openSync(this.#log, "a");
    const child = spawn(this.#path, this.#args, {
      stdio: ["ignore", log, log],
      env: { ...GO, ...process.env },
    });
    closeSync(log);
    // A program that cannot be started is reported by ready(); without a listener it would throw here.
    child.on("error", () => {});
    if (child.pid !== undefined) this.#guardian.watch(child.pid);
    this.#child = child;
  }

  /** Resolves when the process is gone; `signal` SIGTERM lets it finish, SIGKILL does not. */
  async stop(signal: NodeJS.Signals): Promise<void> {
    const child = this.#child;
    this.#child = undefined;
    if (child?.pid === undefined) return;
    if (child.exitCode === null && child.signalCode === null) {
      const ended = once(child, "exit");
      child.kill(signal);
      await ended;
    }
    this.#guardian.unwatch(child.pid);
  }

  /** Throws with the end of the log when the program has ended or never began. */
  assertRunning(): void {
    const child = this.#child;
    if (child?.pid !== undefined && child.exitCode === null && child.signalCode === null) return;
    throw new Error(`${this.#name} is not running; the end of its log:\n${this.#logTail()}`);
  }

  #logTail(): string {
    const lines = readFileSync(this.#log, "utf8").trimEnd().split("\n");
    return lines.slice(-15).join("\n");
  }
}
