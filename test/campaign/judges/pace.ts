// How fast this machine is just now: the time that a write of our own takes, and how late our own timers
// are. Limits in milliseconds give way by a multiple of it, so that a busy machine is not blamed on the
// controller.
import { cpus } from "node:os";
import { setTimeout as delay } from "node:timers/promises";
import type { Http } from "../../support/api-server/http.ts";

const CONFIG_MAPS = "/api/v1/namespaces/default/configmaps";
const EVERY_MS = 100;
const KEPT_MS = 8000;
/** What is judged is a chain of watches and writes; what is measured is one write. */
const SLACK_FACTOR = 5;

export class Pace {
  readonly #admin: Http;
  readonly #stop: AbortSignal;
  readonly #running: Promise<void>;
  #recent: { readonly at: number; readonly ms: number }[] = [];
  readonly #began = { at: performance.now(), cpu: process.cpuUsage(), machine: machineMs() };
  /** The slowest of the run. */
  worstMs = 0;

  constructor(admin: Http, stop: AbortSignal) {
    this.#admin = admin;
    this.#stop = stop;
    this.#running = this.#measure();
  }

  /** By how much a limit gives way. */
  slackMs(): number {
    return SLACK_FACTOR * this.slowestMs();
  }

  /** The slowest of the last seconds. */
  slowestMs(): number {
    const from = performance.now() - KEPT_MS;
    this.#recent = this.#recent.filter(({ at }) => at > from);
    return Math.max(0, ...this.#recent.map(({ ms }) => ms));
  }

  ended(): Promise<void> {
    return this.#running;
  }

  /** Cores that this process took, and all processes together, on the average. */
  cores(): { readonly ours: number; readonly all: number } {
    const { at, cpu, machine } = this.#began;
    const tookMs = performance.now() - at;
    const { user, system } = process.cpuUsage(cpu);
    return { ours: (user + system) / 1000 / tookMs, all: (machineMs() - machine) / tookMs };
  }

  async #measure(): Promise<void> {
    await this.#admin.send("POST", CONFIG_MAPS, { body: { metadata: { name: "pace" } } });
    for (let turn = 0; !this.#stop.aborted; turn++) {
      const from = performance.now();
      await delay(EVERY_MS);
      const lateMs = performance.now() - from - EVERY_MS;
      const asked = performance.now();
      const done = await this.#admin
        .send("PATCH", `${CONFIG_MAPS}/pace`, {
          body: { data: { turn: String(turn) } },
          contentType: "application/merge-patch+json",
        })
        .catch(() => undefined);
      // A server that is down is a fault of ours, not a slow machine.
      const tookMs = done === undefined ? 0 : performance.now() - asked;
      const ms = Math.max(lateMs, tookMs);
      this.#recent.push({ at: performance.now(), ms });
      this.worstMs = Math.max(this.worstMs, ms);
    }
  }
}

/** CPU time of all processes, in ms. */
function machineMs(): number {
  const busy = cpus().map(({ times }) => times.user + times.nice + times.sys + times.irq);
  return busy.reduce((sum, one) => sum + one, 0);
}
