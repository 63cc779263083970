// The tenant guard on a real API server: a tenant with every right on Secrets can neither edit nor delete
// a copy; the controller, the cluster's own controllers and who may take the guard off can. Marks that
// the controller did not write guard nothing.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, type TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import { sharedCluster } from "../support/api-server/cluster.ts";
import { kubectlAt, tryKubectl } from "../support/api-server/kubectl.ts";
import { eventually } from "../../packages/kube/testing/eventually.ts";
import { openMaps } from "../support/scenes/both-kinds.ts";
import { ofSecrets as test } from "../support/scenes/scenario-end.ts";
import { openScene } from "../support/scenes/scene.ts";

const GUARD = fileURLToPath(new URL("../../manifests/components/tenant-guard", import.meta.url));
const TENANT = "tenant-of-the-guard";
const CARETAKER = "caretaker-of-the-guard";

const must = (...words: readonly string[]): string => kubectlAt(sharedCluster().kubeconfig, words);
const FILES = ["policy", "binding"].flatMap((name) => ["-f", `${GUARD}/${name}.yaml`]);

before(() => {
  must("apply", ...FILES);
  must("create", "clusterrole", TENANT, "--verb=*", "--resource=secrets,configmaps");
  const users = [TENANT, CARETAKER].map((user) => `--user=${user}`);
  must("create", "clusterrolebinding", TENANT, `--clusterrole=${TENANT}`, ...users);
  const policy = "--resource=validatingadmissionpolicies";
  must("create", "clusterrole", CARETAKER, "--verb=delete", policy);
  must(
    "create",
    "clusterrolebinding",
    CARETAKER,
    `--clusterrole=${CARETAKER}`,
    `--user=${CARETAKER}`,
  );
});
after(() => {
  must("delete", ...FILES);
  for (const user of [TENANT, CARETAKER])
    must("delete", `clusterrolebinding/${user}`, `clusterrole/${user}`);
});

const as = (user: string, namespace: string, ...words: readonly string[]) =>
  tryKubectl(sharedCluster().kubeconfig, ["--as", user, "-n", namespace, ...words]);

/** Whether the guard said no to the tenant, with this reason. */
function refuses(namespace: string, words: readonly string[], reason: string): boolean {
  const { code, stderr } = as(TENANT, namespace, ...words);
  if (code === 0) return false;
  assert.match(stderr, /ValidatingAdmissionPolicy 'secretcast-tenant-guard'/);
  assert.ok(stderr.includes(reason), stderr);
  return true;
}

const inForce = (namespace: string): Promise<boolean> => {
  const probe = ["annotate", "secret", "s", "secretcast.io/placed-at-", "--dry-run=server"];
  return eventually("the guard is in force", () => refuses(namespace, probe, "change that one"));
};

/** A running controller, and its copy of SOURCE/s in the namespace `a`, guarded. */
async function guarded(t: TestContext) {
  const scene = await openScene(t);
  const a = await scene.namespace("a");
  const annotations = { "secretcast.io/to": a };
  await scene.api.createSecret(scene.source, "s", { annotations, data: { k: "1" } });
  const controller = scene.start();
  await scene.holds(a, "s", { k: "1" });
  await inForce(a);
  return { scene, a, controller };
}

