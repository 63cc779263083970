// `secretcast plan` on a cluster: it says what a run then does, and writes nothing itself.
import assert from "node:assert/strict";
import { commandLine, type Said } from "../support/programs/command-line.ts";
import { openScene, type Scene } from "../support/scenes/scene.ts";
import { ofSecrets as test } from "../support/scenes/scenario-end.ts";
import { CONFIG_MAPS, resourcePath } from "../../packages/kube/rest/resource.ts";

/** By the scene's own settings; `more` after them. */
function planOf(scene: Scene, ...more: string[]): Promise<Said> {
  const settings = ["--kubeconfig", scene.kubeconfig, "--source-namespaces", scene.source];
  return commandLine(["plan", ...settings, ...more]);
}

type Item = {
  readonly namespace: string;
  readonly name: string;
  readonly source: string;
  readonly verdict: string;
  readonly changes?: { readonly keys?: Readonly<Record<string, readonly string[]>> };
};

async function itemsOf(scene: Scene): Promise<readonly Item[]> {
  const { stdout, stderr } = await planOf(scene, "-o", "json");
  const list: { readonly items: readonly Item[] } = JSON.parse(stdout || "{}");
  assert.ok(list.items, stderr);
  return list.items.filter(({ namespace }) => namespace.startsWith(scene.prefix));
}

const reported = ({ verdict, namespace, name }: Item): string => `${verdict} ${namespace}/${name}`;

test("what plan says a run then does, write by write, and then nothing is left", async (t) => {
  const scene = await openScene(t);
  const { api, source } = scene;
  const [a, b, c] = [
    await scene.namespace("team-a"),
    await scene.namespace("team-b"),
    await scene.namespace("team-c"),
  ];
  const to = `${scene.prefix}-team-*`;
  await api.createSecret(source, "kept", {
    annotations: { "secretcast.io/to": to },
    data: { k: "one", gone: "x" },
  });
  await api.createSecret(source, "ends", {
    annotations: { "secretcast.io/to": to },
    data: { k: "one" },
  });
  const first = scene.start();
  await scene.holds(c, "ends", { k: "one" });
  await scene.holds(c, "kept", { k: "one", gone: "x" });
  await first.stop();
  // Changed, narrowed, drifted, new, in the way, pulled.
  await api.patchSecret(source, "kept", {
    data: { k: null, gone: null, new: Buffer.from("n").toString("base64") },
  });
  await api.patchSecret(source, "ends", { metadata: { annotations: { "secretcast.io/to": a } } });
  await api.patchSecret(a, "ends", {
    data: { k: Buffer.from("drift").toString("base64"), own: "eA==" },
  });
  await api.createSecret(source, "fresh", {
    annotations: { "secretcast.io/to": to, "secretcast.io/allow": to },
    data: { f: "1" },
  });
  await scene.unmanaged(b, "fresh", { data: { theirs: "y" } });
  await api.createSecret(c, "pulls", {
    annotations: { "secretcast.io/from": `${source}/fresh` },
    data: {},
  });
  const before = await scene.versions();
  const items = await itemsOf(scene);
  assert.deepEqual(await scene.versions(), before, "a plan writes nothing");
  assert.deepEqual(items.map(reported), [
    `update ${a}/ends`,
    `create ${a}/fresh`,
    `update ${a}/kept`,
    `delete ${b}/ends`,
    `conflict ${b}/fresh`,
    `update ${b}/kept`,
    `delete ${c}/ends`,
    `create ${c}/fresh`,
    `update ${c}/kept`,
    `update ${c}/pulls`,
  ]);
  const keys = items.map(({ changes }) => changes?.keys);
  assert.deepEqual(keys[0], { changed: ["k"], removed: ["own"] });
  assert.deepEqual(keys[1], { added: ["f"] });
  assert.deepEqual(keys[2], { added: ["new"], removed: ["gone", "k"] });
  assert.deepEqual(keys[9], { added: ["f"] });
  // A run with --once waits for no grace, and the plan counts waits as over.
  const run = scene.start({ once: true, "delete-grace": "0" });
  await run.ended;
  const written = run.outcomes.flatMap(({ kind, action }) => {
    if (kind !== "done" && kind !== "removed") return [];
    const verb = action.kind === "fill" ? "update" : action.kind;
    return [`${verb} ${action.place.namespace}/${action.place.name}`];
  });
  const promised = items.filter(({ verdict }) => verdict !== "conflict").map(reported);
  assert.deepEqual(written.toSorted(), promised.toSorted());
  assert.deepEqual((await itemsOf(scene)).map(reported), [`conflict ${b}/fresh`]);
});

test("-n narrows to one namespace, and the exit code with it", async (t) => {
  const scene = await openScene(t);
  scene.isFinished = true;
  const a = await scene.namespace("team-a");
  const b = await scene.namespace("team-b");
  await scene.api.createSecret(scene.source, "s", {
    annotations: { "secretcast.io/to": a },
    data: { k: "v" },
  });
  const there = await planOf(scene, "-n", a);
  assert.deepEqual([there.code, there.stdout.split("\n").length], [2, 3], there.stderr);
  const elsewhere = await planOf(scene, "-n", b);
  assert.deepEqual([elsewhere.code, elsewhere.stdout], [0, ""], elsewhere.stderr);
  assert.equal((await planOf(scene, "-n", a, "-l", "app=none")).code, 0);
  assert.doesNotMatch(there.stdout + there.stderr, /dg==/);
});

test("ConfigMaps of the cluster are planned and shown with --config-maps", async (t) => {
  const scene = await openScene(t);
  scene.isFinished = true;
  const a = await scene.namespace("team-a");
  const metadata = { name: "ca", namespace: scene.source, annotations: { "secretcast.io/to": a } };
  const body = { apiVersion: "v1", kind: "ConfigMap", metadata, data: { "ca.crt": "text" } };
  const path = resourcePath(CONFIG_MAPS, scene.source);
  await scene.api.client.request({ method: "POST", path, body, what: "create a ConfigMap" });
  const { code, stdout, stderr } = await planOf(scene, "--config-maps", "-n", a, "--no-headers");
  assert.match(stdout, /^create +configmaps +\S+ +ca +\S+ +\+ca\.crt$/m, stderr);
  assert.equal(code, 2);
  const without = await planOf(scene, "-n", a);
  assert.deepEqual([without.code, without.stdout], [0, ""], without.stderr);
});
