// A fault proxy between a scene's server and the controllers that start after it. The scene's own
// requests go past it.
import { readFileSync } from "node:fs";
import type { TestContext } from "node:test";
import { controllerToken } from "../api-server/account.ts";
import { sharedCluster } from "../api-server/cluster.ts";
import { ElasticClock } from "../time/elastic-clock.ts";
import {
  startFaultProxy,
  type Fault,
  type FaultProxy,
  type ProxyRequest,
} from "../../../packages/kube/testing/fault-proxy.ts";
import { kubeConfigFor } from "../../../packages/kube/testing/kubeconfig-text.ts";
import { openScene, type Scene } from "./scene.ts";

export type Stage = {
  readonly scene: Scene;
  readonly proxy: FaultProxy;
  readonly clock: ElasticClock;
};

/** A scene whose controllers talk through the proxy and live ten times as fast. */
export async function openStage(t: TestContext): Promise<Stage> {
  const scene = await openScene(t);
  const clock = new ElasticClock();
  clock.run(10);
  scene.clock = clock;
  return { scene, clock, proxy: await proxied(t, scene) };
}

export async function proxied(t: TestContext, scene: Scene): Promise<FaultProxy> {
  const proxy = await startFaultProxy(t, upstream(scene));
  scene.access = kubeConfigFor(proxy.url);
  return proxy;
}

function upstream({ sandbox }: Scene) {
  if (sandbox) return { url: sandbox.url };
  const cluster = sharedCluster();
  // As the scene's controllers: with the rights of their own account.
  const headers = { authorization: `Bearer ${controllerToken(cluster)}` };
  return { url: cluster.url, headers, ca: readFileSync(cluster.caFile, "utf8") };
}

/** What the API server answers when it refuses: a Status of this code. */
export function refusal(status: number, reason: string): Fault {
  const body = { kind: "Status", apiVersion: "v1", status: "Failure", code: status, reason };
  return { kind: "answer", status, body };
}

// A watch that the server opens and closes at once.
export const NOTHING: Fault = { kind: "answer", status: 200, body: "" };

/** How many requests of these kinds the controllers have sent. */
export function count(proxy: FaultProxy, ...kinds: readonly ProxyRequest["kind"][]): number {
  return proxy.seen.filter(({ kind }) => kinds.includes(kind)).length;
}

export const isWatch = ({ kind }: ProxyRequest): boolean => kind === "watch" || kind === "stream";

/** No watch comes through until `change` was made; then the first of each resource meets `fault`. */
export async function inGap(
  proxy: FaultProxy,
  fault: Fault,
  change: () => Promise<unknown>,
): Promise<void> {
  proxy.rule = (request) => (isWatch(request) ? { kind: "reset" } : undefined);
  proxy.resetAll();
  await change();
  const met = new Set<string>();
  proxy.rule = (request) => {
    if (request.kind !== "watch" || met.has(request.path)) return undefined;
    met.add(request.path);
    return fault;
  };
}
