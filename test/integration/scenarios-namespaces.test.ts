// Namespaces that come, go, come back and change their labels; a source's own namespace; and cycles
// of namespaces that all may publish. Runs on the sandbox and on a real API server.
import assert from "node:assert/strict";
import { scenario as test } from "../support/scenes/both-kinds.ts";
import { ApiError } from "../../packages/kube/rest/api-error.ts";
import type { RawSecret } from "../support/scenes/api.ts";
import { eventually } from "../../packages/kube/testing/eventually.ts";
import { openFastScene } from "../support/scenes/fast-scene.ts";
import { openScene, type Scene } from "../support/scenes/scene.ts";

const LOGIN = { username: "ada", password: "one" };

/** A Secret "registry" that wants to be in `to`. */
async function publish(
  scene: Scene,
  namespace: string,
  to: string,
  annotations: Readonly<Record<string, string>> = {},
): Promise<RawSecret> {
  return scene.api.createSecret(namespace, "registry", {
    annotations: { "secretcast.io/to": to, ...annotations },
    data: LOGIN,
  });
}

/** A namespace that the sources want, where somebody else's Secret is in the way. */
async function taken(scene: Scene, base = "team-taken"): Promise<string> {
  const namespace = await scene.namespace(base, { labels: { tls: "wanted" } });
  await scene.unmanaged(namespace, "registry", { data: { mine: "untouched" } });
  return namespace;
}

test("a namespace's copy follows its label and no other label", async (t) => {
  const scene = await openFastScene(t);
  await taken(scene);
  const namespace = await scene.namespace("shop", { labels: { tls: "no" } });
  const unlabelled = await scene.namespace("bare");
  const own = "kubernetes.io/metadata.name";
  const names = [namespace, unlabelled, scene.name("team-taken")].join(",");
  await scene.api.createSecret(scene.source, "registry", {
    annotations: { "secretcast.io/to-selector": `tls in (wanted,must),${own} in (${names})` },
    data: LOGIN,
  });
  scene.start();
  const label = (labels: Readonly<Record<string, string | null>>): Promise<void> =>
    scene.api.patchNamespace(namespace, { labels });
  await label({ tls: "wanted" });
  await scene.holds(namespace, "registry", LOGIN);
  const before = (await scene.api.secret(namespace, "registry"))?.metadata.uid;
  await label({ tls: "must", other: "label" });
  await scene.api.patchNamespace(unlabelled, { labels: { tls: "must" } });
  await scene.holds(unlabelled, "registry", LOGIN);
  assert.equal((await scene.api.secret(namespace, "registry"))?.metadata.uid, before);
  await label({ tls: null });
  await scene.absent(namespace, "registry");
  await label({ tls: "wanted" });
  await scene.holds(namespace, "registry", LOGIN);
});

async function again(scene: Scene, base: string): Promise<void> {
  await scene.api.deleteNamespace(scene.name(base));
  await eventually(
    `${base} is there again`,
    async () => {
      try {
        await scene.namespace(base);
        return true;
      } catch (error) {
        if (error instanceof ApiError && error.kind === "alreadyExists") return false;
        throw error;
      }
    },
    60_000,
  );
}

test("a namespace deleted and created again at once is served again", async (t) => {
  const scene = await openFastScene(t);
  await taken(scene);
  await publish(scene, scene.source, scene.name("team-*"));
  const namespace = await scene.namespace("team-a");
  scene.start();
  await scene.holds(namespace, "registry", LOGIN);
  const before = (await scene.api.secret(namespace, "registry"))?.metadata.uid;
  await again(scene, "team-a");
  await scene.holds(namespace, "registry", LOGIN);
  assert.notEqual((await scene.api.secret(namespace, "registry"))?.metadata.uid, before);
});

test("a namespace made again without a controller is served later", async (t) => {
  const scene = await openFastScene(t);
  await publish(scene, scene.source, scene.name("team-*"));
  const namespace = await scene.namespace("team-a");
  const first = scene.start();
  await scene.holds(namespace, "registry", LOGIN);
  await first.stop();
  await again(scene, "team-a");
  await scene.unmanaged(namespace, "registry", { data: { mine: "x" } });
  await scene.namespace("team-b");
  scene.start();
  await scene.holds(scene.name("team-b"), "registry", LOGIN);
  const { states } = await scene.finish();
  assert.deepEqual([states.current, states.conflict], [1, 1]);
});

