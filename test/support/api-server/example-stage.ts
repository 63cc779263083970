// Where an example controller is played on a real API server: a namespace of its own, what it logged,
// and its end with the test. A controller that fails, fails the test.
import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { createClient } from "../../../src/kube/rest/client.ts";
import type { ApiClient } from "../../../src/kube/rest/client.ts";
import { systemClock as clock } from "../../../src/kube/time/clock.ts";
import { loadKubeConfig } from "../../../src/kube/kubeconfig/kubeconfig.ts";
import { openCluster, sharedCluster } from "./cluster.ts";
import { ok } from "./facts/place.ts";
import type { Http } from "./http.ts";

export type Stage = {
  readonly http: Http;
  readonly client: ApiClient;
  readonly namespace: string;
  /** Of one kind of the namespace: `path("apps/v1", "deployments", name)`. */
  readonly path: (groupVersion: string, plural: string, name?: string) => string;
  readonly lines: string[];
  /** Runs a controller until the test ends, which fails when the controller does. */
  readonly play: (run: (signal: AbortSignal) => Promise<void>) => void;
};

export async function stage(t: TestContext, namespace: string): Promise<Stage> {
  const cluster = sharedCluster();
  const http = openCluster(cluster);
  const config = loadKubeConfig({ kubeconfig: cluster.kubeconfig });
  const client = createClient(config, { clock, userAgent: "examples" });
  const end = new AbortController();
  const runs: Promise<void>[] = [];
  const metadata = { name: namespace };
  ok(await http.send("POST", "/api/v1/namespaces", { body: { metadata } }), 201);
  t.after(async () => {
    end.abort();
    const ended = await Promise.allSettled(runs);
    await http.send("DELETE", `/api/v1/namespaces/${namespace}`);
    await Promise.all([http.close(), client.close()]);
    for (const run of ended) assert.equal(run.status, "fulfilled", JSON.stringify(run));
  });
  return {
    http,
    client,
    namespace,
    lines: [],
    path: (groupVersion, plural, name) => {
      const root = groupVersion === "v1" ? "/api/v1" : `/apis/${groupVersion}`;
      const collection = `${root}/namespaces/${namespace}/${plural}`;
      return name === undefined ? collection : `${collection}/${name}`;
    },
    play: (run) => void runs.push(run(end.signal)),
  };
}

const containers = [{ name: "main", image: "example.com/none" }];
/** A Pod that no one runs. */
export const pod = (name: string): object => ({ metadata: { name }, spec: { containers } });

/** A Deployment of one such Pod. */
export function deployment(name: string, annotations: Record<string, string> = {}): object {
  const labels = { app: name };
  return {
    metadata: { name, annotations },
    spec: {
      replicas: 1,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers } },
    },
  };
}
