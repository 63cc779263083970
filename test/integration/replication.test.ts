// The first minute: a Secret that is annotated once, its copies with their annotations, and a dry run of it. What
// happens to copies afterwards is in the scenarios beside this file. Runs on the sandbox and on a real API server.
import assert from "node:assert/strict";
import { scenario as test } from "../support/scenes/both-kinds.ts";
import { eventually } from "../../packages/kube/testing/eventually.ts";
import { openScene, type Scene } from "../support/scenes/scene.ts";

const TEAMS = ["team-a", "team-b", "team-c"];

/** Three team namespaces, one other, and a source for the teams. */
async function teams(scene: Scene): Promise<readonly string[]> {
  const namespaces = await Promise.all(TEAMS.map((team) => scene.namespace(team)));
  await scene.namespace("legacy");
  await scene.api.createSecret(scene.source, "registry", {
    annotations: { "secretcast.io/to": scene.name("team-*") },
    data: { user: "ada", password: "one" },
  });
  return namespaces;
}

const FIRST = { user: "ada", password: "one" };

test("a Secret annotated once is in every namespace that it names, and in no other", async (t) => {
  const scene = await openScene(t);
  const namespaces = await teams(scene);
  scene.start();
  for (const namespace of namespaces) await scene.holds(namespace, "registry", FIRST);
  assert.equal(await scene.api.secret(scene.name("legacy"), "registry"), undefined);
  const copy = await scene.api.secret(scene.name("team-a"), "registry");
  const source = await scene.api.secret(scene.source, "registry");
  assert.equal(copy?.metadata.labels?.["app.kubernetes.io/managed-by"], "secretcast");
  assert.deepEqual(copy?.metadata.annotations, {
    "secretcast.io/source": `${scene.source}/registry`,
    "secretcast.io/source-uid": source?.metadata.uid,
    "secretcast.io/source-version": source?.metadata.resourceVersion,
    "secretcast.io/placed-at": `${scene.name("team-a")}/registry`,
  });
  const plan = await scene.finish();
  assert.equal(plan.states.current, 3);
});

test("a dry run says what it would write and writes nothing", async (t) => {
  const scene = await openScene(t);
  await teams(scene);
  const before = await scene.versions();
  const running = scene.start({ "dry-run": true });
  await eventually("it has planned", () => running.settled() !== undefined);
  await running.stop();
  assert.deepEqual(await scene.versions(), before);
  scene.isFinished = true;
  const reported = running.log.filter((line) => line.includes("would write"));
  assert.equal(reported.length, 3);
});
