// A controller with all its parts on a fake clock and an API server in memory: what takes minutes takes
// no time, and every order of events can be had. What goes over sockets is the scenes' part.
import assert from "node:assert/strict";
import { afterEach } from "node:test";
import type { ApiRequest } from "../../../packages/kube/rest/api-client.ts";
import type { ApiErrorKind } from "../../../packages/kube/rest/api-error.ts";
import { buildController } from "../../../src/run/build.ts";
import { readConfig, type FlagValues } from "../../../src/controller/settings/config.ts";
import type { Controller, RunEnd } from "../../../src/controller/sync/controller.ts";
import type { Plan } from "../../../src/controller/model/verdicts.ts";
import { createLog } from "../../../src/controller/report/log.ts";
import type { Outcome } from "../../../src/controller/writes/outcome.ts";
import type { SyncHooks, SyncNote } from "../../../src/controller/report/sync-log.ts";
import { readPlannerSettings } from "../../../src/controller/settings/planner-settings.ts";
import type { StatusFeed } from "../../../src/page/status-feed.ts";
import { createMetrics } from "../../../src/controller/report/metrics.ts";
import { FakeClock } from "../../../packages/kube/testing/fake-clock.ts";
import { MemoryApi, refusal } from "./memory-api.ts";
import { watched } from "../../../packages/kube/testing/queue-takers.ts";

export type Line = {
  readonly level: string;
  readonly msg: string;
  readonly [key: string]: unknown;
};

type Options = {
  readonly given?: FlagValues;
  /** Ahead of each request but those for the lease. */
  readonly before?: (request: ApiRequest) => Promise<void>;
  readonly beforeLease?: (request: ApiRequest) => Promise<void>;
  readonly observer?: SyncHooks;
  /** How many log lines were lost so far. */
  readonly lostLines?: () => number;
  readonly statusFeed?: StatusFeed;
};

/** Controllers of the test that runs; all end with it. */
const running = new Set<Started>();
afterEach(async () => {
  for (const started of running) assert.notEqual(await started.stop(), "pending");
  running.clear();
});

export class Rig {
  readonly clock = new FakeClock();
  readonly api = new MemoryApi(this.clock);

  /** With a namespace for sources, these teams, and a source for them, if there are any. */
  constructor(...teams: readonly string[]) {
    if (teams.length > 0) this.teams(...teams);
  }

  /** A namespace for sources, teams, and a source for all of them. */
  teams(...names: readonly string[]): void {
    this.api.namespace("shared");
    for (const name of names) this.api.namespace(name);
    this.source("shared/registry", { password: "one" });
  }

  source(place: string, data: Readonly<Record<string, string>>, to = "team-*"): void {
    this.api.secret(place, { annotations: { "secretcast.io/to": to } }, data);
  }

  /** A controller that has run for so long. */
  async run(ms: number, options?: Options): Promise<Started> {
    const started = this.start(options);
    await this.clock.advance(ms);
    return started;
  }

  /** A controller comes, does what there is to do, and goes. */
  async converge(): Promise<void> {
    const started = await this.run(5000);
    await started.stop();
  }

  /** A full sync from scratch finds nothing to do; unmanaged Secrets are none here. */
  async assertRight(): Promise<void> {
    const before = this.api.writes.length;
    const oracle = this.start({ given: { once: true, "delete-grace": "0" } });
    await this.clock.advance(30_000);
    assert.notEqual(await oracle.ended(), "pending");
    assert.deepEqual(this.api.writes.slice(before), []);
  }

  start({ given, before, beforeLease, observer, lostLines, statusFeed }: Options = {}): Started {
    const config = readConfig(
      {
        "source-namespaces": "shared",
        "log-level": "trace",
        // One grace for both and no hold, unless a test is about them.
        "delete-hold": "0",
        ...given,
      },
      { env: {}, clusterNamespace: undefined, terminal: false },
    );
    const started = new Started(this.clock);
    const { api, clock } = this;
    const metrics = createMetrics(config.leaseName, {
      ofProcess: false,
      lost: { lines: lostLines },
    });
    const controller = buildController(config, readPlannerSettings(config), {
      client: api.client(before),
      leaseApi: api.client(beforeLease),
      clock,
      log: createLog(config, { write: (line) => started.lines.push(JSON.parse(line)) }),
      metrics,
      ...(statusFeed && { statusFeed }),
      observer: {
        onOutcome: (outcome) => {
          started.outcomes.push(outcome);
          observer?.onOutcome?.(outcome);
        },
        onPlan: (plan, note) => {
          started.syncs.push({ plan, note, at: clock.monotonic() });
          observer?.onPlan?.(plan, note);
        },
      },
    });
    started.run(controller, metrics);
    running.add(started);
    return started;
  }
}

