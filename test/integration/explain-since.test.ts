// `secretcast explain --since`: why did this appear in my namespace, from marks, managedFields and Events, on the
// sandbox and on a real API server.
import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { sharedCluster } from "../support/api-server/cluster.ts";
import { commandLine, type Said } from "../support/programs/command-line.ts";
import { openScene, type Scene } from "../support/scenes/scene.ts";
import { ofSecrets as test } from "../support/scenes/scenario-end.ts";
import { eventually } from "../../packages/kube/testing/eventually.ts";

type Recorded = {
  readonly at: string;
  readonly object: string;
  readonly kind: string;
  readonly record: string;
  readonly by: string;
};

function explain(scene: Scene, ...words: readonly string[]): Promise<Said> {
  // On a real server the scene's own kubeconfig is that of the controller, which may not list Events.
  const { kubeconfig } = scene.sandbox ? scene : sharedCluster();
  const from = ["--source-namespaces", scene.source, "--kubeconfig", kubeconfig];
  return commandLine(["explain", ...words, ...from]);
}

async function copied(t: TestContext): Promise<{ scene: Scene; team: string }> {
  const scene = await openScene(t);
  const team = await scene.namespace("team-a");
  const data = { password: "hunter2" };
  await scene.api.createSecret(scene.source, "s", { data });
  await scene.api.client.request({
    method: "PATCH",
    path: `/api/v1/namespaces/${scene.source}/secrets/s`,
    query: { fieldManager: "platform-team" },
    body: { metadata: { annotations: { "secretcast.io/to": team } } },
    contentType: "application/merge-patch+json",
    what: "publish a secret",
  });
  const running = scene.start();
  await scene.holds(team, "s", data);
  await eventually("the Event is there", async () => {
    const { stdout } = await explain(scene, "s", "-n", scene.source, "--since", "1h", "-o", "json");
    return /Event Copied: copied to/.test(stdout);
  });
  await running.stop();
  return { scene, team };
}

test("a copy that appeared is explained by its marks, Event and last change of to", async (t) => {
  const { scene, team } = await copied(t);
  const said = await explain(scene, "s", "-n", team, "--since", "1h");
  assert.equal(said.code, 0, said.stderr);
  const source = `${scene.source}/s`;
  assert.match(said.stdout, new RegExp(`^Its marks: written from ${source}, version \\d+$`, "m"));
  const { object } = JSON.parse(
    (await explain(scene, "s", "-n", team, "--since", "1h", "-o", "json")).stdout,
  ) as { object: { is: string } };
  assert.equal(object.is, "copy");
  const json = JSON.parse(
    (await explain(scene, "s", "-n", team, "--since", "1h", "-o", "json")).stdout,
  );
  const records: readonly Recorded[] = json.recorded.records;
  const has = (of: string, by: RegExp, record: RegExp): boolean =>
    records.some((each) => each.object === of && by.test(each.by) && record.test(each.record));
  assert.ok(has(`Secret ${team}/s`, /^$/, /^created$/), said.stdout);
  assert.ok(has(`Secret ${team}/s`, /^secretcast$/, /data password/), said.stdout);
  assert.ok(has(`Secret ${source}`, /^platform-team$/, /secretcast\.io\/to/), said.stdout);
  assert.ok(has(`Secret ${source}`, /^secretcast$/, /^Event Copied: copied to/), said.stdout);
  assert.ok(has(`Namespace ${team}`, /^$/, /^created$/), said.stdout);
  const times = records.map(({ at }) => Date.parse(at));
  assert.deepEqual(
    times,
    times.toSorted((a, b) => a - b),
  );
  assert.match(said.stdout, /\nNot recorded in the cluster:\n {2}which user it was: /);
  assert.doesNotMatch(said.stdout + JSON.stringify(json), /hunter2|aHVudGVyMg/);
});

test("what is older than --since is left out, and that nothing is recorded is said", async (t) => {
  const { scene, team } = await copied(t);
  await eventually("a second has passed", async () => {
    const { stdout } = await explain(scene, "s", "-n", team, "--since", "10ms");
    return /^Nothing is recorded since \d{4}-/m.test(stdout) && /^Its marks: /m.test(stdout);
  });
  const plain = await explain(scene, "s", "-n", team);
  assert.doesNotMatch(plain.stdout, /recorded|Its marks/i);
});

test("a source that was deleted is explained by its Events while they are there", async (t) => {
  const { scene, team } = await copied(t);
  await scene.api.deleteSecret(team, "s");
  await scene.api.deleteSecret(scene.source, "s");
  const said = await explain(scene, "s", "-n", scene.source, "--since", "1h");
  assert.equal(said.code, 0, said.stderr);
  assert.match(said.stdout, /: it is not there$/m);
  assert.match(said.stdout, /Event Copied: copied to/);
  const never = await explain(scene, "never", "-n", scene.source, "--since", "1h");
  assert.deepEqual([never.code, never.stdout], [1, ""]);
  assert.match(never.stderr, /^secretcast: there is no Secret never in namespace /);
});
