// The tenant guard on a real API server: a tenant with every right on Secrets can neither edit nor delete
// a copy, the controller, the cluster's own controllers and an administrator can.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { sharedCluster } from "../support/cluster.ts";
import { eventually } from "../support/eventually.ts";
import { openScene } from "../support/scene.ts";

const GUARD = fileURLToPath(new URL("../../manifests/components/tenant-guard", import.meta.url));
const TENANT = "tenant-of-the-guard";
const NAMESPACE_CONTROLLER = "system:serviceaccount:kube-system:namespace-controller";

function kubectl(...words: readonly string[]) {
  const given = ["--kubeconfig", sharedCluster().kubeconfig, ...words];
  const { status, stdout, stderr } = spawnSync("kubectl", given, { encoding: "utf8" });
  return { status, stdout, stderr };
}
function must(...words: readonly string[]): void {
  const { status, stderr } = kubectl(...words);
  assert.equal(status, 0, stderr);
}
const FILES = ["policy", "binding"].flatMap((name) => ["-f", `${GUARD}/${name}.yaml`]);

before(() => {
  must("apply", ...FILES);
  must("create", "clusterrole", TENANT, "--verb=*", "--resource=secrets");
  must("create", "clusterrolebinding", TENANT, `--clusterrole=${TENANT}`, `--user=${TENANT}`);
});
after(() => {
  must("delete", ...FILES);
  must("delete", `clusterrolebinding/${TENANT}`, `clusterrole/${TENANT}`);
});

test("a tenant neither edits nor deletes a copy; the controller goes on", async (t) => {
  const scene = await openScene(t);
  const { api, source } = scene;
  const a = await scene.namespace("a");
  const to = { "secretcast.io/to": a };
  await api.createSecret(source, "s", { annotations: to, data: { k: "1" } });
  const controller = scene.start();
  await scene.holds(a, "s", { k: "1" });
  const as = (user: string, ...words: readonly string[]) =>
    kubectl("--as", user, "-n", a, ...words);
  const refused = (words: readonly string[], reason: string): boolean => {
    const { status, stderr } = as(TENANT, ...words);
    if (status === 0) return false;
    assert.match(stderr, /ValidatingAdmissionPolicy 'secretcast-tenant-guard'/);
    assert.ok(stderr.includes(reason), stderr);
    return true;
  };
  const copy = `${a}/s is a copy of ${source}/s`;
  const edited = `${copy} and is kept equal to it by secretcast: change that one`;
  const probe = ["annotate", "secret", "s", "secretcast.io/placed-at-", "--dry-run=server"];
  await eventually("the guard is in force", () => refused(probe, edited));
  for (const change of [
    '{"data":{"k":"Mg=="}}',
    '{"data":{"more":"Mg=="}}',
    '{"immutable":true}',
    '{"metadata":{"labels":{"app.kubernetes.io/managed-by":"me"}}}',
    '{"metadata":{"labels":{"app.kubernetes.io/managed-by":null}}}',
    '{"metadata":{"annotations":{"secretcast.io/source-uid":"x"}}}',
    '{"metadata":{"annotations":{"secretcast.io/on-delete":"keep"}}}',
  ])
    assert.ok(refused(["patch", "secret", "s", "--type=merge", "-p", change], edited), change);
  const deleted = `${copy} and would be made again by secretcast: to be without it, annotate the namespace with secretcast.io/accept`;
  assert.ok(refused(["delete", "secret", "s"], deleted));
  assert.ok(refused(["delete", "secret", "--all"], deleted));
  t.diagnostic(as(TENANT, "delete", "secret", "s").stderr.trim());
  t.diagnostic(as(TENANT, "label", "secret", "s", "app.kubernetes.io/managed-by-").stderr.trim());

  // What stays free: labels and annotations of their own, and every Secret that is no copy.
  assert.equal(as(TENANT, "label", "secret", "s", "team=a").status, 0);
  assert.equal(as(TENANT, "annotate", "secret", "s", "example.com/x=y").status, 0);
  await api.createSecret(a, "own", { data: { k: "1" } });
  assert.equal(as(TENANT, "delete", "secret", "own").status, 0);

  await api.setData(source, "s", { k: "2" });
  await scene.holds(a, "s", { k: "2" });
  await api.deleteSecret(source, "s");
  await scene.absent(a, "s");
  await controller.stop();
  await scene.finish();
});

test("a namespace with copies can be deleted, by whoever empties it", async (t) => {
  const scene = await openScene(t);
  const { api, source } = scene;
  const a = await scene.namespace("a");
  await api.createSecret(source, "s", { annotations: { "secretcast.io/to": a }, data: { k: "1" } });
  const controller = scene.start();
  await scene.holds(a, "s", { k: "1" });
  const rights = ["--clusterrole", TENANT, "--user", NAMESPACE_CONTROLLER];
  must("create", "rolebinding", "emptying", "-n", a, ...rights);
  must("--as", NAMESPACE_CONTROLLER, "-n", a, "delete", "secret", "s", "--dry-run=server");
  await api.deleteNamespace(a);
  await api.namespaceGone(a);
  await controller.stop();
  await scene.finish();
});
