// One replica of the controller: a process with a cable of its own to the API server, which can be made
// to stand still and go on, killed, and started again.
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { FlagValues } from "../../../src/controller/settings/config.ts";
import { layCable, type Cable } from "../api-server/cable.ts";
import type { ClusterAccess } from "../api-server/control-plane.ts";
import type { Ending } from "../../../packages/kube/testing/fault-proxy.ts";
import { field } from "../../../packages/sandbox/testing/http.ts";
import { kubeConfigFor, kubeConfigText } from "../../../packages/kube/testing/kubeconfig-text.ts";
import { spawnController, type ControllerProcess, type Spawning } from "./controller-process.ts";

export type ReplicaOptions = {
  readonly access: ClusterAccess;
  /** A kubeconfig of the controller's account. */
  readonly kubeconfig: string;
  /** Its address on loopback, as the API server sees it. */
  readonly from: string;
  readonly flags: FlagValues;
  readonly spawning?: Spawning;
};

export class WiredReplica {
  readonly cable: Cable;
  readonly #t: Ending;
  readonly #options: ReplicaOptions;
  readonly #kubeconfig: string;
  #process: ControllerProcess;

  /** Ended when the test ends. */
  static async start(t: Ending, options: ReplicaOptions): Promise<WiredReplica> {
    const cable = await layCable(t, options.access.url, options.from);
    return new WiredReplica(t, options, cable);
  }

  private constructor(t: Ending, options: ReplicaOptions, cable: Cable) {
    this.#t = t;
    this.#options = options;
    this.cable = cable;
    const { access, kubeconfig, from } = options;
    const given: unknown = JSON.parse(readFileSync(kubeconfig, "utf8"));
    const token = String(field(given, "users", 0, "user", "token"));
    this.#kubeconfig = join(dirname(access.kubeconfig), `replica-${from}.kubeconfig`);
    const config = kubeConfigFor(cable.url, { token }, { caFile: access.caFile });
    writeFileSync(this.#kubeconfig, kubeConfigText(config), { mode: 0o600 });
    // Ahead of what ends the process: one that stands still would not hear of its end.
    t.after(async () => {
      this.cable.state = "whole";
      if (this.#process.running()) this.goOn();
    });
    this.#process = this.#spawn();
  }

  get process(): ControllerProcess {
    return this.#process;
  }

  says(message: string): boolean {
    return this.#process.log.some((line) => field(line, "msg") === message);
  }

  /** Its Lease ran out, or somebody else took it. */
  get lost(): boolean {
    return this.says("the lease is lost, another replica may be leading");
  }

  /** Since its newest start. */
  get leading(): boolean {
    return this.#process.running() && this.says("leading") && !this.lost;
  }

  standStill(): void {
    process.kill(this.#process.pid, "SIGSTOP");
  }

  goOn(): void {
    process.kill(this.#process.pid, "SIGCONT");
  }

  /** After its end, as a kubelet does. */
  startAgain(): void {
    this.#process = this.#spawn();
  }

  #spawn(): ControllerProcess {
    const { flags, spawning } = this.#options;
    return spawnController(this.#t, this.#kubeconfig, flags, spawning);
  }
}
