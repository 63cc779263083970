// `secretcast run` as the image runs it, in a child process that is watched from outside: CPU and
// memory by the kernel, its log with the time of each line, its metrics as an operator reads them.
import {
  spawnController,
  type ControllerProcess,
} from "../test/support/programs/controller-process.ts";
import { field } from "../packages/sandbox/testing/http.ts";
import { eventually } from "../packages/kube/testing/eventually.ts";
import { imageCommand } from "./image.ts";
import { limited } from "./memory-limit.ts";
import { cpuMs, memory, readBytes, type Memory } from "./proc.ts";
import type { How } from "./scorecard.ts";

export class Program {
  readonly startedAt: number;
  /** When each line of its log came. */
  readonly #times: number[] = [];
  readonly #process: ControllerProcess;

  /** Stopped when the benchmark has ended, if not before. */
  constructor(
    how: How,
    kubeconfig: string,
    flags: Readonly<Record<string, string>>,
    limitMiB?: number,
  ) {
    const under = limitMiB === undefined ? [] : limited(how, limitMiB);
    const onLog = (): void => void this.#times.push(performance.now());
    const spawning = { command: imageCommand(), under, onLog };
    this.startedAt = performance.now();
    this.#process = spawnController(how, kubeconfig, flags, spawning);
    // One that is held still would not hear of its end.
    how.after(() => this.#process.running() && this.thaw());
  }

  get pid(): number {
    return this.#process.pid;
  }

  /** Its last words, when it has ended by itself. */
  get ended(): string | undefined {
    if (this.#process.running()) return undefined;
    const { log } = this.#process;
    const isTold = (line: unknown): boolean =>
      field(line, "level") === "error" || String(field(line, "msg")).includes("lease");
    return [...log.filter(isTold).slice(-5), ...log.slice(-5)]
      .map((line) => JSON.stringify(line))
      .join("; ");
  }

  /** It ends without a word. */
  async kill(): Promise<void> {
    await this.#process.kill();
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
    return this.#process.log.length;
  }

  /** The first line after `mark` with this message; resolves with the time at which it came. */
  async said(message: string, mark = 0, timeoutMs = 60_000): Promise<{ readonly at: number }> {
    const find = (): { readonly at: number } | undefined => {
      const { log } = this.#process;
      const index = log.findIndex((line, at) => at >= mark && field(line, "msg") === message);
      const at = this.#times[index];
      return at === undefined ? undefined : { at };
    };
    return eventually(`the log says "${message}"`, find, timeoutMs);
  }

  /** Milliseconds from the start of the process until the caches were filled. */
  async readyMs(timeoutMs = 300_000): Promise<number> {
    return (await this.said("caches filled", 0, timeoutMs)).at - this.startedAt;
  }

  /** The sum of a metric's samples; `labels` as they stand in the text, such as `method="GET"`. */
  metric(name: string, labels?: string): Promise<number> {
    return this.#process.metric(name, labels);
  }
}