test("a tenant neither edits nor deletes a copy; the controller goes on", async (t) => {
  const { scene, a } = await guarded(t);
  const { api, source } = scene;
  const copy = `${a}/s is a copy of ${source}/s`;
  const edited = `${copy} and is kept equal to it by secretcast: change that one`;
  for (const change of [
    '{"data":{"k":"Mg=="}}',
    '{"data":{"more":"Mg=="}}',
    '{"immutable":true}',
    '{"metadata":{"labels":{"app.kubernetes.io/managed-by":"me"}}}',
    '{"metadata":{"labels":{"app.kubernetes.io/managed-by":null}}}',
    '{"metadata":{"annotations":{"secretcast.io/source-uid":"x"}}}',
    '{"metadata":{"annotations":{"secretcast.io/on-delete":"keep"}}}',
    '{"metadata":{"managedFields":[{}]}}',
  ])
    assert.ok(refuses(a, ["patch", "secret", "s", "--type=merge", "-p", change], edited), change);
  const deleted = `${copy} and would be made again by secretcast: to be without it, annotate the namespace with secretcast.io/accept`;
  assert.ok(refuses(a, ["delete", "secret", "s"], deleted));
  assert.ok(refuses(a, ["delete", "secret", "--all"], deleted));
  t.diagnostic(as(TENANT, a, "delete", "secret", "s").stderr.trim());
  t.diagnostic(
    as(TENANT, a, "label", "secret", "s", "app.kubernetes.io/managed-by-").stderr.trim(),
  );

  // What stays free: labels and annotations of their own, and every Secret that is no copy.
  assert.equal(as(TENANT, a, "label", "secret", "s", "team=a").code, 0);
  assert.equal(as(TENANT, a, "annotate", "secret", "s", "example.com/x=y").code, 0);
  await api.createSecret(a, "own", { data: { k: "1" } });
  assert.equal(as(TENANT, a, "delete", "secret", "own").code, 0);

  await api.setData(source, "s", { k: "2" });
  await scene.holds(a, "s", { k: "2" });
  await api.deleteSecret(source, "s");
  await scene.absent(a, "s");
});

test("a copy that is a ConfigMap is guarded alike, its binary data too", async (t) => {
  const scene = await openMaps(t, openScene);
  const { api, source } = scene;
  const a = await scene.namespace("a");
  const annotations = { "secretcast.io/to": a };
  await api.createSecret(source, "s", { annotations, data: { k: "1" } });
  scene.start();
  await scene.holds(a, "s", { k: "1" });
  for (const change of [
    '{"data":{"k":"2"}}',
    '{"binaryData":{"b":"Mg=="}}',
    '{"immutable":true}',
  ]) {
    const words = ["patch", "configmap", "s", "--type=merge", "-p", change];
    assert.ok(refuses(a, words, "change that one"), change);
  }
  assert.ok(refuses(a, ["delete", "configmap", "s"], "would be made again"));
  assert.equal(as(TENANT, a, "label", "configmap", "s", "team=a").code, 0);
  await api.deleteSecret(source, "s");
  await scene.absent(a, "s");
});

test("a copy stays guarded however many others write to it", async (t) => {
  const { a } = await guarded(t);
  // The API server keeps ten managers apart and merges the oldest of more.
  for (let writer = 0; writer < 14; writer++) {
    const words = ["label", "secret", "s", `writer-${writer}=x`, `--field-manager=w${writer}`];
    assert.equal(as(TENANT, a, ...words).code, 0);
  }
  assert.ok(refuses(a, ["delete", "secret", "s"], "would be made again"));
});

test("a tenant cannot direct the garbage collector at a copy by an owner reference", async (t) => {
  const { scene, a } = await guarded(t);
  const { api, source } = scene;
  const belongs = `${a}/s is a copy of ${source}/s and belongs to secretcast: do not add an owner reference to it`;
  const owner = (uid: string) => ({ apiVersion: "v1", kind: "ConfigMap", name: "owner", uid });
  const setOwners = (user: string, owners: readonly object[]) => {
    const change = JSON.stringify({ metadata: { ownerReferences: owners } });
    return ["patch", "secret", "s", "--type=merge", "-p", change, "--as", user];
  };
  const absent = owner("11111111-2222-3333-4444-555555555555");
  assert.ok(refuses(a, setOwners(TENANT, [absent]), belongs));
  assert.equal(as(TENANT, a, "create", "configmap", "owner").code, 0);
  const living = owner(as(TENANT, a, "get", "cm", "owner", "-o=jsonpath={.metadata.uid}").stdout);
  assert.ok(refuses(a, setOwners(TENANT, [living]), belongs));

  // One that an administrator set stays, and no other comes in its place.
  assert.equal(as(CARETAKER, a, ...setOwners(CARETAKER, [living])).code, 0);
  assert.equal(as(TENANT, a, "label", "secret", "s", "team=a").code, 0);
  assert.ok(refuses(a, setOwners(TENANT, [absent]), belongs));
  assert.ok(refuses(a, setOwners(TENANT, [living, absent]), belongs));
  await api.setData(source, "s", { k: "2" });
  await scene.holds(a, "s", { k: "2" });
  assert.equal(as(TENANT, a, ...setOwners(TENANT, [])).code, 0);
});

