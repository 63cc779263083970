// The controller under soak: the program's own `run` in this process, started again when it loses its
// lease, with everything counted that it says and does.
import { get } from "node:http";
import { runController } from "../../../src/run/run.ts";
import { readConfig, type FlagValues } from "../../../src/controller/settings/config.ts";
import type { RunEnd } from "../../../src/controller/sync/controller.ts";
import type { KubeConfig } from "../../../src/kube/kubeconfig/kubeconfig.ts";
import { createLog } from "../../../src/controller/report/log.ts";
import { OWN_NAMESPACE, tellsValue } from "../actors/actors.ts";
import { soakFlags } from "../stages/soak-world.ts";

const FLAGS: FlagValues = {
  ...soakFlags(OWN_NAMESPACE),
  "http-address": "127.0.0.1:0",
  "status-address": "127.0.0.1:0",
  "log-level": "debug",
};

export class Subject {
  readonly #kubeConfig: KubeConfig;
  /** By message. */
  readonly said = new Map<string, number>();
  readonly ends = new Map<RunEnd, number>();
  /** By kind of outcome. */
  readonly outcomes = new Map<string, number>();
  readonly problems: string[] = [];
  passes = 0;
  #stop = new AbortController();
  #running: Promise<void> | undefined;
  #address: string | undefined;

  constructor(kubeConfig: KubeConfig) {
    this.#kubeConfig = kubeConfig;
  }

  start(): void {
    this.#stop = new AbortController();
    this.#running = this.#run(this.#stop.signal);
  }

  /** As the kubelet does in a roll-out. */
  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  /** One run from scratch that ends by itself, past the proxy: what it writes was left undone. */
  async again(kubeConfig: KubeConfig): Promise<void> {
    const before = this.writes;
    const given = { "leader-elect": false, once: true, "delete-grace": "0", "source-grace": "0" };
    await this.#once(new AbortController().signal, kubeConfig, given);
    if (this.writes > before)
      this.problems.push(`a fresh controller made ${this.writes - before} writes`);
  }

  get writes(): number {
    return (this.outcomes.get("done") ?? 0) + (this.outcomes.get("removed") ?? 0);
  }

  /** Notes what /healthz names; nothing here is worth a restart. */
  async probe(): Promise<void> {
    if (this.#address === undefined) return;
    const answer = await ask(`http://${this.#address}/healthz`);
    if (answer !== undefined && answer !== "ok\n") this.problems.push(`/healthz: ${answer}`);
  }

  async #run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const ended = await this.#once(signal, this.#kubeConfig, {});
      count(this.ends, ended);
      if (signal.aborted && ended !== "stopped" && ended !== "lost")
        this.problems.push(`the controller ended ${ended}`);
    }
  }

  async #once(signal: AbortSignal, kubeConfig: KubeConfig, given: FlagValues): Promise<RunEnd> {
    const around = { env: {}, clusterNamespace: OWN_NAMESPACE, terminal: false };
    const config = readConfig({ ...FLAGS, ...given }, around);
    const log = createLog(config, { write: (line) => this.#hear(line) });
    const observer = {
      onOutcome: ({ kind }: { readonly kind: string }) => count(this.outcomes, kind),
      onPlan: () => void this.passes++,
    };
    try {
      return await runController(config, kubeConfig, { signal, version: "soak" }, log, observer);
    } finally {
      this.#address = undefined;
    }
  }

  #hear(line: string): void {
    if (tellsValue(line)) this.problems.push(`told a value: ${line}`);
    const { msg, address }: { msg: string; address?: string } = JSON.parse(line);
    if (msg === "serving probes and metrics") this.#address = address;
    count(this.said, msg);
  }
}

function count<K>(counts: Map<K, number>, key: K): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}

/** The answer's text; undefined when there is no server just now. */
function ask(url: string): Promise<string | undefined> {
  return new Promise((resolve) => {
    const request = get(url, { agent: false }, (response) => {
      let text = "";
      response.on("data", (chunk: Buffer) => (text += chunk.toString()));
      response.on("end", () => resolve(text));
    });
    request.on("error", () => resolve(undefined));
  });
}
