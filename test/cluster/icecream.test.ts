// The example controller of a resource of its own, on a real API server. There is no scheduler and no
// kubelet here: the test binds Pods to nodes and says that they run.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { TestContext } from "node:test";
import { isDeepStrictEqual } from "node:util";
import { kubectlAt } from "../support/api-server/kubectl.ts";
import { sharedCluster } from "../support/api-server/cluster.ts";
import { eventually } from "../../packages/kube/testing/eventually.ts";
import { ok } from "../../packages/sandbox/testing/facts/place.ts";
import { field } from "../../packages/sandbox/testing/http.ts";
import { deployment, stage } from "../support/api-server/example-stage.ts";
import type { Stage } from "../support/api-server/example-stage.ts";

const merge = { contentType: "application/merge-patch+json" };
const SLOWLY_MS = 30_000;

const kubectl = (...words: readonly string[]): string =>
  kubectlAt(sharedCluster().kubeconfig, words);

type Shop = Stage & {
  readonly icecreams: string;
  readonly deployments: string;
  /** The value at `of` in what is at the path. */
  readonly read: (at: string, ...of: readonly (string | number)[]) => Promise<unknown>;
};

async function openShop(t: TestContext, namespace: string): Promise<Shop> {
  const set = await stage(t, namespace);
  kubectl("apply", "-f", "examples/icecream.yaml");
  kubectl("wait", "--for=condition=Established", "crd/icecreams.example.com");
  t.after(() => kubectl("delete", "crd", "icecreams.example.com"));
  await set.play("icecream", namespace).wrote("icecream: starting 2 workers");
  return {
    ...set,
    icecreams: set.path("example.com/v1alpha1", "icecreams"),
    deployments: set.path("apps/v1", "deployments"),
    read: async (at, ...of) => field((await set.http.send("GET", at)).body, ...of),
  };
}

async function order(shop: Shop, name: string, deploymentName: string, replicas: number) {
  const spec = { deploymentName, replicas };
  const body = { apiVersion: "example.com/v1alpha1", kind: "Icecream", metadata: { name }, spec };
  return ok(await shop.http.send("POST", shop.icecreams, { body }), 201);
}

async function items(shop: Shop, path: string): Promise<readonly unknown[]> {
  const list = await shop.read(path, "items");
  return Array.isArray(list) ? list : [];
}

/** Names of the Icecream's Pods that are not on their way out. */
async function podsOf(shop: Shop, icecream: string): Promise<readonly string[]> {
  const selector = `labelSelector=example.com/icecream%3D${icecream}`;
  const pods = await items(shop, `${shop.path("v1", "pods")}?${selector}`);
  const staying = pods.filter((pod) => !field(pod, "metadata", "deletionTimestamp"));
  return staying.map((pod) => String(field(pod, "metadata", "name")));
}

async function runPod({ http, path }: Shop, name: string, node: string): Promise<void> {
  const at = path("v1", "pods", name);
  const target = { metadata: { name }, target: { kind: "Node", name: node } };
  ok(await http.send("POST", `${at}/binding`, { body: target }), 201);
  const conditions = [{ type: "Ready", status: "True" }];
  const body = { status: { phase: "Running", conditions } };
  ok(await http.send("PATCH", `${at}/status`, { body, ...merge }), 200);
}

/** Type, reason and note of each Event about the object, without repetition. */
async function eventsAbout(shop: Shop, object: unknown): Promise<readonly string[]> {
  const uid = field(object, "metadata", "uid");
  const events = await items(shop, shop.path("events.k8s.io/v1", "events"));
  const ours = events.filter((event) => field(event, "regarding", "uid") === uid);
  const words = ours.map((event) =>
    ["type", "reason", "note"].map((part) => String(field(event, part))).join(" "),
  );
  return [...new Set(words)];
}

test("icecream makes its Deployment, keeps it, and tells where its Pods are", async (t) => {
  const shop = await openShop(t, "icecream");
  const { http, namespace, read, icecreams, deployments } = shop;
  const vanilla = await order(shop, "vanilla", "parlour", 2);
  const parlour = `${deployments}/parlour`;
  const owner = await eventually("the Deployment", () =>
    read(parlour, "metadata", "ownerReferences", 0),
  );
  assert.deepEqual([field(owner, "kind"), field(owner, "name")], ["Icecream", "vanilla"]);

  const body = { spec: { replicas: 5 } };
  ok(await http.send("PATCH", parlour, { body, ...merge }), 200);
  const replicas = async (): Promise<boolean> => (await read(parlour, "spec", "replicas")) === 2;
  await eventually("the scaling is taken back", replicas);

  const two = async () => {
    const names = await podsOf(shop, "vanilla");
    return names.length === 2 && names;
  };
  const names = await eventually("two Pods", two, SLOWLY_MS);
  for (const [at, name] of names.entries()) await runPod(shop, name, `node-${at}`);
  const expected = { availableReplicas: 2, nodes: ["node-0", "node-1"] };
  const reported = async (): Promise<boolean> =>
    isDeepStrictEqual(await read(`${icecreams}/vanilla`, "status"), expected);
  await eventually("the status says where they are", reported, SLOWLY_MS);
  const table = kubectl("get", "icecreams", "-n", namespace);
  assert.match(table, /^vanilla +2 +2 +\["node-0","node-1"\]/m);
  const synced = ["Normal Synced Icecream synced successfully"];
  assert.deepEqual(await eventsAbout(shop, vanilla), synced);

  ok(await http.send("DELETE", `${icecreams}/vanilla`), 200);
  const gone = async (): Promise<boolean> => (await http.send("GET", parlour)).status === 404;
  // The garbage collector looks for new kinds of owners each half minute.
  await eventually("the Deployment goes with its owner", gone, 3 * SLOWLY_MS);
});

test("icecream leaves a Deployment that is not its own alone, until it is gone", async (t) => {
  const shop = await openShop(t, "icecream-taken");
  const { http, read, deployments } = shop;
  ok(await http.send("POST", deployments, { body: deployment("parlour") }), 201);
  const lemon = await order(shop, "lemon", "parlour", 3);
  const words = await eventually("a warning", async () => (await eventsAbout(shop, lemon))[0]);
  const note = "Deployment parlour exists and is not managed by icecream-taken/lemon";
  assert.equal(words, `Warning ErrResourceExists ${note}`);
  const replicas = (): Promise<unknown> => read(`${deployments}/parlour`, "spec", "replicas");
  assert.equal(await replicas(), 1);
  ok(await http.send("DELETE", `${deployments}/parlour`), 200);
  await eventually("then it has its own", async () => (await replicas()) === 3, SLOWLY_MS);
});
