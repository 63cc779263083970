// What a source holds and how its copies follow: another type, immutability, no data at all, and the
// API's limits of size. Runs on the sandbox and on a real API server.
import assert from "node:assert/strict";
import { scenario as test, secretsAlone } from "../support/scenes/both-kinds.ts";
import type { NewSecret } from "../support/scenes/api.ts";
import { eventually } from "../../packages/kube/testing/eventually.ts";
import { openFastScene } from "../support/scenes/fast-scene.ts";
import { copyIn, LOGIN, publish, stage } from "../support/scenes/registry.ts";
import type { Scene } from "../support/scenes/scene.ts";

async function rotate(scene: Scene, source: NewSecret): Promise<void> {
  await scene.api.deleteSecret(scene.source, "registry");
  await publish(scene, source);
}

secretsAlone(
  "a source made again with another type has its copies replaced, and no unmanaged object",
  "ConfigMaps have no types",
  async (t) => {
    const scene = await openFastScene(t);
    const namespace = await stage(scene, { data: LOGIN });
    scene.start({ "delete-grace": "1m" });
    await scene.holds(namespace, "registry", LOGIN);
    const before = await copyIn(scene, namespace);
    await rotate(scene, { type: "kubernetes.io/basic-auth", data: LOGIN });
    await eventually("the copy has the new type", async () => {
      const copy = await scene.api.secret(namespace, "registry");
      return copy?.type === "kubernetes.io/basic-auth" && copy.metadata.uid !== before.metadata.uid;
    });
    await scene.holds(namespace, "registry", LOGIN);
    const { states } = await scene.finish();
    assert.deepEqual([states.current, states.conflict], [1, 1]);
  },
);

test("copies of an immutable source follow it when it is rotated by making it again", async (t) => {
  const scene = await openFastScene(t);
  const namespace = await stage(scene, { immutable: true, data: LOGIN });
  const running = scene.start({ "delete-grace": "1m" });
  await scene.holds(namespace, "registry", LOGIN);
  assert.equal((await copyIn(scene, namespace)).immutable, true);
  const rotated = { ...LOGIN, password: "two" };
  await rotate(scene, { immutable: true, data: rotated });
  await scene.holds(namespace, "registry", rotated);
  assert.equal((await copyIn(scene, namespace)).immutable, true);
  await rotate(scene, { data: LOGIN });
  await scene.holds(namespace, "registry", LOGIN);
  assert.equal((await copyIn(scene, namespace)).immutable, undefined);
  await eventually("all is settled", () => running.settled()?.states.pending === 0);
  await running.stop();
  const replaced = running.outcomes.filter(({ action }) => action.kind === "replace");
  assert.equal(replaced.length, 2, "one replacement a rotation");
});

test("a copy that somebody made immutable is replaced and follows its source", async (t) => {
  const scene = await openFastScene(t);
  const namespace = await stage(scene, { data: LOGIN });
  scene.start();
  await scene.holds(namespace, "registry", LOGIN);
  await scene.api.patchSecret(namespace, "registry", { immutable: true });
  await scene.api.setData(scene.source, "registry", { password: "two" });
  await scene.holds(namespace, "registry", { ...LOGIN, password: "two" });
  assert.equal((await copyIn(scene, namespace)).immutable, undefined);
});

test("a source without data has copies without data, and an empty `keys` refuses", async (t) => {
  const scene = await openFastScene(t);
  const namespace = await stage(scene, {});
  const keys = (text: string): NewSecret => ({
    annotations: { "secretcast.io/to": namespace, "secretcast.io/keys": text },
    data: LOGIN,
  });
  await scene.api.createSecret(scene.source, "no-list", keys(""));
  await scene.api.createSecret(scene.source, "no-match", keys("token*"));
  scene.start();
  await eventually("the copy is there", () => scene.api.secret(namespace, "registry"));
  assert.equal((await copyIn(scene, namespace)).data, undefined);
  await scene.api.setData(scene.source, "registry", LOGIN);
  await scene.holds(namespace, "registry", LOGIN);
  await scene.api.patchSecret(scene.source, "registry", { data: null });
  await eventually("the copy is empty again", async () => {
    return Object.keys((await copyIn(scene, namespace)).data ?? {}).length === 0;
  });
  const { sources } = await scene.finish();
  const refused = sources.filter(({ state }) => state === "refused");
  assert.deepEqual(
    refused.map(({ source, problems }) => [source.name, problems[0]?.annotation]),
    [
      ["no-list", "secretcast.io/keys"],
      ["no-match", "secretcast.io/keys"],
    ],
  );
});

test("a source at the limits is copied without what does not fit", async (t) => {
  const scene = await openFastScene(t);
  const annotations = { "secretcast.io/copy-annotations": "*", small: "s", big: "" };
  const to = { "secretcast.io/to": scene.name("team-*") };
  // kube-apiserver: at most 1 MiB of values, and 256 KiB of annotations' keys and values.
  const used = Object.entries({ ...to, ...annotations })
    .flat()
    .join("").length;
  const data = { blob: "x".repeat(1024 * 1024) };
  const big = "b".repeat(256 * 1024 - used);
  const namespace = await stage(scene, { annotations: { ...annotations, big }, data });
  scene.start();
  await eventually("the copy is there", () => scene.api.secret(namespace, "registry"));
  const copy = await copyIn(scene, namespace);
  assert.equal(copy.data?.["blob"], data.blob);
  const { small, big: left } = copy.metadata.annotations ?? {};
  assert.deepEqual([small, left], ["s", undefined]);
  const { sources } = await scene.finish();
  assert.match(sources[0]?.notes.join() ?? "", /^annotation big is not copied/);
});
