// A status page over a cluster of plain objects: what it shows follows from real plans of it.
import type { TestContext } from "node:test";
import type { Plan } from "../../../src/controller/model/verdicts.ts";
import { systemClock } from "../../../packages/kube/time/clock.ts";
import { StatusFeed } from "../../../src/page/status-feed.ts";
import { urlOf, type HttpServer } from "../../../src/page/listen.ts";
import { serveStatus } from "../../../src/page/status-server.ts";
import type { WatchStatus } from "../../../src/page/freshness.ts";
import type { ControllerSnapshot } from "../../../src/page/status.ts";
import { Cluster } from "../planner/planner-cluster.ts";

const QUOTA = {
  reason: "create Secret: 403 Forbidden: quota",
  cause: "withheld",
  error: "forbidden",
};

export class StatusStage {
  readonly cluster = new Cluster({ deleteGraceMs: 600_000 });
  readonly statusFeed = new StatusFeed(systemClock, "0.0.0-test");
  /** What a test changes of what is shown beside the plan. */
  snapshot: Partial<ControllerSnapshot> = {};
  url = "";
  #plan: Plan | undefined;
  #converged: number | undefined;
  #server: HttpServer | undefined;

  /** Starts the page; it ends with the test. */
  async serve(t: TestContext): Promise<void> {
    this.statusFeed.observe(() => this.#look());
    t.after(() => this.stop());
    await this.#listen(0);
  }

  /** The page goes, with all connections. */
  async stop(): Promise<void> {
    await this.#server?.close();
  }

  /** It comes back at the same address. */
  async restart(): Promise<void> {
    await this.#listen(Number(new URL(this.url).port));
  }

  async #listen(port: number): Promise<void> {
    this.#server = await serveStatus({ host: "127.0.0.1", port }, this.statusFeed, systemClock);
    this.url = urlOf(this.#server.address);
  }

  /** Copies are made until nothing is due, but those at `failing`, whose writes fail. */
  settle(failing: (place: string) => boolean = () => false): void {
    const { cluster } = this;
    // A plan holds 10,000 creates at most.
    for (let { actions } = cluster.plan(); actions.length > 0; { actions } = cluster.plan()) {
      for (const action of actions) {
        const { namespace, name } = action.place;
        if (!failing(`${namespace}/${name}`)) cluster.apply(action);
        else cluster.memory.failed(action, QUOTA, cluster.now, 0.5);
      }
    }
    cluster.now += 100;
    this.look();
  }

  /** A sync whose writes are still to be made. */
  look(): void {
    this.#plan = this.cluster.plan();
    const { pending, failed } = this.#plan.states;
    if (pending + failed === 0) this.#converged = Date.now();
    this.statusFeed.changed();
  }

  #look(): ControllerSnapshot {
    const aliveMs = Date.now();
    return {
      dryRun: false,
      clusterStates: [this.cluster.clusterState()],
      plan: this.#plan,
      convergedMs: this.#converged,
      offsetMs: Date.now() - this.cluster.now,
      leader: { state: "leading", holder: "secretcast-7d4f_1", command: undefined },
      watches: [connected("secrets", aliveMs), connected("namespaces", aliveMs)],
      outdated: undefined,
      serverAwayMs: undefined,
      troubles: [],
      unreadableNames: [],
      ...this.snapshot,
    };
  }
}

export function connected(resource: string, aliveMs: number): WatchStatus {
  return { resource, filled: true, aliveMs, disconnectedMs: undefined, nextTryMs: undefined };
}

/** Seven namespaces and five sources, among which each kind of trouble is. */
export async function smallStage(t: TestContext): Promise<StatusStage> {
  const stage = new StatusStage();
  const { cluster } = stage;
  for (const name of ["shared", "kube-system", "monitoring", "team-a", "team-b", "team-c"])
    cluster.namespace(name);
  cluster.namespace("team-legacy", { accept: "sometimes" });
  cluster.secret("shared/registry", { to: "team-*" }, { data: { password: SECRET_VALUE } });
  cluster.secret("shared/ca-bundle", { to: "*" });
  cluster.secret("shared/smtp", { to: "team-*,monitoring", paused: "false" });
  cluster.secret("shared/api-token", { "to-selecter": "tier=prod", to: "*" });
  cluster.secret("team-b/registry", {}, { data: { own: SECRET_VALUE } });
  stage.settle((place) => place === "monitoring/smtp");
  await stage.serve(t);
  return stage;
}

/** In every Secret of smallStage that matters: it must be in no answer. */
export const SECRET_VALUE = "correct-horse-battery";

/** `count` namespaces, a source in all of them and others in some; one place is somebody else's. */
export async function largeStage(t: TestContext, count: number): Promise<StatusStage> {
  const stage = new StatusStage();
  const { cluster } = stage;
  cluster.namespace("shared");
  for (let at = 0; at < count; at++) cluster.namespace(`tenant-${String(at).padStart(4, "0")}`);
  cluster.secret("shared/registry", { to: "*" });
  cluster.secret("shared/ca-bundle", { to: "tenant-4*" });
  for (let at = 0; at < 40; at++)
    cluster.secret(`shared/team-${String(at).padStart(2, "0")}`, { to: `tenant-${at}*` });
  cluster.secret("tenant-4321/registry");
  stage.settle((place) => place.endsWith("7/ca-bundle"));
  await stage.serve(t);
  return stage;
}
