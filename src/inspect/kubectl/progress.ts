// Reports progress on stderr after two seconds: count, rate and, if the total is known, the time left. A
// terminal shows one line that is overwritten and finally erased. Other outputs get a line from time to
// time. Quicker work prints nothing.
import { formatDuration } from "../../controller/settings/units.ts";
import type { Clock } from "../../../packages/kube/time/clock.ts";
import type { Program } from "../../run/program-context.ts";

const QUIET_MS = 2000;
const TERMINAL_EVERY_MS = 200;
const ELSEWHERE_EVERY_MS = 10_000;
const CLEAR_LINE = "\r\u001b[2K";

export class Progress {
  readonly #what: string;
  readonly #stderr: Program["stderr"];
  readonly #clock: Pick<Clock, "monotonic">;
  readonly #since: number;
  #done = 0;
  #total: number | undefined;
  #reportedAt = Number.NEGATIVE_INFINITY;

  /** `what`: the counted things, like "Secrets read". */
  constructor(what: string, { stderr }: Pick<Program, "stderr">, clock: Pick<Clock, "monotonic">) {
    this.#what = what;
    this.#stderr = stderr;
    this.#clock = clock;
    this.#since = clock.monotonic();
  }

  /** Whether the work is slow enough for a progress line. */
  get isLong(): boolean {
    return this.#clock.monotonic() - this.#since >= QUIET_MS;
  }

  /** Sets the total. */
  expect(total: number): void {
    this.#total = total;
  }

  advance(count: number): void {
    this.#done += count;
    if (!this.isLong) return;
    const now = this.#clock.monotonic();
    const terminal = this.#stderr.isTTY === true;
    if (now - this.#reportedAt < (terminal ? TERMINAL_EVERY_MS : ELSEWHERE_EVERY_MS)) return;
    this.#reportedAt = now;
    const line = this.#line(now - this.#since);
    this.#stderr.write(terminal ? CLEAR_LINE + line : `${line}\n`);
  }

  /** Erases its line on a terminal. */
  end(): void {
    if (this.#stderr.isTTY === true && this.#reportedAt > Number.NEGATIVE_INFINITY)
      this.#stderr.write(CLEAR_LINE);
  }

  #line(tookMs: number): string {
    const rate = (this.#done * 1000) / tookMs;
    const total = this.#total ?? 0;
    const of = total > this.#done ? ` of ${total}` : "";
    const leftMs = total > this.#done ? ((total - this.#done) * 1000) / rate : undefined;
    const left =
      leftMs === undefined ? "" : `, ${formatDuration(Math.ceil(leftMs / 1000) * 1000)} left`;
    return `${this.#what}: ${this.#done}${of}, ${Math.round(rate)} a second${left}`;
  }
}
