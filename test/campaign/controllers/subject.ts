// The controller under attack: a process that is watched as an operator and the kernel see it.
import { performance } from "node:perf_hooks";
import { setTimeout as delay } from "node:timers/promises";
import { imageCommand } from "../../../bench/image.ts";
import { cpuMs, memory } from "../../../bench/proc.ts";
import type { FlagValues } from "../../../src/controller/settings/config.ts";
import type { Ending } from "../../../packages/kube/testing/fault-proxy.ts";
import { field } from "../../../packages/sandbox/testing/http.ts";
import { LogJudge } from "../judges/log-judge.ts";
import type { Violations } from "../judges/violations.ts";
import { WatchedProcess } from "./watched-process.ts";

const PROBE_EVERY_MS = 250;
const HEALTHZ_MS = 1000;
const MOST_MIB = 384;
/** What planning-pace.ts allows where each plan costs the least. */
const MOST_PASSES_A_SECOND = 84;
const PASSES_OVER_MS = 10_000;
const PAGES = ["/metrics", "/readyz"] as const;
const STATUS_PAGES = ["", "api/status"] as const;

const isText = (value: unknown): value is string => typeof value === "string";

export type SubjectOptions = {
  readonly endings: Ending;
  readonly kubeconfig: string;
  readonly flags: FlagValues;
  readonly violations: Violations;
  /** Begins every value that must not be reported. */
  readonly marker: string;
  readonly slackMs: () => number;
  /** It ended by itself, and is being started again. */
  readonly onEnd: (reported: string) => void;
};

export class Subject {
  readonly #options: SubjectOptions;
  readonly #stop = new AbortController();
  readonly #process: WatchedProcess;
  readonly #log: LogJudge;
  readonly #watching: Promise<void>;
  #passes: { readonly at: number; readonly count: number }[] = [];
  /** Answers of /healthz, in ms. */
  readonly healthz: number[] = [];
  peakMiB = 0;
  /** CPU time of the process that runs now, in ms, and since when it runs. */
  cpuMs = 0;
  startedMs = 0;
  mostPassesASecond = 0;
  lines = 0;

  constructor(options: SubjectOptions) {
    this.#options = options;
    this.#log = new LogJudge(options.violations);
    const { endings, kubeconfig, flags, violations, marker } = options;
    this.#process = new WatchedProcess({
      endings,
      command: imageCommand(),
      kubeconfig,
      flags,
      values: [marker],
      onTold: (where) => violations.add("a value was told", where),
      onEnd: () => this.#ended(),
      onStart: () => this.#started(),
      onLine: (line) => {
        this.lines++;
        this.#log.take(line);
      },
    });
    this.#watching = this.#watch();
  }

  /** HOST:PORT of its probes and metrics; undefined until it listens. */
  get address(): string | undefined {
    return this.#process.now.address();
  }

  async leading(): Promise<boolean> {
    return (await this.#process.now.metric("leader_election_master_status").catch(() => 0)) === 1;
  }

  /** Whether all its watches are open. */
  async hears(): Promise<boolean> {
    const { metric } = this.#process.now;
    return (await metric("secretcast_watch_disconnected_seconds").catch(() => 1)) === 0;
  }

  /** SIGKILL, and started again. */
  kill(): Promise<void> {
    return this.#process.kill();
  }

  /** SIGTERM; resolves with the exit code. */
  async stop(): Promise<number | null> {
    this.#stop.abort();
    this.#log.stopping();
    await this.#watching;
    return this.#process.stop();
  }

  #started(): void {
    this.#passes = [];
    this.startedMs = performance.now();
    this.#log.restart();
  }

  async #watch(): Promise<void> {
    for (let turn = 0; !this.#stop.signal.aborted; turn++) {
      await delay(PROBE_EVERY_MS);
      this.#measure();
      await this.#probe(turn % 4 === 0).catch(() => undefined);
    }
  }

  #ended(): void {
    this.#options.onEnd(this.#log.lastError ?? `peak ${Math.round(this.peakMiB)} MiB`);
  }

  #measure(): void {
    try {
      const { peakMiB } = memory(this.#process.now.pid);
      this.cpuMs = cpuMs(this.#process.now.pid);
      if (Number.isNaN(peakMiB)) return;
      if (peakMiB > MOST_MIB && this.peakMiB <= MOST_MIB)
        this.#options.violations.add("more memory than its limit", `${Math.round(peakMiB)} MiB`);
      this.peakMiB = Math.max(this.peakMiB, peakMiB);
    } catch {
      // It has just ended.
    }
  }

  async #probe(withPages: boolean): Promise<void> {
    const { violations, slackMs } = this.#options;
    const { pid, log } = this.#process.now;
    const address = this.#process.now.address();
    if (address === undefined) return;
    const from = performance.now();
    const health = await this.#process.page(`http://${address}/healthz`);
    const tookMs = performance.now() - from;
    // Killed in between, or not yet listening.
    if (health === undefined || pid !== this.#process.now.pid) return;
    this.healthz.push(tookMs);
    if (tookMs > HEALTHZ_MS + slackMs())
      violations.add("/healthz was slow", `${Math.round(tookMs)} ms`);
    if (!health.ok) violations.add("/healthz failed", health.text.trim());
    if (!withPages) return;
    const status = log.map((line) => field(line, "url")).find(isText);
    const pages = [
      ...PAGES.map((page) => `http://${address}${page}`),
      ...(status === undefined ? [] : STATUS_PAGES.map((page) => `${status}${page}`)),
    ];
    for (const page of pages) await this.#process.page(page);
    this.#pace(await this.#process.now.metric("secretcast_syncs_total"));
  }

  /** On the average of ten seconds. */
  #pace(count: number): void {
    const at = performance.now();
    this.#passes = [
      ...this.#passes.filter((one) => at - one.at < 2 * PASSES_OVER_MS),
      { at, count },
    ];
    const before = this.#passes.findLast((one) => at - one.at >= PASSES_OVER_MS);
    if (before === undefined) return;
    const perSecond = ((count - before.count) / (at - before.at)) * 1000;
    this.mostPassesASecond = Math.max(this.mostPassesASecond, perSecond);
    if (perSecond <= MOST_PASSES_A_SECOND) return;
    const what = `${perSecond.toFixed(1)} passes a second over ten seconds`;
    this.#options.violations.add("too many passes", what);
    this.#passes = [];
  }
}
