// The sandbox for programs on @kubernetes/client-node: they take its kubeconfig as it is printed.
import assert from "node:assert/strict";
import { test } from "node:test";
import { CoreV1Api, KubeConfig, makeInformer, type V1Secret } from "@kubernetes/client-node";
import { startSandbox } from "./server.ts";
import { eventually } from "@secretcast/kube/testing/eventually";

test("client-node takes the sandbox's kubeconfig: it lists, creates, and its informer sees a change", async (t) => {
  const sandbox = await startSandbox({});
  t.after(() => sandbox.stop());
  const config = new KubeConfig();
  config.loadFromString(sandbox.kubeconfig());
  const core = config.makeApiClient(CoreV1Api);
  const { items } = await core.listNamespace();
  assert.ok(items.some(({ metadata }) => metadata?.name === "default"));

  const informer = makeInformer<V1Secret>(config, "/api/v1/namespaces/default/secrets", () =>
    core.listNamespacedSecret({ namespace: "default" }),
  );
  t.after(() => informer.stop());
  const added: V1Secret[] = [];
  informer.on("add", (secret) => added.push(secret));
  await informer.start();
  await core.createNamespacedSecret({
    namespace: "default",
    body: { metadata: { name: "made" }, stringData: { token: "x" } },
  });
  await eventually("the informer sees the Secret", () =>
    added.some(({ metadata, data }) => metadata?.name === "made" && data?.["token"] === "eA=="),
  );
});
