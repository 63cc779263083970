// The examples on the API server's own kinds, each run whole on a real API server. There is no scheduler
// and no kubelet here: tests bind Pods to nodes themselves.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { createServer } from "node:http";
import { join } from "node:path";
import { json } from "node:stream/consumers";
import { test } from "node:test";
import { sharedCluster } from "../support/api-server/cluster.ts";
import { eventually } from "../../packages/kube/testing/eventually.ts";
import { ok } from "../../packages/sandbox/testing/facts/place.ts";
import { field } from "../../packages/sandbox/testing/http.ts";
import { deployment, pod, stage } from "../support/api-server/example-stage.ts";

const SERVICE_PORT = "example.com/service-port";
const merge = { contentType: "application/merge-patch+json" };

test("pod-logger writes of a Pod that came, was bound and went", async (t) => {
  const { http, namespace, path, play } = await stage(t, "pod-logger");
  const { wrote } = play("pod-logger", namespace);
  await wrote("pod-logger: starting 1 workers");
  ok(await http.send("POST", path("v1", "pods"), { body: pod("kuard") }), 201);
  await wrote("Pod pod-logger/kuard is Pending on no node");
  const target = { metadata: { name: "kuard" }, target: { kind: "Node", name: "node-1" } };
  ok(await http.send("POST", `${path("v1", "pods", "kuard")}/binding`, { body: target }), 201);
  await wrote("Pod pod-logger/kuard is Pending on node-1");
  const body = { gracePeriodSeconds: 0 };
  ok(await http.send("DELETE", path("v1", "pods", "kuard"), { body }), 200);
  await wrote("Pod pod-logger/kuard is gone");
});

test("service-per-deployment keeps a Service while the Deployment asks for it", async (t) => {
  const { http, path, play } = await stage(t, "service-per-deployment");
  const deployments = path("apps/v1", "deployments");
  const web = path("v1", "services", "web");
  const ports = async (): Promise<unknown> =>
    field((await http.send("GET", web)).body, "spec", "ports", 0, "port");
  const annotate = (port: string | null) => {
    const body = { metadata: { annotations: { [SERVICE_PORT]: port } } };
    return http.send("PATCH", `${deployments}/web`, { body, ...merge });
  };
  const unmanaged = { metadata: { name: "taken" }, spec: { ports: [{ port: 1 }] } };
  ok(await http.send("POST", path("v1", "services"), { body: unmanaged }), 201);
  const taken = deployment("taken", { [SERVICE_PORT]: "80" });
  ok(await http.send("POST", deployments, { body: taken }), 201);
  play("service-per-deployment");
  ok(await http.send("POST", deployments, { body: deployment("plain") }), 201);
  const asks = deployment("web", { [SERVICE_PORT]: "8080" });
  ok(await http.send("POST", deployments, { body: asks }), 201);
  await eventually("the service is there", async () => (await ports()) === 8080);
  const selector = field((await http.send("GET", web)).body, "spec", "selector");
  assert.deepEqual(selector, { app: "web" });

  ok(await annotate("9090"), 200);
  await eventually("the port follows", async () => (await ports()) === 9090);
  const edit = { spec: { selector: { app: "other" } } };
  ok(await http.send("PATCH", web, { body: edit, ...merge }), 200);
  await eventually("the edit is corrected", async () => {
    const now = await http.send("GET", web);
    return field(now.body, "spec", "selector", "app") === "web";
  });
  ok(await annotate(null), 200);
  await eventually("the service goes", async () => (await http.send("GET", web)).status === 404);

  ok(await annotate("8080"), 200);
  await eventually("the service is back", async () => (await ports()) === 8080);
  ok(await http.send("DELETE", `${deployments}/web`), 200);
  await eventually("it goes with its owner", async () => (await ports()) === undefined, 30_000);
  const untouched = await http.send("GET", path("v1", "services", "taken"));
  assert.equal(field(untouched.body, "spec", "ports", 0, "port"), 1);
  assert.equal((await http.send("GET", path("v1", "services", "plain"))).status, 404);
});

test("notifier tells a webhook of changes to the kinds it was given, and tries again", async (t) => {
  const { http, namespace, path, play } = await stage(t, "notifier");
  const reported: string[] = [];
  let failures = 2;
  const receive = (notice: unknown): number => {
    const words = ["action", "kind", "name"].map((word) => String(field(notice, word))).join(" ");
    if (field(notice, "namespace") !== namespace) return 204;
    if (words === "created ConfigMap new" && failures-- > 0) return 503;
    reported.push(words);
    return 204;
  };
  const receiver = createServer((request, response) => {
    void json(request).then((notice) => response.writeHead(receive(notice)).end());
  });
  await new Promise<void>((resolve) => receiver.listen(0, "127.0.0.1", resolve));
  t.after(() => receiver.close());
  const address = receiver.address();
  assert.ok(address !== null && typeof address === "object");
  const url = `http://127.0.0.1:${address.port}/`;

  ok(
    await http.send("POST", path("v1", "configmaps"), { body: { metadata: { name: "old" } } }),
    201,
  );
  const { lines, wrote } = play("notifier", url, "ConfigMap", "Deployment");
  await wrote("notifier: starting 2 workers");
  ok(
    await http.send("POST", path("v1", "configmaps"), { body: { metadata: { name: "new" } } }),
    201,
  );
  await eventually("the third attempt arrived", () => reported.includes("created ConfigMap new"));
  const body = { data: { k: "v" } };
  ok(await http.send("PATCH", path("v1", "configmaps", "old"), { body, ...merge }), 200);
  await eventually("an update", () => reported.includes("updated ConfigMap old"));
  ok(await http.send("DELETE", path("v1", "configmaps", "old")), 200);
  await eventually("a deletion", () => reported.includes("deleted ConfigMap old"));
  ok(await http.send("POST", path("apps/v1", "deployments"), { body: deployment("d") }), 201);
  await eventually("another kind", () => reported.includes("created Deployment d"));
  assert.ok(!reported.includes("created ConfigMap old"), "what was there before is no news");
  assert.ok(lines.some((line) => line.includes("webhook answered 503, again later")));
});

test("notifier refuses a kind that the API server does not have", () => {
  const example = join(import.meta.dirname, "../../examples/notifier.ts");
  const words = ["--conditions=secretcast-source", example, "http://127.0.0.1:9/", "Unicorn"];
  const env = { KUBECONFIG: sharedCluster().kubeconfig };
  const { status, stderr } = spawnSync(process.execPath, words, { env, encoding: "utf8" });
  assert.equal(status, 1);
  assert.match(stderr, /Error: the API server has no kind "Unicorn"/);
});
