// `rotation` by a user without some rights: never 0, and the line to ask for is named.
import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { forbidden } from "../../support/cli/checked-server.ts";
import {
  at,
  rotated,
  rotationCluster,
  withVariable,
  type RotationCluster,
} from "../../support/cli/rotation-cluster.ts";

test("the Deployment of a ReplicaSet is named once, and without the right the ReplicaSet is", async (t) => {
  const cluster = await rotationCluster(t);
  const owner = {
    apiVersion: "apps/v1",
    kind: "ReplicaSet",
    name: "web-abc",
    uid: "1",
    controller: true,
  };
  for (const name of ["web-1", "web-2"]) {
    await cluster.pod(`team-a/${name}`, withVariable("registry"));
    await cluster.patch(`/api/v1/namespaces/team-a/pods/${name}`, {
      metadata: { ownerReferences: [owner] },
    });
  }
  const deployment = { ...owner, kind: "Deployment", name: "web" };
  const metadata = { name: "web-abc", namespace: "team-a", ownerReferences: [deployment] };
  cluster.sandbox.beforeRequest = ({ path }) =>
    path.endsWith("/replicasets/web-abc") ? { status: 200, body: { metadata } } : undefined;
  const { stdout } = await cluster.rotation();
  assert.equal(stdout.match(/kubectl rollout restart deployment\/web -n team-a/g)?.length, 1);
  assert.match(stdout, /^team-a +web-2 +Deployment\/web /m);
  cluster.sandbox.beforeRequest = ({ path }) => {
    const [status, body] = forbidden("get", "replicasets") ?? [403, ""];
    return path.endsWith("/replicasets/web-abc") ? { status, body } : undefined;
  };
  const denied = await cluster.rotation();
  assert.match(
    denied.stdout,
    /^ {2}kubectl delete pod web-1 -n team-a\n {2}kubectl delete pod web-2 -n team-a$/m,
  );
  assert.match(
    denied.stderr,
    /^secretcast: replicasets\.apps may not be read \(403 Forbidden\): .* ask for: kubectl create clusterrole /m,
  );
});

function withoutPods(t: TestContext, namespaces: readonly string[]): Promise<RotationCluster> {
  return rotationCluster(t).then((cluster) => {
    const [status, body] = forbidden("list", "pods") ?? [403, ""];
    cluster.sandbox.beforeRequest = ({ path }) => {
      const [, namespace] = /^\/api\/v1\/(?:namespaces\/([^/]+)\/)?pods\b/.exec(path) ?? [
        undefined,
        "",
      ];
      const isPods = /\/pods\b/.test(path);
      return isPods && (namespace === undefined || namespaces.includes(namespace))
        ? { status, body }
        : undefined;
    };
    return cluster;
  });
}

test("Pods that may not be listed give exit code 1 and the command to run", async (t) => {
  const cluster = await withoutPods(t, ["team-b"]);
  const answer = await rotated(cluster);
  assert.equal(answer.code, 1);
  assert.deepEqual(answer.blockers, [{ code: "PodsNotListed", count: 1 }]);
  assert.deepEqual(
    answer.items.filter(({ podsRead }) => !podsRead).map(({ namespace }) => namespace),
    ["team-b"],
  );
  assert.match(
    answer.stderr,
    /^secretcast: Pods may not be listed in team-b \(403 Forbidden\): .* ask for: kubectl create rolebinding secretcast-rotation -n team-b --clusterrole=view --user=USER$/m,
  );
});

test("Pods that may be listed in each namespace alone are enough", async (t) => {
  const cluster = await withoutPods(t, []);
  assert.equal((await rotated(cluster)).code, 0);
  await cluster.pod("team-b/web", withVariable("registry"));
  assert.deepEqual((await rotated(cluster)).blockers, [{ code: "PodsHold", count: 1 }]);
});

test("Secrets that may not be listed are 1, and never 0", async (t) => {
  const cluster = await rotationCluster(t);
  const [status, body] = forbidden("list", "secrets") ?? [403, ""];
  cluster.sandbox.beforeRequest = ({ path }) =>
    path.startsWith("/api/v1/secrets") || path.includes("/team-b/secrets")
      ? { status, body }
      : undefined;
  const { code, stderr } = await cluster.rotation();
  assert.equal(code, 1);
  assert.match(
    stderr,
    /^secretcast: secrets cannot be listed in all namespaces \(403 Forbidden\)/m,
  );
  assert.match(stderr, /^do not revoke the old value yet: not everything could be read$/m);
});

test("copies in namespaces that may not be listed give exit code 1", async (t) => {
  const cluster = await rotationCluster(t);
  const [status, body] = forbidden("list", "namespaces") ?? [403, ""];
  cluster.sandbox.beforeRequest = ({ path }) =>
    /^\/api\/v1\/namespaces(\?|$|\/[^/]+$)/.test(path) ? { status, body } : undefined;
  const answer = await rotated(cluster);
  assert.equal(answer.code, 1, answer.stderr);
  assert.ok(answer.blockers.every(({ code }) => code === "NotAllRead"));
  const { value, verdict, code } = at(answer, "team-a/registry");
  assert.deepEqual([value, verdict, code], ["present", "unknown", "NamespaceUnread"]);
  await cluster.pod("team-a/web", withVariable("registry"));
  assert.equal((await rotated(cluster)).code, 1);
});

test("copies outside --namespaces that may not be listed make it 1, whatever else is fine", async (t) => {
  const cluster = await rotationCluster(t);
  const [status, body] = forbidden("list", "secrets") ?? [403, ""];
  cluster.sandbox.beforeRequest = ({ path }) =>
    path.startsWith("/api/v1/secrets") ? { status, body } : undefined;
  const { code, stderr } = await cluster.rotation("--namespaces", "secretcast,team-a,team-b");
  assert.equal(code, 1, stderr);
  assert.match(
    stderr,
    /^secretcast: not every object may be listed \(403 Forbidden\): copies that were left outside --namespaces or --only-names are not known$/m,
  );
});
