// What operators do to a controller and what happens to it: conflicts by the thousand on the first
// day, refused credentials, an uninstall, a mistake that would delete everything, a clock that is off.
// Replicas are in scenarios-replicas.test.ts.
import assert from "node:assert/strict";
import { scenario as test } from "../support/scenes/both-kinds.ts";
import { annotationKey } from "../../src/controller/annotations/vocabulary.ts";
import { all, copied, crews, ONE, source, TWO } from "../support/scenes/crews.ts";
import { ElasticClock } from "../support/time/elastic-clock.ts";
import { eventually } from "../../packages/kube/testing/eventually.ts";
import { openStage, refusal } from "../support/scenes/proxied.ts";
import { openScene, type Running, type Scene } from "../support/scenes/scene.ts";
import { eventNotes } from "../support/scenes/told.ts";

const REFLECTED = { "reflector.v1.k8s.emberstack.com/auto-reflects": "True" };

test("a thousand conflicts on the first day are no write and one summary a source", async (t) => {
  const scene = await openScene(t);
  const namespaces = await numbered(scene, 50);
  const sources = Array.from({ length: 20 }, (_, at) => `s-${at}`);
  for (const name of sources) await source(scene, name);
  for (const namespace of namespaces)
    await Promise.all(sources.map((name) => inTheWay(scene, namespace, name)));
  const before = await scene.versions();
  const running = scene.start();
  await eventually("all are in conflict", () => running.settled()?.states.conflict === 1000);
  const notesOf = (name: string) => eventNotes(scene, scene.source, name, "Conflict");
  for (const name of sources)
    await eventually(`${name} has its Event`, async () => (await notesOf(name)).length > 0);
  await running.stop();
  assert.deepEqual(running.outcomes, []);
  assert.deepEqual(await scene.versions(), before);
  const reported = running.log.filter((line) => line.includes("in conflict"));
  assert.equal(reported.length, sources.length);
  assert.ok(running.log.length < 60, `${running.log.length} lines`);
  for (const name of sources) {
    const [note, ...more] = await notesOf(name);
    assert.match(note ?? "", /^not copied to 50 namespaces \(.* and 45 more\)/);
    assert.deepEqual(more, []);
  }
});

for (const [status, reason] of [
  [401, "Unauthorized"],
  [403, "Forbidden"],
] as const)
  test(`a server that answers ${status} to everything is told of, and nothing is lost`, async (t) => {
    const { scene, proxy } = await openStage(t);
    const namespaces = await crews(scene);
    const running = scene.start();
    await all(scene, namespaces, ONE);
    const before = await scene.versions();
    proxy.rule = () => refusal(status, reason);
    proxy.resetAll();
    await eventually("it is told", () => tells(running, `${status} ${reason}`));
    assert.deepEqual(await scene.versions(), before);
    await scene.api.setData(scene.source, "registry", TWO);
    proxy.rule = () => undefined;
    await all(scene, namespaces, TWO);
  });

test("after an uninstall every Secret is usable and nothing is stuck", async (t) => {
  const scene = await openScene(t);
  const [a = "", b = ""] = await copied(scene);
  for (const { metadata } of await scene.api.secrets()) {
    if (!metadata.namespace?.startsWith(scene.prefix)) continue;
    assert.equal(metadata.finalizers, undefined);
    assert.equal("ownerReferences" in metadata, false);
  }
  // What is there belongs to its namespaces from now on, whatever becomes of the source.
  await scene.api.deleteSecret(scene.source, "registry");
  await all(scene, [a, b], ONE);
  await scene.api.setData(a, "registry", TWO);
  await scene.holds(a, "registry", TWO);
  await scene.api.deleteSecret(a, "registry");
  assert.equal(await scene.api.secret(a, "registry"), undefined);
  scene.release(b, "own");
  await scene.api.deleteNamespace(b);
  await scene.api.namespaceGone(b);
});

