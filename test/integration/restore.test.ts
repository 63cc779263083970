// What docs/operations.md promises of backups and of tools that apply manifests: a whole restore costs
// updates in place, and what a pulling Secret was filled with survives the next apply of its manifest.
// Runs on the sandbox and on a real API server; the apply needs kubectl.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { scenario as test } from "../support/scenes/both-kinds.ts";
import { sharedCluster } from "../support/api-server/cluster.ts";
import { Kubectl, kubectlMissing } from "../support/api-server/kubectl.ts";
import { openScene } from "../support/scenes/scene.ts";

const LOGIN = { password: "one" };

test("a backup of sources and copies, restored whole, costs an update in place each", async (t) => {
  const scene = await openScene(t);
  const places = [await scene.namespace("team-a"), await scene.namespace("team-b")];
  const annotations = { "secretcast.io/to": scene.name("team-*") };
  await scene.api.createSecret(scene.source, "registry", { annotations, data: LOGIN });
  const first = scene.start();
  for (const place of places) await scene.holds(place, "registry", LOGIN);
  await first.stop();

  const restored = { "velero.io/restore-name": "example" };
  const uids: string[] = [];
  for (const place of places) {
    const backup = (await scene.api.secret(place, "registry"))?.metadata;
    await scene.api.deleteSecret(place, "registry");
    const copy = await scene.api.createSecret(place, "registry", {
      labels: { ...backup?.labels, ...restored },
      annotations: { ...backup?.annotations },
      data: { password: "older" },
    });
    uids.push(copy.metadata.uid ?? "");
  }
  await scene.api.deleteSecret(scene.source, "registry");
  await scene.api.createSecret(scene.source, "registry", {
    labels: restored,
    annotations,
    data: LOGIN,
  });

  scene.start();
  for (const place of places) await scene.holds(place, "registry", LOGIN);
  const after = await Promise.all(places.map((place) => scene.api.secret(place, "registry")));
  assert.deepEqual(
    after.map((copy) => copy?.metadata.uid),
    uids,
  );
});

const missing = kubectlMissing();
test(
  "what a pulling Secret was filled with survives each apply of its manifest",
  { skip: missing ?? false },
  async (t) => {
    const scene = await openScene(t);
    const place = await scene.namespace("team-a");
    // On a real server the scene's kubeconfig is the controller's, which may create no such Secret.
    const kubeconfig = scene.sandbox ? scene.kubeconfig : sharedCluster().kubeconfig;
    const kubectl = new Kubectl(readFileSync(kubeconfig, "utf8"));
    t.after(() => kubectl.close());
    const allow = { "secretcast.io/allow": scene.name("team-*") };
    await scene.api.createSecret(scene.source, "login", { annotations: allow, data: LOGIN });
    const metadata = {
      name: "db",
      namespace: place,
      annotations: { "secretcast.io/from": `${scene.source}/login` },
    };
    const manifest = JSON.stringify({ apiVersion: "v1", kind: scene.api.kind, metadata });
    const apply = () => kubectl.run(["apply", "-f", "-"], { stdin: manifest });
    await apply();
    scene.start();
    await scene.holds(place, "db", LOGIN);
    const filled = await scene.api.secret(place, "db");
    assert.match(await apply(), /unchanged/);
    const after = await scene.api.secret(place, "db");
    assert.equal(after?.metadata.resourceVersion, filled?.metadata.resourceVersion);
    // The sandbox knows no server-side apply.
    const server = ["--server-side", "--force-conflicts", "--field-manager=gitops"];
    for (const _ of scene.sandbox === undefined ? ["takes the fields over", "again"] : []) {
      await kubectl.run(["apply", ...server, "-f", "-"], { stdin: manifest });
      assert.deepEqual((await scene.api.secret(place, "db"))?.data, filled?.data);
    }
  },
);
