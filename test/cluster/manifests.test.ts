// The manifests on a real API server: it takes them without a warning, lets the pod in under Pod
// Security `restricted`, and gives the controller's account its rights and no others.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { quietKubectl, tryKubectl, type KubectlResult } from "../support/api-server/kubectl.ts";
import { ownCluster } from "../support/api-server/cluster.ts";
import { eventually } from "../../packages/kube/testing/eventually.ts";

const FOLDER = fileURLToPath(new URL("../../manifests", import.meta.url));
const ACCOUNT = "system:serviceaccount:secretcast:secretcast";

let cluster: Awaited<ReturnType<typeof ownCluster>>;
before(async () => {
  cluster = await ownCluster();
});
after(() => cluster.stop());

const kubectl = (...words: readonly string[]): KubectlResult =>
  tryKubectl(cluster.kubeconfig, words);

test("base and example go in without a warning, in either order and again", () => {
  for (const way of [
    ["-f", `${FOLDER}/example`],
    ["-k", FOLDER],
  ]) {
    quietKubectl(cluster.kubeconfig, ["apply", ...way]);
  }
  for (const way of [
    ["-k", FOLDER],
    ["-f", `${FOLDER}/example`],
  ]) {
    const lines = kubectl("apply", ...way)
      .stdout.trim()
      .split("\n");
    // A Secret written as stringData and a budget's selector are sent again: kubectl cannot see that
    // they are the same.
    for (const line of lines)
      assert.match(line, / unchanged$|^(secret\/registry|poddisruptionbudget.*) configured$/);
  }
});

test("both pods are let in", async () => {
  const pods = () => kubectl("get", "pods", "-n", "secretcast", "-o", "name").stdout;
  await eventually("the Deployment has its pods", () => pods().match(/^pod\//gm)?.length === 2);
});

test("the controller's account may do what it must, and nothing beside it", () => {
  const may = (...words: readonly string[]) =>
    kubectl("auth", "can-i", "--as", ACCOUNT, ...words).stdout.trim();
  for (const verb of ["get", "list", "watch", "create", "patch", "delete"])
    assert.equal(may(verb, "secrets", "-n", "team-a"), "yes", `${verb} secrets`);
  for (const verb of ["list", "watch"]) assert.equal(may(verb, "namespaces"), "yes", verb);
  for (const verb of ["create", "patch"])
    assert.equal(may(verb, "events.events.k8s.io", "-n", "team-a"), "yes", verb);
  assert.equal(may("create", "leases", "-n", "secretcast"), "yes");
  for (const verb of ["get", "update"])
    assert.equal(may(verb, "leases/secretcast", "-n", "secretcast"), "yes", verb);

  for (const refused of [
    ["update", "secrets", "-n", "team-a"],
    ["deletecollection", "secrets", "-n", "team-a"],
    ["patch", "namespaces"],
    ["delete", "namespaces"],
    ["get", "configmaps", "-n", "team-a"],
    ["create", "pods", "-n", "secretcast"],
    ["get", "leases/kube-controller-manager", "-n", "kube-system"],
    ["update", "leases/other", "-n", "secretcast"],
    ["create", "leases", "-n", "team-a"],
    ["delete", "leases/secretcast", "-n", "secretcast"],
    ["impersonate", "users"],
    ["escalate", "clusterroles"],
  ])
    assert.equal(may(...refused), "no", refused.join(" "));
});