const MISTAKES: Readonly<Record<string, (scene: Scene, name: string) => Promise<unknown>>> = {
  "sources that all lose their annotations": (scene, name) =>
    scene.api.annotate(scene.source, name, { [annotationKey("to")]: null }),
  "a selector that matches nothing any more": (scene, name) =>
    scene.api.annotate(scene.source, name, { [annotationKey("to-selector")]: "no=where" }),
  "sources that are all deleted": (scene, name) => scene.api.deleteSecret(scene.source, name),
};
const HOLD = { "delete-hold": "10m" };
for (const [what, mistake] of Object.entries(MISTAKES))
  test(`${what} delete nothing before the hold is over, and it is said`, async (t) => {
    const scene = await openScene(t);
    const clock = (scene.clock = new ElasticClock());
    const namespaces = await numbered(scene, 5);
    const names = ["registry", "s-1", "s-2"];
    for (const name of names) await source(scene, name);
    await scene.unmanaged(namespaces[0] ?? "", "own", { data: ONE });
    const running = scene.start(HOLD);
    await eventually("all are copied", () => running.settled()?.states.current === 15);
    const before = await scene.versions();
    // At once, so that no sync sees but a part of it for long.
    await Promise.all(names.map((name) => mistake(scene, name)));
    const held = 15;
    await eventually("they are held", () => running.settled()?.states.held === held);
    assert.ok(tells(running, '"held"'));
    const since = clock.monotonic();
    // So fast that a machine that stands still for seconds does not reach the end of the hold.
    clock.run(100);
    await eventually("two minutes have passed", () => clock.monotonic() - since > 120_000);
    clock.run(1);
    await source(scene, "fresh");
    for (const namespace of namespaces) await scene.holds(namespace, "fresh", ONE);
    const now = await scene.versions();
    const left = [...before].filter(([place, version]) => now.get(place) === version);
    assert.ok(left.length >= held, `${left.length} of ${held} are as they were`);
    clock.run(300);
    await eventually("the hold is nearly over", () => clock.monotonic() - since > 9 * 60_000);
    // A live read is good for a minute, which at full speed is less than a busy machine takes to use it.
    clock.run(60);
    for (const namespace of namespaces)
      for (const name of names) await scene.absent(namespace, name);
    clock.run(1);
  });

test("wall clocks that are years off and restarts in a loop change nothing", async (t) => {
  const scene = await openScene(t);
  const namespaces = await copied(scene);
  const year = 365 * 24 * 3600 * 1000;
  let data = ONE;
  for (const skewMs of [20 * year, -20 * year, 60_000, -60_000]) {
    const before = await scene.versions();
    scene.clock = new ElasticClock(skewMs);
    const first = scene.start();
    await eventually("it has seen it all", () => first.settled());
    await first.stop();
    assert.deepEqual(first.outcomes, []);
    assert.deepEqual(await scene.versions(), before);
    const second = scene.start();
    data = { password: `skewed by ${skewMs}` };
    await scene.api.setData(scene.source, "registry", data);
    await all(scene, namespaces, data);
    await second.stop();
  }
});

/** The namespaces of so many crews. */
function numbered(scene: Scene, amount: number): Promise<readonly string[]> {
  const names = Array.from({ length: amount }, (_, at) => `crew-${at}`);
  return Promise.all(names.map((name) => scene.namespace(name)));
}

/** Somebody's Secret at a place that a source wants, every other one with a peer's mark. */
async function inTheWay(scene: Scene, namespace: string, name: string): Promise<void> {
  const annotations = {
    ...REFLECTED,
    "reflector.v1.k8s.emberstack.com/reflects": `${scene.source}/${name}`,
  };
  const peer = name.length % 2 === 0 && { annotations };
  const { api, sandbox } = scene;
  if (sandbox)
    sandbox.load([
      { kind: api.kind, metadata: { namespace, name, ...peer }, data: api.encode(TWO) },
    ]);
  else await api.createSecret(namespace, name, { data: TWO, ...peer });
}

function tells(running: Running, words: string): boolean {
  return running.log.some((line) => line.includes(words));
}