test("a source never targets its own namespace and is never deleted, however its rules narrow", async (t) => {
  const scene = await openFastScene(t);
  await taken(scene);
  const namespace = await scene.namespace("team-a", { labels: { tls: "wanted" } });
  await scene.api.patchNamespace(scene.source, { labels: { tls: "wanted" } });
  const { metadata } = await publish(scene, scene.source, scene.name("*"), {
    "secretcast.io/to-selector": "tls",
    "secretcast.io/name": "credentials",
  });
  scene.start();
  await scene.holds(namespace, "credentials", LOGIN);
  const unchanged = async (what: string): Promise<void> => {
    const source = await scene.api.secret(scene.source, "registry");
    assert.equal(source?.metadata.uid, metadata.uid, what);
    assert.deepEqual(source?.data, LOGIN);
    assert.equal(await scene.api.secret(scene.source, "credentials"), undefined, what);
  };
  await unchanged("own namespace matches");
  await scene.api.annotate(scene.source, "registry", { "secretcast.io/name": null });
  await scene.absent(namespace, "credentials");
  await scene.holds(namespace, "registry", LOGIN);
  await unchanged("own namespace matches under its own name");
  await scene.api.patchNamespace(scene.source, {
    labels: { tls: null },
    annotations: { "secretcast.io/accept": "false" },
  });
  await scene.api.annotate(scene.source, "registry", { "secretcast.io/to": scene.source });
  await scene.absent(namespace, "registry");
  await unchanged("own namespace alone is named, and accepts nothing");
});

test("a cycle of sources writes nothing onto a source, and the strongest serves the rest", async (t) => {
  const scene = await openFastScene(t);
  const [a, b, c] = await chain(scene);
  scene.given = { "source-namespaces": [a, b].join(",") };
  const all = `${a},${b},${c}`;
  const first = await publish(scene, a, all);
  const second = await publish(scene, b, all);
  scene.start();
  await scene.holds(c, "registry", LOGIN);
  await scene.api.setData(b, "registry", { password: "other" });
  await scene.api.setData(a, "registry", { password: "two" });
  await scene.holds(c, "registry", { ...LOGIN, password: "two" });
  const { sources } = await scene.finish();
  const counts = sources.map(({ uid, counts: { current, conflict } }) => [uid, current, conflict]);
  assert.deepEqual(counts, [
    [first.metadata.uid, 1, 1],
    [second.metadata.uid, 0, 2],
  ]);
  const left = await scene.api.secret(b, "registry");
  assert.deepEqual(left?.data, { ...LOGIN, password: "other" });
});

test(
  "namespaces created all at once, by the hundred, have their copies within seconds",
  { inTurn: true },
  async (t) => {
    const scene = await openScene(t);
    await taken(scene);
    await publish(scene, scene.source, scene.name("team-*"));
    const running = scene.start({ "fanout-limit": "1Gi" });
    await eventually("the controller is settled", () => running.settled());
    // More take a real server long to be rid of: 100 ms each.
    const count = 200;
    const began = performance.now();
    await Promise.all(Array.from({ length: count }, (_, n) => scene.namespace(`team-${n}`)));
    const made = performance.now();
    const all = (): boolean => running.settled()?.states.current === count;
    await eventually("every namespace has its copy", all, 30_000);
    const late = performance.now() - made;
    t.diagnostic(`${count} namespaces in ${made - began} ms, the last copy ${late} ms later`);
    await scene.holds(scene.name(`team-${count - 1}`), "registry", LOGIN);
    const { states } = await scene.finish({ "fanout-limit": "1Gi" });
    assert.deepEqual([states.current, states.conflict], [count, 1]);
  },
);

async function chain(scene: Scene): Promise<readonly [string, string, string]> {
  await taken(scene);
  const a = await scene.namespace("chain-a");
  const b = await scene.namespace("chain-b");
  return [a, b, await scene.namespace("chain-c")];
}
