// A stage for integration tests: an API server, namespaces and Secrets under names of this test's
// own, unmanaged objects that nobody may touch, and real controllers on it. The server is the sandbox, or
// under `npm run test:cluster` a real one: the same tests run on both. Every scene of a scenario ends with
// finish(), which scenario-end.ts sees to: a controller that starts from scratch has no further write, and no
// unmanaged object was touched; helpers assert too, so a scenario may show few assertions of its own.
import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Outcome } from "../../../src/controller/writes/outcome.ts";
import { buildController } from "../../../src/run/build.ts";
import {
  readConfig,
  type Config,
  type FlagValues,
} from "../../../src/controller/settings/config.ts";
import type { Controller, RunEnd } from "../../../src/controller/sync/controller.ts";
import type { Plan } from "../../../src/controller/model/verdicts.ts";
import type { ApiClient } from "../../../packages/kube/rest/api-client.ts";
import { createClient } from "../../../packages/kube/rest/client.ts";
import { systemClock, type Clock } from "../../../packages/kube/time/clock.ts";
import { Reachability } from "../../../packages/kube/rest/reachability.ts";
import { loadKubeConfig, type KubeConfig } from "../../../packages/kube/kubeconfig/kubeconfig.ts";
import { createLog } from "../../../src/controller/report/log.ts";
import { startSandbox, type Sandbox } from "../../../packages/sandbox/server.ts";
import { readPlannerSettings } from "../../../src/controller/settings/planner-settings.ts";
import { createMetrics } from "../../../src/controller/report/metrics.ts";
import { Api, type NewSecret } from "./api.ts";
import { grantNames } from "../api-server/name-rights.ts";
import { eraseNamespaces, sharedCluster } from "../api-server/cluster.ts";
import { eventually } from "../../../packages/kube/testing/eventually.ts";
import { countTold } from "./told-values.ts";
import { modeNames } from "./named-mode.ts";
import { meddled, type Meddle } from "./meddle.ts";
import { refText } from "../../../src/text/names.ts";
import type { ObjectKind } from "../../../src/controller/model/kinds.ts";
import { kindOf } from "./both-kinds.ts";
import { endsWith } from "./scenario-end.ts";

export type Running = {
  /** Every outcome of a write since the start. */
  readonly outcomes: readonly Outcome[];
  /** The newest plan that was settled. */
  readonly settled: () => Plan | undefined;
  readonly log: readonly string[];
  readonly ended: Promise<RunEnd>;
  readonly ready: () => boolean;
  /** What /readyz would name. */
  readonly unready: () => readonly string[];
  /** The value of one series of /metrics. */
  readonly metric: (series: string) => Promise<number>;
  /** What /healthz would name. */
  readonly live: () => readonly string[];
  stop(): Promise<void>;
};

let scenes = 0;

export class Scene {
  readonly api: Api;
  readonly kubeconfig: string;
  /** Undefined on a real API server. */
  readonly sandbox: Sandbox | undefined;
  readonly prefix: string;
  /** How controllers that start from now on reach the server: a proxy may stand between. */
  access: KubeConfig;
  /** What stands between controllers that start from now on and their client. */
  wrap: (client: ApiClient) => ApiClient = (client) => client;
  /** The time of controllers that start from now on. */
  clock: Clock = systemClock;
  /** That take part in controllers that start from now on; undefined: as the flags say, or its own alone. */
  kinds: readonly ObjectKind[] | undefined;
  /** Flags of all controllers that start from now on, before those that each is given. */
  given: FlagValues = {};
  /** Nothing is judged at the end any more; a test says so itself where something is left to write. */
  isFinished = false;
  /** That the scene has made. */
  readonly namespaces = new Set<string>();
  readonly #running: Running[] = [];
  readonly #unmanagedObjects = new Map<string, string>();
  readonly #log: string[] = [];

  constructor(parts: {
    client: ApiClient;
    kubeconfig: string;
    kubeConfig: KubeConfig;
    sandbox: Sandbox | undefined;
    kind: ObjectKind;
  }) {
    this.api = new Api(parts.client, parts.kind);
    this.kubeconfig = parts.kubeconfig;
    this.access = parts.kubeConfig;
    this.sandbox = parts.sandbox;
    this.prefix = `s${process.pid.toString(36)}-${(scenes++).toString(36)}`;
  }

