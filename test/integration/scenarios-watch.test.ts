// What the cache promises while networks break watches: nothing is missed, nobody is asked in a hot
// loop, a dead connection is found. A proxy between the controller and the server does the breaking;
// what is expected is read past it.
import assert from "node:assert/strict";
import { scenario as test } from "../support/scenes/both-kinds.ts";
import { annotationKey } from "../../src/controller/annotations/vocabulary.ts";
import { all, copied, crews, ONE, TWO } from "../support/scenes/crews.ts";
import { eventually } from "../../packages/kube/testing/eventually.ts";
import type { Fault } from "../../packages/kube/testing/fault-proxy.ts";
import { count, inGap, isWatch, NOTHING, openStage, refusal } from "../support/scenes/proxied.ts";
import { openScene } from "../support/scenes/scene.ts";

const EXPIRED =
  '{"type":"ERROR","object":{"kind":"Status","apiVersion":"v1","status":"Failure","code":410,"reason":"Expired"}}\n';

const ENDINGS: Readonly<Record<string, Fault>> = {
  "a reset": { kind: "reset" },
  "410 Gone as the answer": refusal(410, "Expired"),
  "an end without a word": NOTHING,
  "a cut inside a line": { kind: "cut", afterBytes: 60 },
  "500": refusal(500, "InternalError"),
};
for (const [what, fault] of Object.entries(ENDINGS))
  test(`after ${what} nothing that happened in the gap is missed`, async (t) => {
    const { scene, proxy } = await openStage(t);
    const namespaces = await crews(scene);
    scene.start();
    await all(scene, namespaces, ONE);
    await inGap(proxy, fault, async () => {
      await scene.api.setData(scene.source, "registry", TWO);
      await scene.namespace("crew-late");
    });
    await all(scene, [...namespaces, scene.name("crew-late")], TWO);
  });

test("a watch that ends with 410 Gone in its stream is listed anew", async (t) => {
  const { scene, proxy } = await openStage(t);
  const namespaces = await crews(scene);
  scene.start();
  await all(scene, namespaces, ONE);
  const lists = count(proxy, "stream");
  proxy.inject(EXPIRED);
  await scene.api.setData(scene.source, "registry", TWO);
  await all(scene, namespaces, TWO);
  await eventually("both are listed anew", () => count(proxy, "stream") >= lists + 2);
});

test("a server that closes every watch at once is not asked in a hot loop", async (t) => {
  const { scene, proxy, clock } = await openStage(t);
  const namespaces = await crews(scene);
  scene.start();
  await all(scene, namespaces, ONE);
  proxy.rule = (request) => (isWatch(request) ? NOTHING : undefined);
  const began = { asked: proxy.seen.length, at: clock.monotonic() };
  clock.run(30);
  proxy.resetAll();
  await eventually("a minute has passed", () => clock.monotonic() - began.at > 60_000);
  const asked = proxy.seen.length - began.asked;
  const scopes = proxy.seen
    .filter(isWatch)
    .map(({ path, query }) => `${path} ${query.get("fieldSelector") ?? ""}`);
  const watches = new Set(scopes).size;
  const within = asked >= watches && asked <= 12 * watches;
  assert.ok(within, `${asked} requests in a minute for ${watches} resources`);
  proxy.rule = () => undefined;
  await scene.api.setData(scene.source, "registry", TWO);
  await all(scene, namespaces, TWO);
});

test("an outage is reported with its time, and nothing counts as converged", async (t) => {
  const { scene, proxy, clock } = await openStage(t);
  const namespaces = await crews(scene);
  const running = scene.start({ resync: "20s" });
  await all(scene, namespaces, ONE);
  const { plural } = scene.api.resource;
  const disconnected = (resource: string): Promise<number> =>
    running.metric(`secretcast_watch_disconnected_seconds{resource="${resource}"}`);
  const converged = (): Promise<number> =>
    running.metric("secretcast_last_converged_timestamp_seconds");
  const synced = (): Promise<number> => running.metric('secretcast_syncs_total{result="ok"}');
  await eventually("a pass has found all current", async () => (await converged()) > 0);
  assert.deepEqual([await disconnected(plural), await disconnected("namespaces")], [0, 0]);
  proxy.rule = () => ({ kind: "reset" });
  proxy.resetAll();
  await eventually("both are disconnected", async () => {
    return (await disconnected(plural)) > 0 && (await disconnected("namespaces")) > 0;
  });
  assert.deepEqual(running.unready(), [], "a short outage takes nobody out of service");
  const [lastConverged, passes] = [await converged(), await synced()];
  clock.run(100);
  // On the sandbox a ConfigMap's controller watches Secrets too.
  await eventually("it is not ready any more", () => running.unready().length >= 2);
  assert.ok((await disconnected(plural)) > 30);
  assert.match(running.unready().join(), new RegExp(`${plural}: watch disconnected for \\d+ s`));
  assert.deepEqual(running.live(), [], "a restart would mend nothing");
  await eventually("a pass was made in the outage", async () => (await synced()) > passes);
  assert.equal(await converged(), lastConverged);
  proxy.rule = () => undefined;
  await eventually("it is ready again", () => running.ready());
  assert.deepEqual([await disconnected(plural), await disconnected("namespaces")], [0, 0]);
  await eventually("it converges again", async () => (await converged()) > lastConverged);
  clock.run(10);
});

test("a watch that goes silent without closing is replaced", async (t) => {
  const { scene, proxy, clock } = await openStage(t);
  const namespaces = await crews(scene);
  const running = scene.start();
  await all(scene, namespaces, ONE);
  proxy.freeze();
  await scene.api.setData(scene.source, "registry", TWO);
  // reflector.test.ts has the time, on a clock that stands still. Here a busy machine would count a hundred times.
  clock.run(100);
  await all(scene, namespaces, TWO);
  assert.deepEqual(running.live(), []);
  clock.run(10);
});

test("a source deleted in a watch gap loses its copies after the new list", async (t) => {
  const { scene, proxy } = await openStage(t);
  const namespaces = await crews(scene);
  scene.start();
  await all(scene, namespaces, ONE);
  const gone = refusal(410, "Expired");
  await inGap(proxy, gone, () => scene.api.deleteSecret(scene.source, "registry"));
  for (const namespace of namespaces) await scene.absent(namespace, "registry");
});

test("a source deleted while the controller is down takes its copies with it", async (t) => {
  const scene = await openScene(t);
  const namespaces = await copied(scene);
  await scene.api.deleteSecret(scene.source, "registry");
  scene.start();
  for (const namespace of namespaces) await scene.absent(namespace, "registry");
});

test("a source narrowed while the controller is down loses just the copies outside", async (t) => {
  const scene = await openScene(t);
  const [a = "", b = ""] = await copied(scene);
  await scene.api.annotate(scene.source, "registry", { [annotationKey("to")]: b });
  scene.start();
  await scene.absent(a, "registry");
  await scene.holds(b, "registry", ONE);
});

test("a source that lost its annotation while the controller is down loses its copies", async (t) => {
  const scene = await openScene(t);
  const namespaces = await copied(scene);
  await scene.api.annotate(scene.source, "registry", { [annotationKey("to")]: null });
  scene.start();
  for (const namespace of namespaces) await scene.absent(namespace, "registry");
});
