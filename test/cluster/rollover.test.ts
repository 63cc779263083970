// A rolling update as the two replicas of the manifests live through it, each a process of its own under
// the controller's own rights: the leader is told to stop, releases the Lease, and the stand-by writes.
import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { kubectlAt } from "../support/api-server/kubectl.ts";
import { sharedCluster } from "../support/api-server/cluster.ts";
import { spawnController } from "../support/programs/controller-process.ts";
import { eventually } from "../../packages/kube/testing/eventually.ts";
import { field } from "../../packages/sandbox/testing/http.ts";
import { ofSecrets as test } from "../support/scenes/scenario-end.ts";
import { openScene } from "../support/scenes/scene.ts";

type Replica = ReturnType<typeof spawnController>;

const says = ({ log }: Replica, message: string): boolean =>
  log.some((line) => field(line, "msg") === message);

function leaseHolder(): string {
  const given = ["-n", "secretcast", "get", "lease", "secretcast"];
  const path = "jsonpath={.spec.holderIdentity}";
  return kubectlAt(sharedCluster().kubeconfig, [...given, "-o", path]);
}

test("the leader stops, the stand-by writes, and nothing is lost in between", async (t: TestContext) => {
  const scene = await openScene(t);
  const { api, source } = scene;
  const [a, b] = [await scene.namespace("a"), await scene.namespace("b")];
  await scene.unmanaged(b, "other", { data: { own: "1" } });
  const start = (): Replica =>
    spawnController(t, scene.kubeconfig, {
      "source-namespaces": source,
      "leader-elect": "true",
      "lease-namespace": "secretcast",
    });
  const old = start();
  await eventually("the first replica leads", () => says(old, "leading"));
  const next = start();
  await eventually("the second replica waits, ready", () => says(next, "waiting for the lease"));
  assert.ok(await next.ready());
  assert.ok(!says(next, "leading"));
  const to = { "secretcast.io/to": scene.name("*") };
  await api.createSecret(source, "s", { annotations: to, data: { k: "before" } });
  for (const place of [a, b]) await scene.holds(place, "s", { k: "before" });
  const holder = leaseHolder();

  const reported = performance.now();
  const stopped = old.stop();
  // Whoever of the two sees it: it is written.
  await api.setData(source, "s", { k: "between" });
  assert.equal(await stopped, 0);
  const gone = performance.now();
  await eventually("the second replica leads", () => says(next, "leading"));
  for (const place of [a, b]) await scene.holds(place, "s", { k: "between" });
  // Only the new one is left to write this.
  await api.setData(source, "s", { k: "after" });
  await scene.holds(a, "s", { k: "after" });
  const written = performance.now();
  t.diagnostic(
    `roll-over: first write of the new leader ${Math.round(written - reported)} ms after SIGTERM to the old one, ${Math.round(written - gone)} ms after its exit`,
  );
  assert.notEqual(leaseHolder(), holder);
  assert.equal(await next.stop(), 0);
  assert.equal(leaseHolder(), "", "released");
});
