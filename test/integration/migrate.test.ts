// What other tools really left behind, moved over: correct copies get no write but their marks, none is
// lost, no unmanaged object is touched, and a changed source reaches every namespace that it reached before.
import assert from "node:assert/strict";
import { test } from "node:test";
import { refText } from "../../src/text/names.ts";
import { openScene } from "../support/scenes/scene.ts";
import { eventually } from "../../packages/kube/testing/eventually.ts";
import { adoptedPlaces, placeText, WorldScene } from "../support/worlds/world-scene.ts";
import { WORLDS, worldVerdicts, type WorldName } from "../support/worlds/world.ts";
import { OBJECT_KINDS } from "../../src/controller/model/kinds.ts";
import type { Action } from "../../src/controller/model/actions.ts";
import type { MovedSource } from "../../src/migrate/moves/moved-source.ts";
import type { FlagValues } from "../../src/controller/settings/config.ts";

/** The flags that the plan names, as a controller takes them. */
function given(flags: readonly string[]): FlagValues {
  const pairs = flags.map((flag) => /^--([a-z-]+)(?:=(.*))?$/.exec(flag) ?? []);
  return Object.fromEntries(pairs.map(([, name = "", value]) => [name, value ?? true]));
}

/** Immutable copies of mutable sources, made so by a tenant or by the rule: no update can say so. */
const REPLACED: Readonly<Partial<Record<WorldName, readonly string[]>>> = {
  clustersecret: ["replace prod-eu/prod-db"],
  kyverno: ["replace dev-22/kit"],
  "external-secrets": ["replace dev/frozen", "replace team-a/frozen"],
};

function actionPlace({ objectKind, place }: Action): string {
  return placeText({ kind: objectKind, ...place });
}

/** A key of the source, and its key on copies. */
function someKey({ old, content }: MovedSource): { readonly own: string; readonly copied: string } {
  const [copied = "token", own = copied] =
    old.keys?.[0]?.split("=") ?? content?.data.keys().slice(0, 1) ?? [];
  return { own, copied };
}

for (const world of WORLDS) {
  test(`${world}: a move adopts what it may, and a run then writes nothing on it`, async (t) => {
    const scene = await openScene(t);
    const stage = new WorldScene(scene, world);
    await stage.load(t);
    const before = await stage.versions();
    const planned = await stage.plan();
    const places = adoptedPlaces(planned);
    const yes = worldVerdicts(world).filter(({ adopt }) => adopt === "yes");
    const sure = yes.map(({ object }) => object.replace("Secret ", ""));
    const may = worldVerdicts(world).filter(({ adopt }) => adopt === "may");
    const allowed = new Set([...yes, ...may].map(({ object }) => object.replace("Secret ", "")));
    assert.deepEqual(
      places.filter((place) => !allowed.has(place)),
      [],
    );
    assert.deepEqual(
      sure.filter((place) => !places.includes(place)),
      [],
    );

    const progress: number[] = [];
    const { result } = await stage.move({ onProgress: (done) => void progress.push(done) });
    assert.deepEqual(result.failures, []);
    assert.equal(result.written.copies, places.length);
    const total = planned.sources.length + planned.namespaces.length + places.length;
    assert.deepEqual(
      progress,
      Array.from({ length: total }, (_, index) => index + 1),
    );
    const moved = await stage.versions();
    const touched = new Set([...places, ...planned.sources.map(({ place }) => placeText(place))]);
    const untouched = [...before].filter(([place]) => !touched.has(place));
    assert.deepEqual(
      untouched.filter(([place, version]) => moved.get(place) !== version),
      [],
    );
    assert.deepEqual((await stage.move()).result.written, { sources: 0, namespaces: 0, copies: 0 });
    assert.deepEqual(await stage.versions(), moved, "run again it writes nothing");

    const flags = given(planned.flags);
    if (flags["config-maps"] === true) scene.kinds = OBJECT_KINDS;
    const running = scene.start({ ...flags, once: true });
    await running.ended;
    const writes = running.outcomes.filter(({ kind }) => kind === "done" || kind === "removed");
    const onAdopted = writes
      .filter(({ action }) => places.includes(actionPlace(action)))
      .map(({ action }) => `${action.kind} ${actionPlace(action)}`);
    assert.deepEqual(onAdopted.toSorted(), REPLACED[world] ?? []);
    assert.equal(writes.filter(({ kind }) => kind === "removed").length, 0);

    scene.start(flags);
    for (const source of planned.sources.filter(
      ({ write, object }) => write !== "refused" && object?.immutable !== true,
    )) {
      const { kind, namespace, name } = source.place;
      const api = kind === "ConfigMap" ? stage.maps : scene.api;
      const { own, copied } = someKey(source);
      if (own.startsWith(".docker")) continue;
      await api.setData(namespace, name, { [own]: "changed-by-the-test" });
      for (const { object } of planned.copies.filter(
        ({ state, moved: own }) => state === "adoptable" && own?.old.title === source.old.title,
      )) {
        await eventually(`${placeText(object)} follows ${placeText(source.place)}`, async () => {
          const found = await api.secret(object.namespace, object.name);
          assert.equal(found?.data?.[copied], "changed-by-the-test");
          return true;
        });
      }
    }
  });
}

test("a source that something else makes moves by the source list, and is never written", async (t) => {
  const scene = await openScene(t);
  const stage = new WorldScene(scene, "kubed", true);
  await stage.load(t);
  const before = await stage.versions();
  const planned = await stage.plan();
  const entered = planned.sources.filter(({ write }) => write === "enter");
  assert.deepEqual(
    entered.map(({ place, madeBy }) => `${refText(place)} ${madeBy ?? ""}`),
    ["central/nonprod Flux", "central/regcred Argo CD", "certs/wildcard the Certificate wildcard"],
  );
  const places = adoptedPlaces(planned);
  const { result } = await stage.move();
  assert.deepEqual(result, {
    written: { sources: 10, namespaces: 0, copies: places.length },
    failures: [],
  });
  const moved = await stage.versions();
  for (const { place } of entered) {
    assert.equal(moved.get(refText(place)), before.get(refText(place)), refText(place));
  }
  assert.deepEqual((await stage.move()).result.written, { sources: 0, namespaces: 0, copies: 0 });
  const running = scene.start({ ...given(planned.flags), once: true });
  await running.ended;
  const onAdopted = running.outcomes
    .filter(({ kind, action }) => kind === "done" && places.includes(refText(action.place)))
    .map(({ action }) => `${action.kind} ${refText(action.place)}`);
  assert.deepEqual(onAdopted, []);
  scene.start(given(planned.flags));
  await scene.api.setData("central", "regcred", { ".dockerconfigjson": '{"auths":{}}' });
  await scene.holds("argocd", "regcred", { ".dockerconfigjson": '{"auths":{}}' });
});

test("once the old tool runs again no more is written", async (t) => {
  const scene = await openScene(t);
  const stage = new WorldScene(scene, "kubed");
  await stage.load(t);
  const before = await stage.versions();
  const running = "Pod kubed/kubed-1 runs the old tool's image";
  const { result } = await stage.move({ obstacle: () => Promise.resolve(running) });
  assert.deepEqual(result, {
    written: { sources: 0, namespaces: 0, copies: 0 },
    failures: [running],
  });
  assert.deepEqual(await stage.versions(), before);
});
