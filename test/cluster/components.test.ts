// The small components on a real API server: it takes them without a warning and acts on what it can
// act on. Whether packets pass is the network plugin's to say; there is none here.
import assert from "node:assert/strict";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { controllerToken } from "../support/api-server/account.ts";
import { openCluster, sharedCluster } from "../support/api-server/cluster.ts";
import { quietKubectl } from "../support/api-server/kubectl.ts";
import { eventually } from "../../packages/kube/testing/eventually.ts";
import { field } from "../../packages/sandbox/testing/http.ts";

const FOLDER = fileURLToPath(new URL("../../manifests/components", import.meta.url));
const LEASE = "/apis/coordination.k8s.io/v1/namespaces/secretcast/leases/secretcast";
const SCHEMA = "/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas/secretcast-lease";

const kubectl = (...words: readonly string[]): void =>
  quietKubectl(sharedCluster().kubeconfig, words);

test("the network policy goes in", (t) => {
  const file = `${FOLDER}/network-policy/networkpolicy.yaml`;
  kubectl("apply", "-f", file);
  t.after(() => kubectl("delete", "-f", file));
});

test("with the lease's priority, the controller's Lease is on the level of leader elections", async (t) => {
  const cluster = sharedCluster();
  const controller = openCluster(cluster, controllerToken(cluster));
  const admin = openCluster(cluster);
  const file = `${FOLDER}/lease-priority/flowschema.yaml`;
  t.after(async () => {
    kubectl("delete", "-f", file);
    await Promise.all([controller.close(), admin.close()]);
  });
  const schemaOf = async (path: string): Promise<unknown> =>
    (await controller.send("GET", path)).headers["x-kubernetes-pf-flowschema-uid"];
  const before = await schemaOf(LEASE);
  kubectl("apply", "-f", file);
  const { body } = await admin.send("GET", SCHEMA);
  const uid = field(body, "metadata", "uid");
  assert.notEqual(before, uid);
  await eventually("the Lease is told apart", async () => (await schemaOf(LEASE)) === uid);
  assert.equal(await schemaOf("/api/v1/secrets?limit=1"), before, "and nothing else is");
});
