// One replica of the controller and its way to the API server: it can be stopped, killed, cut off and
// told another time, and comes again as kubelet would have it. What it says is searched for values.
import { buildController } from "../../../src/run/build.ts";
import { readConfig, type FlagValues } from "../../../src/controller/settings/config.ts";
import { readPlannerSettings } from "../../../src/controller/settings/planner-settings.ts";
import type { RunEnd } from "../../../src/controller/sync/controller.ts";
import type { ApiClient, ApiRequest } from "../../../packages/kube/rest/api-client.ts";
import type { Clock } from "../../../packages/kube/time/clock.ts";
import { readFilter } from "../../../src/page/filter.ts";
import { StatusFeed } from "../../../src/page/status-feed.ts";
import { createLog } from "../../../src/controller/report/log.ts";
import { createMetrics, type Metrics } from "../../../src/controller/report/metrics.ts";
import { FaultyClient, type RequestFault } from "../../support/controller/faulty-client.ts";
import { LAST_RECEIPTS_MS } from "../../../src/run/run.ts";
import type { ReceiptStream } from "../judges/receipt-stream.ts";

/** Its wall clock is off by `skewMs`. */
type SkewedClock = Clock & { skewMs: number };

function skewed(inner: Clock): SkewedClock {
  const clock: SkewedClock = {
    skewMs: 0,
    now: () => inner.now() + clock.skewMs,
    monotonic: () => inner.monotonic(),
    boottime: () => inner.boottime(),
    random: () => inner.random(),
    setTimeout: (fn, ms) => inner.setTimeout(fn, ms),
  };
  return clock;
}

export type ReplicaOptions = {
  readonly server: ApiClient;
  readonly clock: Clock;
  readonly fault: (request: ApiRequest) => RequestFault | undefined;
  readonly onTold: (text: string) => void;
  /** Where one run sends its receipts; undefined: it makes none. */
  readonly receipts?: (() => ReceiptStream) | undefined;
  /** It ended by itself. */
  readonly onEnd: (replica: Replica) => void;
};

export class Replica {
  readonly #options: ReplicaOptions;
  readonly clock: SkewedClock;
  #clients: readonly FaultyClient[] = [];
  #metrics: Metrics | undefined;
  #status: StatusFeed | undefined;
  #receipts: ReceiptStream | undefined;
  #stop = new AbortController();
  #ended: Promise<RunEnd | "failed"> = Promise.resolve("stopped" as const);
  #end: RunEnd | "failed" | undefined = "stopped";

  constructor(options: ReplicaOptions) {
    this.#options = options;
    this.clock = skewed(options.clock);
  }

  get running(): boolean {
    return this.#end === undefined;
  }

  /** How it ended by itself, or when told; undefined while it runs. */
  get end(): RunEnd | "failed" | undefined {
    return this.#end;
  }

  /** `onDone` is told what the server did for this run, which may be over by then. */
  start(given: FlagValues, onDone: (request: ApiRequest, answer: unknown) => void): void {
    const { server, fault, onTold } = this.#options;
    const receipts = this.#options.receipts?.();
    this.#receipts = receipts;
    const config = readConfig(
      { "log-level": "trace", ...given },
      { env: {}, clusterNamespace: undefined, terminal: false },
    );
    const client = (): FaultyClient =>
      new FaultyClient({
        inner: server,
        clock: this.clock,
        fault,
        onDone,
        onSent: ({ path, body }) => {
          if (!/\/(secrets|configmaps)(\/|$)/.test(path)) onTold(JSON.stringify(body ?? ""));
        },
      });
    const [api, leaseApi] = [client(), client()];
    this.#clients = [api, leaseApi];
    this.#stop = new AbortController();
    const metrics = createMetrics(config.leaseName, { ofProcess: false });
    const statusFeed = new StatusFeed(this.clock, "chaos");
    [this.#metrics, this.#status] = [metrics, statusFeed];
    const controller = buildController(config, readPlannerSettings(config), {
      client: api,
      leaseApi,
      clock: this.clock,
      log: createLog(config, { write: onTold }),
      metrics,
      observer: {},
      receipts: receipts?.output,
      statusFeed,
    });
    this.#end = undefined;
    const run = controller.run(this.#stop.signal).catch((error: unknown) => {
      onTold(String(error));
      return "failed" as const;
    });
    this.#ended = run;
    const { signal } = this.#stop;
    void run.then((end) => {
      void receipts?.output.close(LAST_RECEIPTS_MS);
      if (this.#ended !== run) return;
      this.#end = end;
      if (!signal.aborted) this.#options.onEnd(this);
    });
  }

  /** What `/metrics` and `/api/status` answer. */
  async shown(): Promise<string> {
    const figures = await this.#metrics?.registry.metrics();
    const status = await this.#status?.read(readFilter(new URLSearchParams()));
    return `${figures}${JSON.stringify(status)}`;
  }

  /** As SIGTERM does; nothing is waited for. */
  stop(): void {
    this.#stop.abort();
  }

  /** As SIGKILL does: nothing is sent or heard any more. */
  kill(): void {
    this.#receipts?.kill();
    for (const client of this.#clients) void client.close();
    // What is left of it in this process has to end as well.
    this.#stop.abort();
    this.#ended = Promise.resolve("stopped" as const);
    this.#end = "stopped";
  }

  /** It runs, and all that it watched before a fault it watches again. */
  get hears(): boolean {
    return this.running && this.#clients.every(({ hears }) => hears);
  }

  /** What nobody answers ends as its connection does. */
  reset(): void {
    for (const client of this.#clients) client.reset();
  }

  watches(fault: "cut" | "expire" | "deafen"): void {
    for (const client of this.#clients) client[fault]();
  }
}
