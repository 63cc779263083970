// Copies that others change or delete come back, and where nobody changes anything nothing is written.
// Runs on the sandbox and on a real API server.
import assert from "node:assert/strict";
import { scenario as test } from "../support/scenes/both-kinds.ts";
import type { RawSecret } from "../support/scenes/api.ts";
import { EVENTS, resourcePath } from "../../packages/kube/rest/resource.ts";
import { eventually } from "../../packages/kube/testing/eventually.ts";
import { openScene, type Scene } from "../support/scenes/scene.ts";

const DATA = { user: "ada", password: "one" };

/** Three team namespaces and a source for them, with metadata to copy. */
async function teams(scene: Scene): Promise<readonly [string, string, string]> {
  const namespaces = await Promise.all([
    scene.namespace("team-a"),
    scene.namespace("team-b"),
    scene.namespace("team-c"),
  ]);
  await scene.api.createSecret(scene.source, "registry", {
    labels: { tier: "gold" },
    annotations: {
      "secretcast.io/to": scene.name("team-*"),
      "secretcast.io/copy-labels": "tier",
      "secretcast.io/copy-annotations": "example.com/*",
      "secretcast.io/on-delete": "keep",
      "example.com/contact": "ada",
    },
    data: DATA,
  });
  return namespaces;
}

async function allHold(scene: Scene, namespaces: readonly string[]): Promise<void> {
  for (const namespace of namespaces) await scene.holds(namespace, "registry", DATA);
}

type Metadata = Pick<RawSecret["metadata"], "labels" | "annotations">;

async function metadataOf(scene: Scene, namespace: string): Promise<Metadata> {
  const { labels, annotations } = (await copyAt(scene, namespace)).metadata;
  return { labels: { ...labels }, annotations: { ...annotations } };
}

test("a copy with edited data is restored though its source is unchanged", async (t) => {
  const scene = await openScene(t);
  const [edited, added, taken] = await teams(scene);
  scene.start();
  await allHold(scene, [edited, added, taken]);
  const source = await scene.api.secret(scene.source, "registry");
  await scene.api.setData(edited, "registry", { password: "mine" });
  await scene.api.setData(added, "registry", { extra: "mine" });
  await scene.api.setData(taken, "registry", { user: null });
  await allHold(scene, [edited, added, taken]);
  assert.deepEqual(await scene.api.secret(scene.source, "registry"), source);
  const plan = await scene.finish();
  assert.equal(plan.states.current, 3);
});

test("a deleted copy is made again promptly without a finalizer of ours", async (t) => {
  const scene = await openScene(t);
  const namespaces = await teams(scene);
  scene.start();
  await allHold(scene, namespaces);
  const before = await copyAt(scene, namespaces[0]);
  assert.equal(before.metadata.finalizers, undefined);
  await scene.api.deleteSecret(namespaces[0], "registry");
  const another = async () => {
    const copy = await scene.api.secret(namespaces[0], "registry");
    return copy !== undefined && copy.metadata.uid !== before.metadata.uid;
  };
  await eventually("another object holds the place", another, 3000);
  await allHold(scene, namespaces);
});

test("a deleted copy with another's finalizer is made again after its end", async (t) => {
  const scene = await openScene(t);
  const namespaces = await teams(scene);
  scene.start();
  await allHold(scene, namespaces);
  const [held, other] = namespaces;
  const finalizers = ["example.com/backup"];
  const before = await scene.api.patchSecret(held, "registry", { metadata: { finalizers } });
  await scene.api.deleteSecret(held, "registry");
  // What comes after shows that the controller has seen the deletion and passed it over.
  await scene.api.deleteSecret(other, "registry");
  await allHold(scene, [other]);
  const waiting = await copyAt(scene, held);
  assert.equal(waiting.metadata.uid, before.metadata.uid);
  assert.deepEqual(waiting.metadata.finalizers, finalizers);
  await scene.api.patchSecret(held, "registry", { metadata: { finalizers: null } });
  await eventually("another object holds the place", async () => {
    const copy = await scene.api.secret(held, "registry");
    return copy !== undefined && copy.metadata.uid !== before.metadata.uid;
  });
});

