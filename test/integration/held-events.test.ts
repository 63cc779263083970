// Events of removals that are held where the source no longer exists, as kubectl shows them: on the controller's Lease.
import assert from "node:assert/strict";
import { annotationKey } from "../../src/controller/annotations/vocabulary.ts";
import { scenario as test } from "../support/scenes/both-kinds.ts";
import { openScene, type Scene } from "../support/scenes/scene.ts";
import { eventNotes } from "../support/scenes/told.ts";
import { sharedCluster } from "../support/api-server/cluster.ts";
import { commandLine } from "../support/programs/command-line.ts";
import { eventually } from "../../packages/kube/testing/eventually.ts";

const HOLD = { "delete-hold": "10m" };
const TO = annotationKey("to");
const DUE = /; will be deleted at \d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC \(in \d+m(\d+s)?\) unless /;

/** On a real server the controller's account may hold just the one Lease of the manifests. */
function elected({ sandbox, source }: Scene) {
  return { "leader-elect": true, "lease-namespace": sandbox ? source : "secretcast" };
}

async function publish(scene: Scene): Promise<void> {
  for (const team of ["team-a", "team-b"]) await scene.namespace(team);
  const annotations = { [TO]: scene.name("team-*") };
  await scene.api.createSecret(scene.source, "registry", { data: { a: "1" }, annotations });
  const first = scene.start();
  await eventually("both copies are there", () => first.settled()?.states.current === 2);
  await first.stop();
}

test("removals of a source that no longer exists have an Event on the controller's Lease", async (t) => {
  const scene = await openScene(t);
  await publish(scene);
  await scene.api.deleteSecret(scene.source, "registry");
  const flags = { ...HOLD, ...elected(scene) };
  const running = scene.start(flags);
  const note = await eventually("the hold is on the Lease", async () => {
    const at = flags["lease-namespace"];
    const found = await eventNotes(scene, at, "secretcast", "Held", "Lease");
    return found.find((each) => each.includes(scene.source));
  });
  assert.match(note, /^not deleted in 2 namespaces \(/);
  assert.match(note, /held, because the source no longer exists/);
  assert.match(note, DUE);
  assert.ok(running.log.some((line) => line.includes('"msg":"held"') && line.includes('"dueAt":')));
  await scene.finish({ "delete-hold": "10m" });
});

test("explain says what was removed with a source that no longer exists, and why", async (t) => {
  const scene = await openScene(t);
  await publish(scene);
  await scene.api.deleteSecret(scene.source, "registry");
  const flags = { ...elected(scene), "delete-hold": "1s" };
  scene.start(flags);
  const at = flags["lease-namespace"];
  await eventually("the removal is on the Lease", async () => {
    const found = await eventNotes(scene, at, "secretcast", "Removed", "Lease");
    return found.some((each) => each.includes(scene.source));
  });
  // On a real server the scene's own kubeconfig is that of the controller, which may not list Events.
  const { kubeconfig } = scene.sandbox ? scene : sharedCluster();
  const words = ["--source-namespaces", scene.source, "--lease-namespace", at];
  const maps = scene.api.kind === "ConfigMap" ? ["--config-maps"] : [];
  const asked = ["explain", `${scene.api.kind}/registry`, "-n", scene.source, ...words, ...maps];
  const { code, stderr } = await commandLine([...asked, "--kubeconfig", kubeconfig]);
  assert.equal(code, 1);
  assert.match(stderr, /; Lease \S+\/secretcast, \S+Z: Event Removed: removed from 2 namespaces/);
  assert.ok(stderr.includes(`source ${scene.source}/registry is gone`), stderr);
  await scene.finish();
});