export class Started {
  readonly lines: Line[] = [];
  readonly outcomes: Outcome[] = [];
  readonly syncs: { readonly plan: Plan; readonly note: SyncNote; readonly at: number }[] = [];
  readonly #clock: FakeClock;
  readonly #stop = new AbortController();
  #controller: Controller | undefined;
  #metrics: ReturnType<typeof createMetrics> | undefined;
  #ended: { value(): Promise<RunEnd | "pending"> } | undefined;

  constructor(clock: FakeClock) {
    this.#clock = clock;
  }

  run(controller: Controller, metrics: ReturnType<typeof createMetrics>): void {
    this.#controller = controller;
    this.#metrics = metrics;
    this.#ended = watched(controller.run(this.#stop.signal));
  }

  get controller(): Controller {
    if (!this.#controller) throw new Error("test: not started");
    return this.#controller;
  }

  /** How it ended, or "pending". */
  async ended(): Promise<RunEnd | "pending"> {
    return (await this.#ended?.value()) ?? "pending";
  }

  /** As SIGTERM does; nothing is waited for. */
  signal(): void {
    this.#stop.abort();
  }

  /** SIGTERM, and then as long as it takes. */
  async stop(): Promise<RunEnd | "pending"> {
    this.signal();
    for (let second = 0; second < 30 && (await this.ended()) === "pending"; second++)
      await this.#clock.advance(1000);
    return this.ended();
  }

  /** The messages logged, in order. */
  get said(): readonly string[] {
    return this.lines.map(({ msg }) => msg);
  }

  /** What Prometheus would scrape. */
  scrape(): Promise<string> {
    return this.#metrics?.registry.metrics() ?? Promise.resolve("");
  }

  /** One value of a metric, by its labels; of a histogram by name_sum, name_count or name_bucket. */
  async metric(name: string, labels: Readonly<Record<string, string>> = {}): Promise<number> {
    const registered = name.replace(/_(?:sum|count|bucket)$/, "");
    const metric = await this.#metrics?.registry.getSingleMetric(registered)?.get();
    const samples: readonly Sample[] = metric?.values ?? [];
    const found = samples.find(
      (sample) =>
        (sample.metricName ?? name) === name &&
        Object.entries(labels).every(([key, wanted]) => String(sample.labels[key]) === wanted),
    );
    return found?.value ?? Number.NaN;
  }
}

/** As prom-client hands them out; those of a histogram have a name. */
type Sample = {
  readonly value: number;
  readonly labels: Readonly<Record<string, string | number | undefined>>;
  readonly metricName?: string;
};

/** A write to a Secret. */
export const isWrite = ({ method, path }: ApiRequest): boolean =>
  method !== "GET" && path.includes("/secrets");

/** Never answered. */
export const hang = (): Promise<never> => new Promise(() => {});

/** A switch that a test can turn: while it is on, requests that `when` names are done `what` to. */
export function faults(
  when: (request: ApiRequest) => boolean,
  what: (request: ApiRequest) => unknown,
  on = false,
) {
  const state = {
    on,
    before: async (request: ApiRequest): Promise<void> => {
      if (state.on && when(request)) await what(request);
    },
  };
  return state;
}

/** The API server refuses what it is asked. */
export const refuse =
  (kind: ApiErrorKind) =>
  (request: ApiRequest): never => {
    throw refusal(request, kind);
  };
export const unavailable = refuse("unavailable");

/** A controller that ran for five seconds, and whose every request fails from then on until `on` is false. */
export async function inOutage(rig: Rig, given: FlagValues = {}) {
  const outage = faults(() => true, unavailable);
  const started = rig.start({ given, before: outage.before });
  await rig.clock.advance(5000);
  outage.on = true;
  rig.api.expireWatches();
  return { outage, started };
}
