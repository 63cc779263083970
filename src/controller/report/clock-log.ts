// Logs one line when this machine's clock starts to differ from the API server's, and one when that ends.
import { CLOCK_DIFFERS, clockText } from "../settings/clock-text.ts";
import type { Log } from "./log.ts";

export class ClockLog {
  readonly #log: Log;
  #differs = false;

  constructor(log: Log) {
    this.#log = log;
  }

  /** A measurement of how far this machine's clock is ahead. */
  measured(offsetMs: number): void {
    const differs = clockText(offsetMs) !== undefined;
    if (differs === this.#differs) return;
    this.#differs = differs;
    const seconds = Math.round(offsetMs / 1000);
    if (differs) this.#log.warn({ aheadSeconds: seconds }, CLOCK_DIFFERS);
    else this.#log.info({ aheadSeconds: seconds }, `resolved: ${CLOCK_DIFFERS}`);
  }
}
