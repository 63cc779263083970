// Whose a place is: a Secret that is not ours is never written to and never deleted, of two sources
// that want one place one has it, and a source made anew has its copies back. Runs on the sandbox and
// on a real API server.
import assert from "node:assert/strict";
import { scenario as test } from "../support/scenes/both-kinds.ts";
import type { ApiRequest } from "../../packages/kube/rest/api-client.ts";
import { eventually } from "../../packages/kube/testing/eventually.ts";
import { MINE, ONE, publishOne, TWO } from "../support/scenes/registry.ts";
import { openScene, type Scene } from "../support/scenes/scene.ts";
import { conflictTold, eventNotes, rowAt } from "../support/scenes/told.ts";

async function uidOf(scene: Scene, namespace: string): Promise<string | undefined> {
  return (await scene.api.secret(namespace, "registry"))?.metadata.uid;
}

test("an older Secret in the way is untouched by start, changes and resync", async (t) => {
  const scene = await openScene(t);
  const [taken, free] = [await scene.namespace("team-taken"), await scene.namespace("team-free")];
  const late = await scene.namespace("late");
  await scene.unmanaged(taken, "registry", { data: MINE });
  await scene.unmanaged(late, "registry", { data: MINE });
  await publishOne(scene, {
    annotations: { "secretcast.io/to": scene.name("*"), "secretcast.io/to-selector": "scene!=off" },
  });
  await scene.api.patchNamespace(late, { labels: { scene: "off" } });
  const running = scene.start({ resync: "100ms" });
  await scene.holds(free, "registry", ONE);
  await conflictTold(running, taken);
  await scene.api.patchNamespace(late, { labels: { scene: "on" } });
  await conflictTold(running, late);
  await scene.api.setData(scene.source, "registry", TWO);
  await scene.holds(free, "registry", TWO);
  const [note = ""] = await eventually("an Event tells it", async () => {
    const notes = await eventNotes(scene, scene.source, "registry", "Conflict");
    return notes.length > 1 && notes.toSorted((a, b) => b.length - a.length);
  });
  assert.ok(note.includes(taken) && note.includes(late), note);
  assert.ok(running.log.some((line) => line.includes("in conflict") && line.includes(taken)));
});

test("it is still there when the source is narrowed and when the source is deleted", async (t) => {
  const scene = await openScene(t);
  const [taken, free] = [await scene.namespace("team-taken"), await scene.namespace("team-free")];
  await scene.unmanaged(taken, "registry", { data: MINE });
  await publishOne(scene);
  const running = scene.start();
  await conflictTold(running, taken);
  await scene.api.annotate(scene.source, "registry", {
    "secretcast.io/to": scene.name("team-nobody"),
  });
  await scene.absent(free, "registry");
  await scene.api.annotate(scene.source, "registry", { "secretcast.io/to": scene.name("team-*") });
  await scene.holds(free, "registry", ONE);
  await scene.api.deleteSecret(scene.source, "registry");
  await scene.absent(free, "registry");
});

test("when it is deleted by its owner the copy appears without a restart", async (t) => {
  const scene = await openScene(t);
  const taken = await scene.namespace("team-taken");
  await scene.unmanaged(taken, "registry", { data: MINE });
  await publishOne(scene);
  const running = scene.start({ resync: "0" });
  await conflictTold(running, taken);
  scene.release(taken, "registry");
  await scene.api.deleteSecret(taken, "registry");
  await scene.holds(taken, "registry", ONE);
  await eventually("no conflict is told any more", () => running.settled()?.states.conflict === 0);
});

test("the first of two sources has the place, and the other takes over later", async (t) => {
  const scene = await openScene(t);
  const [place, rival] = [await scene.namespace("team-a"), await scene.namespace("rival")];
  scene.given = { "source-namespaces": `${scene.source},${rival}` };
  await publishOne(scene, { data: { from: "rival" } }, rival);
  await publishOne(scene);
  const running = scene.start();
  await scene.holds(place, "registry", ONE);
  await conflictTold(running, place);
  await eventually("an Event tells the loser", async () =>
    (await eventNotes(scene, rival, "registry", "Conflict")).at(0)?.includes(place),
  );
  const uid = await uidOf(scene, place);
  await scene.api.setData(rival, "registry", { from: "rival, changed" });
  await scene.api.setData(scene.source, "registry", TWO);
  await scene.holds(place, "registry", TWO);
  await scene.api.deleteSecret(scene.source, "registry");
  await scene.holds(place, "registry", { from: "rival, changed" });
  assert.equal(await uidOf(scene, place), uid, "one update, never a delete");
});

for (const down of [false, true])
  test(`a source recreated ${down ? "while the controller is down" : "within the grace"} updates its copies in place`, async (t) => {
    const scene = await openScene(t);
    const place = await scene.namespace("team-a");
    await publishOne(scene);
    const flags = { "delete-grace": "30s" };
    const first = scene.start(flags);
    await scene.holds(place, "registry", ONE);
    const uid = await uidOf(scene, place);
    if (down) await first.stop();
    await scene.api.deleteSecret(scene.source, "registry");
    if (!down) {
      const row = () => rowAt(first.settled(), `${place}/registry`);
      await eventually("it is seen to be absent", () => row()?.verdict === "delete");
    }
    const source = await publishOne(scene, { data: TWO });
    if (down) scene.start(flags);
    await scene.holds(place, "registry", TWO);
    const copy = await scene.api.secret(place, "registry");
    assert.equal(copy?.metadata.uid, uid, "there was no moment without it");
    assert.equal(copy?.metadata.annotations?.["secretcast.io/source-uid"], source.metadata.uid);
  });

/** Lets `race` happen once, between the controller's decision and the arrival of that write. */
function racing(method: ApiRequest["method"], race: () => Promise<unknown>) {
  const seen = { count: 0 };
  const meddle = async (request: ApiRequest): Promise<void> => {
    if (request.method === method && request.path.endsWith("/registry") && seen.count++ === 0)
      await race();
  };
  return { seen, meddle };
}

for (const method of ["DELETE", "PATCH"] as const)
  test(`a ${method} that loses the race against its owner's edit is judged again, not repeated`, async (t) => {
    const scene = await openScene(t);
    const [place, after] = [await scene.namespace("team-a"), await scene.namespace("after")];
    await publishOne(scene);
    const { seen, meddle } = racing(method, async () => {
      const annotations = { "secretcast.io/source": null };
      await scene.api.patchSecret(place, "registry", { metadata: { annotations }, data: null });
      await scene.leaveAlone(place, "registry");
    });
    const running = scene.start({}, meddle);
    await scene.holds(place, "registry", ONE);
    if (method === "PATCH") await scene.api.setData(scene.source, "registry", TWO);
    else await scene.api.deleteSecret(scene.source, "registry");
    await eventually("the write was tried", () => seen.count > 0);
    await scene.api.createSecret(scene.source, "later", {
      annotations: { "secretcast.io/to": after },
      data: ONE,
    });
    await scene.holds(after, "later", ONE);
    await eventually("it is settled", () => running.settled()?.states.pending === 0);
    await running.stop();
    assert.equal(seen.count, 1);
  });
