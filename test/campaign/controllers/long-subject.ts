// The controller under a long soak: the program as the image runs it, in a process of its own, so that
// its memory and its handles are nobody else's. It is started again when it ends, as the kubelet does.
import { readdirSync } from "node:fs";
import { cpuMs, memory } from "../../../bench/proc.ts";
import { imageCommand } from "../../../bench/image.ts";
import type { FlagValues } from "../../../src/controller/settings/config.ts";
import type { Ending } from "../../support/api-server/fault-proxy.ts";
import {
  spawnController,
  type ControllerProcess,
} from "../../support/programs/controller-process.ts";
import type { Vitals } from "../judges/records.ts";
import { tellsMarker } from "../actors/world.ts";

const LONG_FLAGS: FlagValues = {
  "source-namespaces": "shared",
  "exclude-namespaces": "controller",
  "delete-grace": "2s",
  "source-grace": "2s",
  "delete-hold": "0",
  "delete-limit": "0",
  resync: "1m",
  "leader-elect": "true",
  "lease-namespace": "secretcast",
};
const METRICS = {
  heap: "nodejs_heap_size_used_bytes",
  held: "nodejs_heap_size_total_bytes",
  resources: "nodejs_active_resources_total",
  lag: "nodejs_eventloop_lag_p99_seconds",
} as const;
const MIB = 2 ** 20;

export type Told = {
  /** A process ended by itself. */
  readonly onEnd: (life: number, code: number | null, last: string) => void;
  readonly onProblem: (text: string) => void;
};

export class LongSubject {
  readonly #endings: Ending;
  readonly #kubeconfig: string;
  readonly #told: Told;
  #process: ControllerProcess;
  #stopping = false;
  /** The ends of its last lines: which Lease was lost is not in the very last. */
  #last: readonly string[] = [];
  /** Which process it is; the first is 1. */
  life = 1;

  constructor(endings: Ending, kubeconfig: string, told: Told) {
    this.#endings = endings;
    this.#kubeconfig = kubeconfig;
    this.#told = told;
    this.#process = this.#start();
  }

  /** Undefined while there is no process to ask. */
  async vitals(): Promise<Vitals | undefined> {
    const { pid } = this.#process;
    const text = await this.#page("/metrics").catch(() => undefined);
    if (text === undefined || !this.#process.running()) return undefined;
    await this.#healthy();
    const metric = (name: string): number =>
      Number(new RegExp(`^${name} (.+)$`, "m").exec(text)?.[1] ?? Number.NaN);
    try {
      const { rssMiB, anonMiB } = memory(pid);
      return {
        rssMiB,
        anonMiB,
        heapMiB: metric(METRICS.heap) / MIB,
        heldMiB: metric(METRICS.held) / MIB,
        fds: readdirSync(`/proc/${pid}/fd`).length,
        resources: metric(METRICS.resources),
        cpuMs: cpuMs(pid),
        lagP99Ms: metric(METRICS.lag) * 1000,
      };
    } catch {
      // It ended between two readings.
      return undefined;
    }
  }

  /** SIGTERM; a problem when it does not end well. */
  async stop(): Promise<void> {
    this.#stopping = true;
    const code = await this.#process.stop();
    if (code !== 0) this.#told.onProblem(`stopped, it ended with ${String(code)}`);
  }

  async #healthy(): Promise<void> {
    const text = await this.#page("/healthz").catch(() => undefined);
    if (text !== undefined && text !== "ok\n") this.#told.onProblem(`/healthz: ${text.trim()}`);
  }

  async #page(path: string): Promise<string | undefined> {
    const address = this.#process.address();
    if (address === undefined) return undefined;
    const text = await (await fetch(`http://${address}${path}`)).text();
    if (tellsMarker(text)) this.#told.onProblem(`a value was told on ${path}`);
    return text;
  }

  #start(): ControllerProcess {
    const started = spawnController(this.#endings, this.#kubeconfig, LONG_FLAGS, {
      command: imageCommand(),
      onLine: (line) => this.#hear(line),
    });
    const { life } = this;
    void started.ended.then((code) => {
      if (this.#stopping) return;
      this.#told.onEnd(life, code, this.#last.join(" "));
      this.#last = [];
      this.life++;
      this.#process = this.#start();
    });
    return started;
  }

  #hear(line: string): void {
    this.#last = [...this.#last.slice(-4), line.slice(0, 300)];
    if (tellsMarker(line)) this.#told.onProblem("a value was told in the log");
  }
}

/** Runs a fresh controller until nothing is due. */
export async function runOnce(endings: Ending, kubeconfig: string): Promise<void> {
  const flags = {
    ...LONG_FLAGS,
    once: "true",
    "leader-elect": "false",
    "delete-grace": "0s",
    "source-grace": "0s",
  };
  await spawnController(endings, kubeconfig, flags, {
    command: imageCommand(),
    onLine: () => undefined,
  }).ended;
}
