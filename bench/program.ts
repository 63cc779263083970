// `secretcast run` as the image runs it, in a child process that is watched from outside: CPU and
// memory by the kernel, its log with the time of each line, its metrics as an operator reads them.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { runWords } from "../test/support/programs/controller-process.ts";
import { field } from "../test/support/api-server/http.ts";
import { eventually } from "../test/support/time/eventually.ts";
import { imageCommand } from "./image.ts";
import { limited } from "./memory-limit.ts";
import { cpuMs, memory, readBytes, type Memory } from "./proc.ts";
import type { How } from "./scorecard.ts";

type Line = { readonly at: number; readonly body: unknown };

export class Program {
  readonly pid: number;
  readonly startedAt: number;
  readonly #lines: Line[] = [];
  readonly #stop: () => Promise<unknown>;
  readonly #running: () => boolean;

  /** Stopped when the benchmark has ended, if not before. */
  constructor(
    how: How,
    kubeconfig: string,
    flags: Readonly<Record<string, string>>,
    limitMiB?: number,
  ) {
    const limit = limitMiB === undefined ? [] : limited(how, limitMiB);
    const words = [...limit, process.execPath, ...imageCommand(), ...runWords(kubeconfig, flags)];
    const [command = "", ...args] = words;
    this.startedAt = performance.now();
    const child = spawn(command, args, { stdio: ["ignore", "pipe", "inherit"] });
    if (child.pid === undefined) throw new Error("secretcast did not start");
    this.pid = child.pid;
    const ended = once(child, "exit");
    this.#running = () => child.exitCode === null && child.signalCode === null;
    createInterface(child.stdout).on("line", (line) =>
      this.#lines.push({ at: performance.now(), body: JSON.parse(line) }),
    );
    this.#stop = () => {
      child.kill("SIGCONT");
      child.kill("SIGTERM");
      return ended;
    };
    how.after(this.#stop);
  }

  /** Its last words, when it has ended by itself. */
  get ended(): string | undefined {
    if (this.#running()) return undefined;
    const isTold = ({ body }: Line): boolean =>
      field(body, "level") === "error" || String(field(body, "msg")).includes("lease");
    return [...this.#lines.filter(isTold).slice(-5), ...this.#lines.slice(-5)]
      .map(({ body }) => JSON.stringify(body))
      .join("; ");
  }

  stop(): Promise<unknown> {
    return this.#stop();
  }

  /** Holds the process still while something else is measured. */
  freeze(): void {
    process.kill(this.pid, "SIGSTOP");
  }

  thaw(): void {
    process.kill(this.pid, "SIGCONT");
  }

  get cpuMs(): number {
    return cpuMs(this.pid);
  }

  get memory(): Memory {
    return memory(this.pid);
  }

  get readBytes(): number {
    return readBytes(this.pid);
  }

  /** Lines of the log so far; a mark for `said`. */
  get mark(): number {
    return this.#lines.length;
  }

  /** The first line after `mark` with this message; resolves with the time at which it came. */
  async said(message: string, mark = 0, timeoutMs = 60_000): Promise<Line> {
    const find = (): Line | undefined =>
      this.#lines.slice(mark).find(({ body }) => field(body, "msg") === message);
    return eventually(`the log says "${message}"`, find, timeoutMs);
  }

  /** Milliseconds from the start of the process until the caches were filled. */
  async readyMs(timeoutMs = 300_000): Promise<number> {
    return (await this.said("caches filled", 0, timeoutMs)).at - this.startedAt;
  }

  /** All samples of a metric; `labels` as they stand in the text, such as `method="GET"`. */
  async metric(name: string, labels = ""): Promise<number> {
    const { body } = await this.said("serving probes and metrics");
    const text = await (await fetch(`http://${String(field(body, "address"))}/metrics`)).text();
    const samples = text
      .split("\n")
      .filter((line) => line.startsWith(`${name} `) || line.startsWith(`${name}{`))
      .filter((line) => line.includes(labels));
    return samples.reduce((total, line) => total + Number(line.slice(line.lastIndexOf(" "))), 0);
  }
}
