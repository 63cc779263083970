// Trouble stays where it is: a tenant's nonsense, a namespace that cannot take a Secret. All others are
// served as ever. Runs on the sandbox and on a real API server.
import assert from "node:assert/strict";
import { scenario as test } from "../support/scenes/both-kinds.ts";
import { denyBoth } from "../support/api-server/denied.ts";
import { eventually } from "../../packages/kube/testing/eventually.ts";
import { publishAll } from "../support/scenes/publish.ts";
import { openScene, type Scene } from "../support/scenes/scene.ts";
import { eventNotes, rowAt } from "../support/scenes/told.ts";

const ONE = { password: "one" };

/** A source in the scene's own source namespace for the namespaces whose names begin with "team-". */
async function publish(scene: Scene): Promise<void> {
  const annotations = { "secretcast.io/to": scene.name("team-*") };
  await scene.api.createSecret(scene.source, "registry", { annotations, data: ONE });
}

test("a tenant's faulty annotation refuses its source and affects no one else", async (t) => {
  const scene = await openScene(t);
  const [place, tenant] = [await scene.namespace("team-a"), await scene.namespace("tenant")];
  const to = scene.name("team-*");
  const cases = {
    regex: { to: `^${scene.name("team-")}.*$` },
    json: { to: `["${scene.name("team-a")}"]` },
    selector: { "to-selector": "env in (a" },
    name: { to, name: "No_Name" },
    keys: { to, keys: "new=" },
    missing: { to, keys: "new=missing" },
    keep: { to, "on-delete": "perhaps" },
    paused: { to, paused: "yes" },
    allow: { allow: "(.*)" },
    empty: { to: "" },
    unknown: { to, "to-selecter": "env=a" },
  };
  await publishAll(scene, tenant, cases);
  scene.given = { "source-namespaces": `${tenant},${scene.source}` };
  const running = scene.start();
  await publish(scene);
  await scene.holds(place, "registry", ONE);
  await eventually("it is settled", () => running.settled()?.states.current);
  const refused = running.settled()?.sources.filter(({ state }) => state === "refused");
  assert.deepEqual(
    refused?.map(({ source }) => source.name).toSorted(),
    Object.keys(cases).toSorted(),
  );
  for (const [name, words] of Object.entries(cases)) {
    const annotation = `invalid secretcast.io/${Object.keys(words).at(-1)}: `;
    await eventually(`an Event on ${name} tells what is wrong`, async () => {
      const [note = ""] = await eventNotes(scene, tenant, name, "Refused");
      return note.startsWith(annotation) && note.includes(": expected ");
    });
  }
  const names = (await scene.api.secrets(place)).map(({ metadata }) => metadata.name);
  assert.deepEqual(names, ["registry"]);
});

test("a source that becomes invalid leaves its copies as they are, and others go on", async (t) => {
  const scene = await openScene(t);
  const [place, late] = [await scene.namespace("team-a"), scene.name("team-late")];
  await publish(scene);
  const annotations = { "secretcast.io/to": scene.name("team-*") };
  await scene.api.createSecret(scene.source, "spoilt", { annotations, data: ONE });
  const running = scene.start();
  await scene.holds(place, "spoilt", ONE);
  await scene.leaveAlone(place, "spoilt");
  await scene.api.annotate(scene.source, "spoilt", { "secretcast.io/to": "team-(a|b)" });
  await scene.api.setData(scene.source, "spoilt", { password: "two" });
  const row = () => rowAt(running.settled(), `${place}/spoilt`);
  await eventually("its copy is frozen", () => row()?.verdict === "frozen");
  await scene.namespace("team-late");
  await scene.holds(late, "registry", ONE);
  assert.equal(await scene.api.secret(late, "spoilt"), undefined);
});

test("a namespace with a full quota backs off, and the others have their copies", async (t) => {
  const scene = await openScene(t);
  const [full, checked] = [
    await scene.namespace("team-full"),
    await scene.namespace("team-checked"),
  ];
  const free = await scene.namespace("team-free");
  const denied = await denyBoth(scene, full, checked);
  await publish(scene);
  const started = performance.now();
  const running = scene.start({ resync: "20ms" });
  await scene.holds(free, "registry", ONE);
  const tried = (namespace: string) =>
    running.outcomes.filter(
      ({ kind, action }) => kind === "failed" && action.place.namespace === namespace,
    ).length;
  await eventually("each was tried again", () => tried(full) > 1 && tried(checked) > 1);
  assert.ok(performance.now() - started > 900, "the second try is a second after the first");
  for (const namespace of [full, checked]) {
    const verdict = () => rowAt(running.settled(), `${namespace}/registry`)?.verdict;
    // A plan may settle while a slow write still flies.
    await eventually("it waits for its next try", () => verdict() === "backoff");
    assert.equal(tried(namespace), 2, "as many resyncs as there are make no further try");
  }
  await eventually("an Event tells it", async () =>
    (await eventNotes(scene, scene.source, "registry", "Failed")).some(
      (note) => note.includes(full) && note.includes(checked),
    ),
  );
  await denied.lift();
  for (const namespace of [full, checked]) await scene.holds(namespace, "registry", ONE);
});

/** Deletes the namespace, which stays Terminating for as long as a finalizer holds something in it. */
async function terminate(scene: Scene, namespace: string): Promise<void> {
  await scene.unmanaged(namespace, "held", { finalizers: ["example.com/hold"] });
  await scene.api.deleteNamespace(namespace);
}

async function letGo(scene: Scene, namespace: string): Promise<void> {
  scene.release(namespace, "held");
  await scene.api.patchSecret(namespace, "held", { metadata: { finalizers: null } });
  await scene.api.namespaceGone(namespace);
}

test("a namespace being deleted takes part in nothing, for however long it is so", async (t) => {
  const scene = await openScene(t);
  const [dying, free] = [await scene.namespace("team-dying"), await scene.namespace("team-free")];
  await terminate(scene, dying);
  await publish(scene);
  const running = scene.start({ resync: "20ms" });
  await scene.holds(free, "registry", ONE);
  await scene.api.setData(scene.source, "registry", { password: "two" });
  await scene.holds(free, "registry", { password: "two" });
  await eventually("it is settled", () => running.settled()?.states.current === 1);
  assert.deepEqual(
    running.outcomes.filter(({ kind }) => kind !== "done"),
    [],
  );
  await letGo(scene, dying);
});

test("a namespace whose deletion overtakes the write is not tried again", async (t) => {
  const scene = await openScene(t);
  const [dying, free] = [await scene.namespace("team-dying"), await scene.namespace("team-free")];
  await publish(scene);
  let overtaken = false;
  const running = scene.start({ resync: "20ms" }, async ({ method, path }) => {
    if (overtaken || method !== "POST" || !path.includes(`/${dying}${scene.collection}`)) return;
    overtaken = true;
    await terminate(scene, dying);
  });
  await scene.holds(free, "registry", ONE);
  const tries = () =>
    running.outcomes
      .filter(({ action }) => action.place.namespace === dying)
      .map(({ kind }) => kind);
  await eventually("the write was refused", () => tries().length > 0);
  await eventually("nothing is left to do", () => running.settled()?.states.pending === 0);
  const before = tries();
  await scene.api.setData(scene.source, "registry", { password: "two" });
  await scene.holds(free, "registry", { password: "two" });
  assert.deepEqual(tries(), before);
  assert.ok(
    before.every((kind) => kind === "moved"),
    before.join(),
  );
  await letGo(scene, dying);
});
