// The program in a process of its own, which is started again when it ends, as the
// kubelet does. What it says, in its log and on its pages, is searched for values.
import type { FlagValues } from "../../../src/controller/settings/config.ts";
import type { Ending } from "../../../packages/kube/testing/fault-proxy.ts";
import {
  spawnController,
  type ControllerProcess,
} from "../../support/programs/controller-process.ts";
import { leaks } from "../../support/programs/eavesdrop.ts";

export type WatchedOptions = {
  readonly endings: Ending;
  /** That of the image; undefined: this tree's. */
  readonly command: readonly string[] | undefined;
  readonly kubeconfig: string;
  readonly flags: FlagValues;
  /** None of these may be reported; each may be the beginning of a value. */
  readonly values: readonly string[];
  readonly onTold: (where: string) => void;
  /** It ended by itself, with this code; it is started again right after. */
  readonly onEnd: (life: number, code: number | null) => void;
  readonly onStart?: () => void;
  readonly onLine?: (line: string) => void;
};

export class WatchedProcess {
  readonly #options: WatchedOptions;
  #expectedEnd = false;
  #process: ControllerProcess;
  /** Which process it is; the first is 1. */
  life = 0;

  constructor(options: WatchedOptions) {
    this.#options = options;
    this.#process = this.#start();
  }

  get now(): ControllerProcess {
    return this.#process;
  }

  /** SIGKILL, and started again. */
  async kill(): Promise<void> {
    this.#expectedEnd = true;
    await this.#process.kill();
    this.again();
  }

  /** Started again, after a stop. */
  again(): void {
    this.#process = this.#start();
  }

  /** SIGTERM; resolves with the exit code. */
  stop(): Promise<number | null> {
    this.#expectedEnd = true;
    return this.#process.stop();
  }

  /** A page's text and whether it was answered well; undefined while nobody answers. */
  async page(url: string): Promise<{ readonly ok: boolean; readonly text: string } | undefined> {
    const answer = await fetch(url).catch(() => undefined);
    const text = await answer?.text().catch(() => undefined);
    if (answer === undefined || text === undefined) return undefined;
    this.#search(text, `on ${new URL(url).pathname}`);
    return { ok: answer.ok, text };
  }

  #start(): ControllerProcess {
    const { endings, command, kubeconfig, flags, onEnd, onStart, onLine } = this.#options;
    this.#expectedEnd = false;
    const life = ++this.life;
    onStart?.();
    const started = spawnController(endings, kubeconfig, flags, {
      ...(command && { command }),
      onLine: (line) => {
        this.#search(line, "in a line of its output");
        onLine?.(line);
      },
    });
    void started.heard.then((code) => {
      if (this.#expectedEnd || life !== this.life) return;
      // Before the next one begins, with which what this one said is forgotten.
      onEnd(life, code);
      this.#process = this.#start();
    });
    return started;
  }

  #search(text: string, where: string): void {
    if (leaks(text, this.#options.values).length > 0) this.#options.onTold(where);
  }
}
