// What stands between two versions: a copy that the next one marked, and a word of its that stands on a
// source, under this version; and the way back and forth. Runs on the sandbox and on a real API server.
import { whyOf } from "../support/planner/why-of.ts";
import assert from "node:assert/strict";
import { scenario as test } from "../support/scenes/both-kinds.ts";
import { eventually } from "../../packages/kube/testing/eventually.ts";
import { copied, copyIn, publishOne, TWO } from "../support/scenes/registry.ts";
import { openScene } from "../support/scenes/scene.ts";
import { rowAt } from "../support/scenes/told.ts";

/** A mark that this version does not know. */
const NEXT = "secretcast.io/mark-of-the-next-version";

test("the next version's copy under this version is left alone, and keeps its place", async (t) => {
  const scene = await openScene(t);
  const place = await scene.namespace("team-a");
  const other = await scene.namespace("team-b");
  await copied(scene, place, other);
  await scene.api.annotate(place, "registry", { [NEXT]: "x" });
  const left = await copyIn(scene, place);

  // Gone back: neither a change of the source nor its end reaches it; what has no such mark goes on.
  const back = scene.start();
  await scene.api.setData(scene.source, "registry", TWO);
  await scene.holds(other, "registry", TWO);
  const row = () => rowAt(back.settled(), `${place}/registry`);
  const reported = await eventually(
    "it is told as frozen",
    () => row()?.verdict === "frozen" && row(),
  );
  assert.match(whyOf(reported), /mark-of-the-next-version, which this version does not know/);
  assert.deepEqual(await copyIn(scene, place), left);
  await scene.api.deleteSecret(scene.source, "registry");
  await scene.absent(other, "registry");
  assert.deepEqual(await copyIn(scene, place), left);

  // Its place is kept: a new source of that name does not take it.
  await publishOne(scene, { data: TWO });
  await scene.holds(other, "registry", TWO);
  assert.deepEqual(await copyIn(scene, place), left);
  await back.stop();

  // And forward again: the version that knows the mark does with it what it likes; here it takes it off.
  await scene.api.annotate(place, "registry", { [NEXT]: null });
  scene.start();
  await scene.holds(place, "registry", TWO);
});

test("a source with a word of the next version is refused, and its copies stay", async (t) => {
  const scene = await openScene(t);
  const place = await scene.namespace("team-a");
  await copied(scene, place);
  await scene.api.annotate(scene.source, "registry", { "secretcast.io/word-of-the-next": "x" });
  await scene.api.setData(scene.source, "registry", TWO);
  const left = await copyIn(scene, place);

  const back = scene.start();
  const row = () => rowAt(back.settled(), `${place}/registry`);
  await eventually("its copy is frozen", () => row()?.verdict === "frozen");
  assert.deepEqual(await copyIn(scene, place), left);
  await back.stop();

  await scene.api.annotate(scene.source, "registry", { "secretcast.io/word-of-the-next": null });
  scene.start();
  await scene.holds(place, "registry", TWO);
});