  /** A name of this scene's own, so that scenes can share a server. */
  name(base: string): string {
    return `${this.prefix}-${base}`;
  }

  /** How the paths of the scene's objects end: "/secrets". */
  get collection(): string {
    return `/${this.api.resource.plural}`;
  }

  /** The namespace that the scene's sources live in. */
  get source(): string {
    return this.name("source");
  }

  async namespace(
    base: string,
    metadata: Parameters<Api["createNamespace"]>[1] = {},
  ): Promise<string> {
    const name = this.name(base);
    this.namespaces.add(name);
    await this.api.createNamespace(name, metadata);
    return name;
  }

  /** A Secret that is not ours: finish() insists that nobody wrote to it. */
  async unmanaged(namespace: string, name: string, secret: NewSecret = {}): Promise<void> {
    const { metadata } = await this.api.createSecret(namespace, name, secret);
    this.#unmanagedObjects.set(
      `${namespace}/${name}`,
      `${metadata.uid} ${metadata.resourceVersion}`,
    );
  }

  /** What is at the place now is nobody's to write to from here on. */
  async leaveAlone(namespace: string, name: string): Promise<void> {
    const found = (await this.api.secret(namespace, name))?.metadata;
    this.#unmanagedObjects.set(`${namespace}/${name}`, `${found?.uid} ${found?.resourceVersion}`);
  }

  /** The unmanaged object is the test's own to change or delete from here on. */
  release(namespace: string, name: string): void {
    this.#unmanagedObjects.delete(`${namespace}/${name}`);
  }

  /** A controller in this process; `given` overrides the scene's flags. */
  start(given: FlagValues = {}, meddle?: Meddle): Running {
    const flags = { ...this.flags(), ...given };
    const config = this.#configOf(flags);
    const outcomes: Outcome[] = [];
    const log: string[] = [];
    let settled: Plan | undefined;
    const { access, clock } = this;
    const reachability = new Reachability(clock);
    const connect = (neverPauses = false): ApiClient =>
      createClient(access, { clock, userAgent: "secretcast/test", neverPauses, reachability });
    const wrapped = this.wrap(connect());
    const client = meddle ? meddled(wrapped, meddle) : wrapped;
    const leaseApi = connect(true);
    const stop = new AbortController();
    const metrics = createMetrics(config.leaseName);
    const controller = buildController(config, readPlannerSettings(config), {
      client,
      leaseApi,
      clock,
      log: createLog(config, {
        write: (line) => {
          log.push(line);
          this.#log.push(line);
        },
      }),
      metrics,
      observer: {
        onOutcome: (outcome) => void outcomes.push(outcome),
        onPlan: (plan, note) => {
          if (note.settled) settled = plan;
        },
      },
    });
    const ended = runThenClose(controller, stop.signal, [client, leaseApi]);
    const running: Running = {
      outcomes,
      settled: () => settled,
      log,
      ended,
      ready: () => controller.ready().length === 0,
      unready: () => controller.ready(),
      metric: async (series) => valueOf(await metrics.registry.metrics(), series),
      live: () => controller.live(),
      stop: async () => {
        stop.abort();
        await ended;
      },
    };
    this.#running.push(running);
    return running;
  }

  // On a shared server the scene's other kind runs beside this one, and is none of its business.
  #configOf(flags: FlagValues): Config {
    const around = { env: {}, clusterNamespace: undefined, terminal: false };
    const config = readConfig(flags, around);
    const kinds = this.kinds ?? (this.sandbox ? config.kinds : [this.api.kind]);
    return { ...config, kinds };
  }

  flags(): FlagValues {
    return {
      "config-maps": this.api.kind === "ConfigMap",
      ...this.#names(),
      kubeconfig: this.kubeconfig,
      "source-namespaces": this.source,
      "delete-grace": "100ms",
      // Scenarios about holds set one of their own.
      "delete-hold": "0",
      "http-address": "127.0.0.1:0",
      "status-address": "127.0.0.1:0",
      "log-level": "trace",
      ...this.given,
    };
  }

  #names(): FlagValues {
    const names = modeNames();
    return names ? { "only-names": names.join() } : {};
  }

  /** Waits until the copy at the place holds exactly these plain values. */
  async holds(
    namespace: string,
    name: string,
    data: Readonly<Record<string, string>>,
  ): Promise<void> {
    await eventually(`${namespace}/${name} holds ${Object.keys(data).join()}`, async () => {
      const found = await this.api.secret(namespace, name);
      // The API server leaves an empty field out.
      assert.deepEqual(found && (found.data ?? {}), data);
      return true;
    });
  }

  async absent(namespace: string, name: string): Promise<void> {
    await eventually(
      `${namespace}/${name} is gone`,
      async () => (await this.api.secret(namespace, name)) === undefined,
    );
  }

  /** The scene's Secrets and their versions. */
  versions(): Promise<ReadonlyMap<string, string>> {
    return this.api.versions(
      ({ metadata }) => metadata.namespace?.startsWith(this.prefix) ?? false,
    );
  }

  /**
   * When all controllers have stopped: one that starts from scratch on what is there finds nothing to
   * write, and no unmanaged object was written to.
   */
  async finish(given: FlagValues = {}): Promise<Plan> {
    this.isFinished = true;
    await this.#stop();
    const before = await this.versions();
    const fresh = this.start({ "delete-grace": "0", ...given, once: true });
    await fresh.ended;
    const writes = fresh.outcomes
      .filter(({ kind }) => kind === "done" || kind === "removed")
      .map(({ action }) => `${action.kind} ${refText(action.place)}`);
    assert.deepEqual(writes, [], "a further pass writes nothing");
    assert.deepEqual(await this.versions(), before, "no Secret changed its version");
    for (const [place, version] of this.#unmanagedObjects) {
      const [namespace = "", name = ""] = place.split("/");
      const found = (await this.api.secret(namespace, name))?.metadata;
      assert.equal(`${found?.uid} ${found?.resourceVersion}`, version, `${place} is untouched`);
    }
    const plan = fresh.settled();
    assert.ok(plan);
    return plan;
  }

  /** Stops the controllers. */
  async clear(): Promise<void> {
    await this.#stop();
    assert.equal(countTold(this.#log, this.api.values), 0, "values of Secrets in the log");
  }

  async #stop(): Promise<void> {
    await Promise.all(this.#running.map((running) => running.stop()));
  }
}

export async function openScene(t: TestContext): Promise<Scene> {
  const cluster = process.env["CLUSTER_ACCESS"] ? sharedCluster() : undefined;
  const sandbox = cluster ? undefined : await startSandbox({});
  const folder = mkdtempSync(join(tmpdir(), "secretcast-test-"));
  // The user may do everything; the controller what its own account may, where there are accounts.
  const kubeconfig = cluster?.controllerKubeconfig ?? join(folder, "kubeconfig");
  if (sandbox) writeFileSync(kubeconfig, sandbox.kubeconfig());
  const kubeConfig = loadKubeConfig({ kubeconfig });
  const user = loadKubeConfig({ kubeconfig: cluster?.kubeconfig ?? kubeconfig });
  const client = createClient(user, { clock: systemClock, userAgent: "secretcast-test" });
  const names = modeNames();
  if (cluster && names) await grantNames(client, names);
  const scene = new Scene({ client, kubeconfig, kubeConfig, sandbox, kind: kindOf(t) });
  endsWith(t, scene);
  t.after(async () => {
    await scene.clear();
    if (cluster) await eraseNamespaces(cluster, scene.namespaces);
    await client.close();
    await sandbox?.stop();
    rmSync(folder, { recursive: true, force: true });
  });
  await scene.namespace("source");
  return scene;
}

async function runThenClose(
  controller: Controller,
  signal: AbortSignal,
  clients: readonly ApiClient[],
): Promise<RunEnd> {
  try {
    return await controller.run(signal);
  } finally {
    await Promise.all(clients.map((client) => client.close()));
  }
}

// With --only-names, a series of a watch has a label more: the largest counts.
function valueOf(exposition: string, series: string): number {
  const begins = series.endsWith("}")
    ? [`${series} `, `${series.slice(0, -1)},name=`]
    : [`${series} `];
  const values = exposition
    .split("\n")
    .filter((line) => begins.some((begin) => line.startsWith(begin)))
    .map((line) => Number(line.slice(line.lastIndexOf(" "))));
  if (values.length === 0) throw new Error(`no series ${series}`);
  return Math.max(...values);
}
