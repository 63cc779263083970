// Much at once, and the API server gone in the midst of it. One control plane for this file alone,
// since it is killed, compacted and filled; the controller runs on it as its own account.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { TestContext } from "node:test";
import { controllerAccount } from "../support/api-server/account.ts";
import { compact, openCluster, ownCluster } from "../support/api-server/cluster.ts";
import type { ControlPlane } from "../support/api-server/control-plane.ts";
import { spawnController } from "../support/programs/controller-process.ts";
import type { ControllerProcess } from "../support/programs/controller-process.ts";
import { eventually } from "../../packages/kube/testing/eventually.ts";
import { ok, version } from "../../packages/sandbox/testing/facts/place.ts";
import { field } from "../../packages/sandbox/testing/http.ts";
import type { Http } from "../../packages/sandbox/testing/http.ts";

/** For a thousand copies on a machine with much else to do; alone it takes a few seconds. */
const PATIENCE_MS = 180_000;
const COPIES = "labelSelector=app.kubernetes.io/managed-by%3Dsecretcast";
/** Their copies are several seconds of work for one writer. */
const MANY = 1000;
const ONE = { k: "one" };
const SIGKILL = { signal: "SIGKILL" } as const;

let cluster: ControlPlane;
let kubeconfig: string;
let http: Http;
before(async () => {
  cluster = await ownCluster();
  kubeconfig = await controllerAccount(cluster);
  http = openCluster(cluster);
});
after(async () => {
  await http.close();
  await cluster.stop();
});

async function createNamespaces(names: readonly string[]): Promise<void> {
  const left = [...names];
  const some = async (): Promise<void> => {
    for (let name = left.pop(); name !== undefined; name = left.pop())
      ok(await http.send("POST", "/api/v1/namespaces", { body: { metadata: { name } } }), 201);
  };
  await Promise.all(Array.from({ length: 16 }, some));
}

const numbered = (base: string, count: number): readonly string[] =>
  Array.from({ length: count }, (_, at) => `${base}-${at}`);

/** A source `NAME` for `to` in a namespace of its own, and a controller for it. */
async function publish(
  t: TestContext,
  name: string,
  { to = `${name}-*`, concurrency = "32" } = {},
): Promise<ControllerProcess> {
  const namespace = `source-of-${name}`;
  await createNamespaces([namespace]);
  const body = { metadata: { name, annotations: { "secretcast.io/to": to } }, stringData: ONE };
  ok(await http.send("POST", `/api/v1/namespaces/${namespace}/secrets`, { body }), 201);
  return spawnController(t, kubeconfig, { "source-namespaces": namespace, concurrency });
}

async function change(name: string, k: string): Promise<void> {
  const path = `/api/v1/namespaces/source-of-${name}/secrets/${name}`;
  const contentType = "application/merge-patch+json";
  ok(await http.send("PATCH", path, { body: { stringData: { k } }, contentType }), 200);
}

/** Copies of the source that hold `k`. */
async function copied(name: string, k: string): Promise<number> {
  const path = `/api/v1/secrets?${COPIES}&fieldSelector=metadata.name%3D${name}`;
  const { body } = await http.send("GET", path);
  const items = field(body, "items");
  if (!Array.isArray(items)) return 0;
  const data = Buffer.from(k).toString("base64");
  return items.filter((item) => field(item, "data", "k") === data).length;
}

test("1,000 namespaces made at once all have their copy, and then nothing is written", async (t) => {
  const controller = await publish(t, "many");
  await eventually("it is ready", controller.ready);
  await createNamespaces(numbered("many", MANY));
  const made = performance.now();
  await eventually("1,000 copies", async () => (await copied("many", "one")) === MANY, PATIENCE_MS);
  t.diagnostic(
    `copies complete ${Math.round(performance.now() - made)} ms after the last namespace`,
  );
  // The caches may run ahead of admission's own view of a namespace: such a write is tried again.
  t.diagnostic((await controller.samples("secretcast_writes_total")).join("; "));
  const good = await controller.metric("secretcast_writes_total", 'result="ok"');
  assert.equal(good, MANY, "one write a copy");
  assert.equal(await controller.stop(), 0);
});

test("a fan-out over two deaths of the API server ends complete, by the same process", async (t) => {
  const unmanaged = "/api/v1/namespaces/many-stranger/secrets";
  await createNamespaces(["many-stranger"]);
  const body = { metadata: { name: "storm" }, stringData: { k: "mine" } };
  const before = version(ok(await http.send("POST", unmanaged, { body }), 201));
  const controller = await publish(t, "storm", { to: "many-*", concurrency: "1" });
  for (const some of [50, 250]) {
    const enough = async (): Promise<boolean> => (await copied("storm", "one")) >= some;
    await eventually(`${some} copies`, enough, PATIENCE_MS);
    assert.ok((await copied("storm", "one")) < MANY, "killed in the midst of it");
    await cluster.restartApiServer(SIGKILL);
  }
  await eventually(
    `${MANY} copies`,
    async () => (await copied("storm", "one")) === MANY,
    PATIENCE_MS,
  );
  assert.ok(controller.running());
  assert.equal(version((await http.send("GET", `${unmanaged}/storm`)).body), before);
  assert.equal(await controller.stop(), 0);
});

test("after a compaction while it was away, the watch starts anew and misses nothing", async (t) => {
  await createNamespaces(numbered("compacted", 3));
  const controller = await publish(t, "compacted");
  const all = (k: string) => async (): Promise<boolean> => (await copied("compacted", k)) === 3;
  await eventually("the copies", all("one"), PATIENCE_MS);
  // Other resources move on, so that the version where the Secrets' watch stands is in the past.
  await createNamespaces(numbered("unrelated", 5));
  await cluster.restartApiServer({ ...SIGKILL, whileDown: () => compact(cluster) });
  await change("compacted", "two");
  await eventually("the change arrives", all("two"), PATIENCE_MS);
  t.diagnostic((await controller.samples("secretcast_watch_restarts_total")).join("; "));
  const gone = await controller.metric("secretcast_watch_restarts_total", 'reason="gone"');
  assert.ok(gone > 0, "a watch was told 410");
  assert.equal(await controller.stop(), 0);
});

test("a namespace deleted and made again at once has its copy", async (t) => {
  await createNamespaces(numbered("again", 2));
  const controller = await publish(t, "again");
  const both = async (): Promise<boolean> => (await copied("again", "one")) === 2;
  await eventually("the copies", both, PATIENCE_MS);
  const path = "/api/v1/namespaces/again-0";
  const uid = async (): Promise<unknown> =>
    field((await http.send("GET", path)).body, "metadata", "uid");
  const old = await uid();
  await http.send("DELETE", path);
  const body = { metadata: { name: "again-0" } };
  const made = async (): Promise<boolean> =>
    (await http.send("POST", "/api/v1/namespaces", { body })).status === 201;
  await eventually("it can be made again", made, PATIENCE_MS);
  assert.notEqual(await uid(), old);
  await eventually("the copies again", both, PATIENCE_MS);
  const failed = controller.log.filter((line) => field(line, "level") === "error");
  assert.deepEqual(failed, []);
  assert.equal(await controller.stop(), 0);
});