test("no number of annotations makes the API server slow or the guard blind", async (t) => {
  const { a } = await guarded(t);
  const folder = mkdtempSync(join(tmpdir(), "secretcast-patch-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const annotated = (count: number, more: object) => {
    const many = Object.fromEntries(
      Array.from({ length: count }, (_, at) => [at.toString(36), ""]),
    );
    const file = join(folder, "patch.json");
    writeFileSync(file, JSON.stringify({ metadata: { annotations: { ...many, ...more } } }));
    return ["patch", "secret", "s", "--type=merge", "--patch-file", file];
  };
  const few = "its annotations can be changed only while it has at most 1000";
  assert.ok(refuses(a, annotated(1000, {}), few));
  assert.equal(as(TENANT, a, ...annotated(900, {})).code, 0);
  assert.ok(refuses(a, annotated(0, { "secretcast.io/unknown": "x" }), "change that one"));

  assert.equal(as(CARETAKER, a, ...annotated(20_000, {})).code, 0);
  assert.ok(refuses(a, annotated(0, { "secretcast.io/source-uid": "x" }), few));
  assert.ok(refuses(a, annotated(0, { "secretcast.io/placed-at": null }), few));
  assert.ok(refuses(a, ["patch", "secret", "s", "-p", '{"data":{"k":"Mg=="}}'], "change that one"));
  assert.ok(refuses(a, ["delete", "secret", "s"], "would be made again"));
  assert.equal(as(TENANT, a, "label", "secret", "s", "team=a").code, 0);
});

test("who may delete the policy may delete a copy, by whatever group or role", async (t) => {
  const { scene, a } = await guarded(t);
  const change = ["patch", "secret", "s", "--type=merge", "-p", '{"data":{"k":"Mg=="}}'];
  assert.equal(as(CARETAKER, a, ...change).code, 0);
  assert.equal(as(CARETAKER, a, "delete", "secret", "s").code, 0);
  await scene.holds(a, "s", { k: "1" });
});

test("marks of another writer bind nobody: the owner edits and deletes the Secret", async (t) => {
  const { scene, a } = await guarded(t);
  const labels = { "app.kubernetes.io/managed-by": "secretcast" };
  const marks = (name: string) => ({
    "secretcast.io/source": "nowhere/no-such-source",
    "secretcast.io/source-uid": "11111111-2222-3333-4444-555555555555",
    "secretcast.io/placed-at": `${a}/${name}`,
  });
  const pulling = { ...marks("pulling"), "secretcast.io/from": "nowhere/no-such-source" };
  await scene.unmanaged(a, "forged", { labels, annotations: marks("forged"), data: { k: "1" } });
  await scene.unmanaged(a, "pulling", { labels, annotations: pulling, data: { k: "1" } });
  for (const name of ["forged", "pulling"]) {
    scene.release(a, name);
    const change = ["patch", "secret", name, "--type=merge", "-p", '{"data":{"k":"Mg=="}}'];
    assert.equal(as(TENANT, a, ...change).code, 0, name);
    assert.equal(as(TENANT, a, "delete", "secret", name).code, 0, name);
  }
  assert.ok(refuses(a, ["delete", "secret", "s"], "would be made again"), "a real one is guarded");
});

test("a namespace with copies can be deleted: the cluster's controllers empty it", async (t) => {
  const { scene, a } = await guarded(t);
  const { api } = scene;
  await api.deleteNamespace(a);
  await api.namespaceGone(a);
});
