// How fast this machine is just now: the time that a write of our own takes, and how late our own timers
// are. Limits in milliseconds give way by a multiple of it, so that a busy machine is not blamed on the
// controller.
import { setTimeout as delay } from "node:timers/promises";
import type { Http } from "../../../packages/sandbox/testing/http.ts";

const CONFIG_MAPS = "/api/v1/namespaces/default/configmaps";
const EVERY_MS = 100;
const KEPT_MS = 8000;
/** What is judged is a chain of watches and writes; what is measured is one write. */
const SLACK_FACTOR = 5;

export class Pace {
  readonly #admin: Http;
  readonly #stop: AbortSignal;
  readonly #running: Promise<unknown>;
  #recent: { readonly at: number; readonly ms: number }[] = [];
  /** When the write that has no answer yet was sent. */
  #asked: number | undefined;
  /** The slowest of the run. */
  worstMs = 0;

  constructor(admin: Http, stop: AbortSignal) {
    this.#admin = admin;
    this.#stop = stop;
    this.#running = Promise.all([this.#measureTimers(), this.#measureWrites()]);
  }

  /** By how much a limit gives way. */
  slackMs(): number {
    return SLACK_FACTOR * this.slowestMs();
  }

  /** The slowest of the last seconds. One without an answer is as slow as it is old. */
  slowestMs(): number {
    const now = performance.now();
    this.#recent = this.#recent.filter(({ at }) => at > now - KEPT_MS);
    return Math.max(now - (this.#asked ?? now), ...this.#recent.map(({ ms }) => ms));
  }

  async ended(): Promise<void> {
    await this.#running;
  }

  /** Apart from the writes, of which one may hang for as long as the server is away. */
  async #measureTimers(): Promise<void> {
    while (!this.#stop.aborted) {
      const from = performance.now();
      await delay(EVERY_MS);
      this.#note(performance.now() - from - EVERY_MS);
    }
  }

  async #measureWrites(): Promise<void> {
    await this.#admin.send("POST", CONFIG_MAPS, { body: { metadata: { name: "pace" } } });
    for (let turn = 0; !this.#stop.aborted; turn++) {
      await delay(EVERY_MS);
      const asked = (this.#asked = performance.now());
      const body = { data: { turn: String(turn) } };
      const sent = { body, contentType: "application/merge-patch+json" };
      const done = await this.#admin
        .send("PATCH", `${CONFIG_MAPS}/pace`, sent)
        .catch(() => undefined);
      this.#asked = undefined;
      // A server that is down is a fault of ours, not a slow machine.
      if (done !== undefined) this.#note(performance.now() - asked);
    }
  }

  #note(ms: number): void {
    this.#recent.push({ at: performance.now(), ms });
    this.worstMs = Math.max(this.worstMs, ms);
  }
}
