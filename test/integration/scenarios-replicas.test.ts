// What happens when a leader dies in the middle of its work, and when two replicas overlap: the state
// converges, and nothing is damaged twice.
import assert from "node:assert/strict";
import { scenario as test } from "../support/scenes/both-kinds.ts";
import { refText } from "../../src/text/names.ts";
import type { Outcome } from "../../src/controller/writes/outcome.ts";
import { spawnController } from "../support/programs/controller-process.ts";
import { crews, source } from "../support/scenes/crews.ts";
import { ElasticClock } from "../support/time/elastic-clock.ts";
import { eventually } from "../../packages/kube/testing/eventually.ts";
import { field } from "../../packages/sandbox/testing/http.ts";
import { kubeConfigFile } from "../../packages/kube/testing/kubeconfig-text.ts";
import { proxied } from "../support/scenes/proxied.ts";
import { openScene, type Scene } from "../support/scenes/scene.ts";

const CREWS = 20;

/** Crews with unmanaged objects, many more crews, and two sources for all of them. */
async function crowd(scene: Scene): Promise<readonly string[]> {
  const names = Array.from({ length: CREWS - 2 }, (_, at) => `crew-${at}`);
  const first = await crews(scene);
  const more = await Promise.all(names.map((name) => scene.namespace(name)));
  await source(scene, "other");
  return [...first, ...more];
}

/** On a real server the controller's account may hold just the one Lease of the manifests. */
function elected({ sandbox, source }: Scene) {
  return { "leader-elect": true, "lease-namespace": sandbox ? source : "secretcast" };
}

/** Where the copy of this name is one. */
async function holders(scene: Scene, name: string): Promise<number> {
  const versions = await scene.versions();
  return [...versions.keys()].filter(
    (place) => /-crew-\w+\//.test(place) && place.endsWith(`/${name}`),
  ).length;
}

/** Places of creates that ended so. */
const createsThat = (ended: Outcome["kind"], outcomes: readonly Outcome[]): readonly string[] =>
  outcomes
    .filter(({ kind, action }) => kind === ended && action.kind === "create")
    .map(({ action }) => refText(action.place));

async function uids(scene: Scene, namespaces: readonly string[]): Promise<readonly unknown[]> {
  const found = await Promise.all(namespaces.map((ns) => scene.api.secret(ns, "other")));
  return found.map((secret) => secret?.metadata.uid);
}

test("a leader killed during a mass delete leaves it to the next one", async (t) => {
  const scene = await openScene(t);
  const namespaces = await crowd(scene);
  assert.equal(await scene.start({ once: true }).ended, "converged");
  const direct = scene.access;
  const proxy = await proxied(t, scene);
  const { kubeconfig: _, ...flags } = scene.flags();
  const first = spawnController(t, kubeConfigFile(t, scene.access), {
    ...flags,
    ...elected(scene),
    concurrency: "4",
  });
  await eventually("it leads", () => first.log.some((line) => field(line, "msg") === "leading"));
  scene.access = direct;
  const clock = (scene.clock = new ElasticClock());
  const second = scene.start(elected(scene));
  await eventually("the stand-by is ready", () => second.ready());
  const before = await uids(scene, namespaces);
  // The server hears the deletes and the leader never learns of it, so it is stuck among them.
  let deletes = 0;
  proxy.rule = ({ method }) =>
    method === "DELETE" && deletes++ >= 5 ? { kind: "silence", afterBytes: 0 } : undefined;
  await scene.api.deleteSecret(scene.source, "registry");
  await eventually("it is among the deletes", () => deletes >= 9);
  await first.kill();
  const left = await holders(scene, "registry");
  assert.ok(left > 0 && left < CREWS, `${left} of ${CREWS} are left`);
  assert.deepEqual(second.outcomes, []);
  clock.run(10);
  await eventually("all are gone", async () => (await holders(scene, "registry")) === 0);
  assert.deepEqual(await uids(scene, namespaces), before, "the other copies are the same objects");
  clock.run(1);
});

test("a replica that leaves during a fan-out hands it on without double copies", async (t) => {
  const scene = await openScene(t);
  await crowd(scene);
  const first = scene.start({ ...elected(scene), concurrency: "1" });
  const second = scene.start(elected(scene));
  await eventually("it is under way", () => first.outcomes.length + second.outcomes.length > 5);
  const [leaves, stayed] = first.outcomes.length > 0 ? [first, second] : [second, first];
  await leaves.stop();
  for (const name of ["registry", "other"])
    await eventually("all are copied", async () => (await holders(scene, name)) === CREWS);
  await eventually("it is settled", () => stayed.settled()?.states.current === 2 * CREWS);
  const outcomes = [...first.outcomes, ...second.outcomes];
  const made = createsThat("done", outcomes);
  assert.equal(new Set(made).size, made.length, "none is made twice");
  // What was on its way when the leader left, or took too long on a busy machine, may have arrived: nobody
  // heard the answer.
  const unheard = [...createsThat("stopped", outcomes), ...createsThat("failed", outcomes)];
  const begun = new Set([...made, ...unheard]);
  assert.equal(begun.size, 2 * CREWS, "each is made by one of them");
});
