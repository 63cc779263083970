// Events of removals that are held, as kubectl shows them: on the source, on the source list, and, where the
// source no longer exists, on the controller's Lease.
import assert from "node:assert/strict";
import { annotationKey } from "../../src/controller/annotations/vocabulary.ts";
import { scenario as test } from "../support/scenes/both-kinds.ts";
import { openScene, type Scene } from "../support/scenes/scene.ts";
import { eventNotes } from "../support/scenes/told.ts";
import { eventually } from "../support/time/eventually.ts";

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

test("removals of a source that no longer exists have an Event on the controller's Lease (A6)", async (t) => {
  const scene = await openScene(t);
  await publish(scene);
  await scene.api.deleteSecret(scene.source, "registry");
  const flags = { ...HOLD, ...elected(scene) };
  const running = scene.start(flags);
  const note = await eventually("the hold is on the Lease", async () => {
    const at = flags["lease-namespace"];
    const found = await eventNotes(scene, at, "secretcast", "DeletesHeld", "Lease");
    return found.find((each) => each.includes(scene.source));
  });
  assert.match(note, /^not deleted in 2 namespaces \(/);
  assert.match(note, /held, because this process has never seen the source/);
  assert.match(note, DUE);
  assert.ok(running.log.some((line) => line.includes('"msg":"held"') && line.includes('"dueAt":')));
  await running.stop();
  await scene.finish({ "delete-hold": "10m" });
});

test("a typing error in to has the Events DeletesHeld and Nowhere on the source (A4)", async (t) => {
  const scene = await openScene(t);
  await publish(scene);
  const running = scene.start(HOLD);
  await eventually("all is current", () => running.settled()?.states.current === 2);
  await scene.api.annotate(scene.source, "registry", { [TO]: "taem-*" });
  const notes = (reason: string) => eventNotes(scene, scene.source, "registry", reason);
  const note = await eventually("the hold is told", async () => (await notes("DeletesHeld"))[0]);
  assert.match(note, /held, because the change leaves the source without any copy/);
  assert.match(note, DUE);
  const nowhere = await eventually("so is the state", async () => (await notes("Nowhere"))[0]);
  assert.equal(nowhere, "an edit leaves the source without any copy");
  const { resource } = scene.api;
  const series = `secretcast_sources{state="nowhere",resource="${resource.plural}"}`;
  assert.equal(await running.metric(series), 1);
  await scene.api.annotate(scene.source, "registry", { [TO]: scene.name("team-*") });
  await eventually("all is current again", () => running.settled()?.states.current === 2);
  await running.stop();
  await scene.finish();
});
