// Where an example controller is played on a real API server: a namespace of its own, and the example
// as a program that ends with the test.
import type { TestContext } from "node:test";
import { startExample } from "../programs/example-process.ts";
import type { ExampleName, ExampleProcess } from "../programs/example-process.ts";
import { openCluster, sharedCluster } from "./cluster.ts";
import { ok } from "../../../packages/sandbox/testing/facts/place.ts";
import type { Http } from "../../../packages/sandbox/testing/http.ts";

export type Stage = {
  readonly http: Http;
  readonly namespace: string;
  /** Of one kind of the namespace: `path("apps/v1", "deployments", name)`. */
  readonly path: (groupVersion: string, plural: string, name?: string) => string;
  /** Starts an example, with these arguments. */
  readonly play: (name: ExampleName, ...words: readonly string[]) => ExampleProcess;
};

export async function stage(t: TestContext, namespace: string): Promise<Stage> {
  const cluster = sharedCluster();
  const http = openCluster(cluster);
  const metadata = { name: namespace };
  ok(await http.send("POST", "/api/v1/namespaces", { body: { metadata } }), 201);
  t.after(async () => {
    await http.send("DELETE", `/api/v1/namespaces/${namespace}`);
    await http.close();
  });
  return {
    http,
    namespace,
    path: (groupVersion, plural, name) => {
      const root = groupVersion === "v1" ? "/api/v1" : `/apis/${groupVersion}`;
      const collection = `${root}/namespaces/${namespace}/${plural}`;
      return name === undefined ? collection : `${collection}/${name}`;
    },
    play: (name, ...words) => startExample(t, { name, kubeconfig: cluster.kubeconfig, words }),
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
