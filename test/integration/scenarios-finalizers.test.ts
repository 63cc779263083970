// A copy that a finalizer of somebody else holds: never in conflict with itself, and back at once.
import { whyOf } from "../support/planner/why-of.ts";
import assert from "node:assert/strict";
import { scenario as test } from "../support/scenes/both-kinds.ts";
import { eventually } from "../support/time/eventually.ts";
import { publishAll } from "../support/scenes/publish.ts";
import { openScene } from "../support/scenes/scene.ts";
import { rowAt } from "../support/scenes/told.ts";

const HOLD = "example.com/hold";

test("a copy that we delete behind a finalizer is waited for, and made again as soon as it is gone", async (t) => {
  const scene = await openScene(t);
  const team = await scene.namespace("team-a");
  await publishAll(scene, scene.source, { registry: { to: team } });
  const running = scene.start();
  await eventually("it is copied", () => scene.api.secret(team, "registry"));
  await scene.api.patchSecret(team, "registry", { metadata: { finalizers: [HOLD] } });
  await scene.api.annotate(scene.source, "registry", { "secretcast.io/to": "nowhere" });
  await eventually("it is being deleted", async () => {
    const copy = await scene.api.secret(team, "registry");
    return copy?.metadata["deletionTimestamp"] !== undefined;
  });
  await scene.api.annotate(scene.source, "registry", { "secretcast.io/to": team });
  await eventually("it is waited for", () => running.settled()?.states.pending === 1);
  assert.equal(running.settled()?.states.conflict, 0);
  await eventually("it says for what it waits", () => {
    const reason = whyOf(rowAt(running.settled(), `${team}/registry`));
    return reason.includes(`waits for the finalizer ${HOLD}; the copy is made again`);
  });
  const { uid } = (await scene.api.secret(team, "registry"))?.metadata ?? {};
  await scene.api.patchSecret(team, "registry", { metadata: { finalizers: null } });
  await eventually("another is there", async () => {
    const copy = await scene.api.secret(team, "registry");
    return copy !== undefined && copy.metadata.uid !== uid;
  });
  await running.stop();
  await scene.finish();
});
