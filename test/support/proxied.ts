// A fault proxy between a scene's server and the controllers that start after it. The scene's own
// requests go past it.
import { readFileSync } from "node:fs";
import type { TestContext } from "node:test";
import { sharedCluster } from "./cluster.ts";
import { startFaultProxy, type Fault, type FaultProxy, type ProxyRequest } from "./fault-proxy.ts";
import { kubeConfigFor } from "./kubeconfig.ts";
import type { Scene } from "./scene.ts";

export async function proxied(t: TestContext, scene: Scene): Promise<FaultProxy> {
  const proxy = await startFaultProxy(t, upstream(scene));
  scene.access = kubeConfigFor(proxy.url);
  return proxy;
}

function upstream({ sandbox }: Scene) {
  if (sandbox) return { url: sandbox.url };
  const { url, token, caFile } = sharedCluster();
  const headers = { authorization: `Bearer ${token}` };
  return { url, headers, ca: readFileSync(caFile, "utf8") };
}

/** What the API server answers when it refuses: a Status of this code. */
export function refusal(status: number, reason: string): Fault {
  const body = { kind: "Status", apiVersion: "v1", status: "Failure", code: status, reason };
  return { kind: "answer", status, body };
}

/** How many requests of these kinds the controllers have sent. */
export function count(proxy: FaultProxy, ...kinds: readonly ProxyRequest["kind"][]): number {
  return proxy.seen.filter(({ kind }) => kinds.includes(kind)).length;
}