test("of a copy's labels and annotations ours are restored and others' stay", async (t) => {
  const scene = await openScene(t);
  const places = [...(await teams(scene)), await scene.namespace("team-d")];
  scene.start();
  await allHold(scene, places);
  const others = { labels: { mine: "x" }, annotations: { "example.org/mine": "y" } };
  const expected = await Promise.all(
    places.map(async (place) => {
      const { labels, annotations } = await metadataOf(scene, place);
      return {
        labels: { ...labels, ...others.labels },
        annotations: { ...annotations, ...others.annotations },
      };
    }),
  );
  const edits = [
    { labels: { tier: "tin" }, annotations: { "example.com/contact": "eve" } },
    { labels: { tier: null }, annotations: { "example.com/contact": null } },
    { annotations: { "secretcast.io/on-delete": null, "secretcast.io/copied-keys": null } },
    { annotations: { "secretcast.io/source-version": "tampered" } },
  ];
  for (const [index, place] of places.entries()) {
    await scene.api.patchSecret(place, "registry", { metadata: others });
    await scene.api.patchSecret(place, "registry", { metadata: edits[index] });
  }
  await eventually("ours are back beside others'", async () => {
    const now = await Promise.all(places.map((place) => metadataOf(scene, place)));
    assert.deepEqual(now, expected);
    return true;
  });
});

test("drift that happened while the controller was down is repaired when it starts", async (t) => {
  const scene = await openScene(t);
  const [edited, deleted, late] = await teams(scene);
  const first = scene.start();
  await allHold(scene, [edited, deleted, late]);
  await first.stop();
  await scene.api.patchSecret(edited, "registry", {
    metadata: { labels: { tier: "tin" } },
    data: { password: "bWluZQ==", extra: "bWluZQ==" },
  });
  await scene.api.deleteSecret(deleted, "registry");
  await scene.api.patchNamespace(late, { annotations: { "secretcast.io/accept": "false" } });
  const fresh = await scene.namespace("team-d");
  scene.start();
  await allHold(scene, [edited, deleted, fresh]);
  assert.equal((await copyAt(scene, edited)).metadata.labels?.["tier"], "gold");
  // With `keep`, what is no longer accepted is left to the namespace without our marks.
  await eventually("the copy is released", async () => {
    const { metadata } = await copyAt(scene, late);
    return metadata.annotations?.["secretcast.io/source"] === undefined;
  });
});

test("resyncs, restarts and other metadata of a source cause no write", async (t) => {
  const scene = await openScene(t);
  const namespaces = await teams(scene);
  const first = scene.start();
  await allHold(scene, namespaces);
  await first.stop();
  const before = await quietState(scene);
  for (let restart = 0; restart < 3; restart++) {
    const again = scene.start({ resync: "20ms" });
    const plans = new Set<unknown>();
    await eventually("ten passes", () => plans.add(again.settled()).size > 10);
    await again.stop();
    assert.deepEqual(again.outcomes, []);
  }
  assert.deepEqual(await quietState(scene), before);
  const running = scene.start();
  await eventually("it has planned", () => running.settled());
  await scene.api.annotate(scene.source, "registry", { "reloader.example.org/seen": "1" });
  await scene.api.patchSecret(scene.source, "registry", { metadata: { labels: { seen: "1" } } });
  // A namespace made after these changes gets its copy after the pass that saw them.
  await allHold(scene, [await scene.namespace("team-d")]);
  await running.stop();
  const versions = await scene.versions();
  for (const namespace of namespaces)
    assert.equal(
      versions.get(`${namespace}/registry`),
      before.versions.get(`${namespace}/registry`),
    );
});

async function copyAt(scene: Scene, namespace: string): Promise<RawSecret> {
  const copy = await scene.api.secret(namespace, "registry");
  assert.ok(copy, `${namespace}/registry is there`);
  return copy;
}

/** Versions of the scene's Secrets, and how many Events there are on its sources. */
async function quietState(scene: Scene) {
  const { items } = await scene.api.client.request<{ items: readonly unknown[] }>({
    method: "GET",
    path: resourcePath(EVENTS, scene.source),
    what: "list events",
  });
  return { versions: await scene.versions(), events: items.length };
}
