// A request of a controller is late, and meanwhile users change what it follows from. Runs on the sandbox
// and on a real API server.
import assert from "node:assert/strict";
import { scenario as test } from "../support/scenes/both-kinds.ts";
import type { ApiRequest } from "../../src/kube/rest/api-client.ts";
import { eventually } from "../support/time/eventually.ts";
import { ONE, publishOne, TWO } from "../support/scenes/registry.ts";
import { openScene, type Scene } from "../support/scenes/scene.ts";

type Change = (scene: Scene, team: string) => Promise<unknown>;

/** Resolves when the controller has seen what was changed before: its newest copy is there. */
async function seen(scene: Scene): Promise<void> {
  const after = await scene.namespace("after");
  await scene.api.createSecret(scene.source, "later", {
    annotations: { "secretcast.io/to": after },
    data: ONE,
  });
  await scene.holds(after, "later", ONE);
}

const annotate =
  (annotations: Readonly<Record<string, string | null>>): Change =>
  (scene) =>
    scene.api.annotate(scene.source, "registry", annotations);

const WITHDRAWALS: Readonly<Record<string, Change>> = {
  "the namespace declines": (scene, team) =>
    scene.api.patchNamespace(team, { annotations: { "secretcast.io/accept": "false" } }),
  "the source names it no more": annotate({ "secretcast.io/to": "nowhere" }),
  "the source is paused": annotate({ "secretcast.io/paused": "true" }),
};

/** Holds the first request back that `isFirst` names, until `change` was made and seen. */
function late(
  scene: Scene,
  isFirst: (request: ApiRequest) => boolean,
  change: () => Promise<unknown>,
) {
  const state = { changed: false, writes: [] as string[] };
  let first = true;
  const meddle = async (request: ApiRequest): Promise<void> => {
    const { method, path, query } = request;
    if (state.changed && method !== "GET" && path.includes(`team-a${scene.collection}`))
      state.writes.push(`${query?.["dryRun"] === undefined ? "" : "dry "}${method}`);
    if (!first || !isFirst(request)) return;
    first = false;
    await change();
    await seen(scene);
    state.changed = true;
  };
  return { state, meddle };
}

// Nothing is removed either while the test looks.
const LONG = { "delete-grace": "1h", "source-grace": "1h" };

/** Another controller, without that grace, until nothing is left to do. */
async function converge(scene: Scene): Promise<void> {
  await scene.start({ once: true }).ended;
  await scene.finish();
}

for (const [how, change] of Object.entries(WITHDRAWALS))
  test(`a replace ends with its rehearsal if meanwhile ${how} (B6)`, async (t) => {
    const scene = await openScene(t);
    const team = await scene.namespace("team-a");
    await publishOne(scene, { immutable: true });
    const { state, meddle } = late(
      scene,
      ({ query, path }) => query?.["dryRun"] === "All" && path.includes(team),
      () => change(scene, team),
    );
    const running = scene.start(LONG, meddle);
    await scene.holds(team, "registry", ONE);
    const uid = (await scene.api.secret(team, "registry"))?.metadata.uid;
    await scene.api.deleteSecret(scene.source, "registry");
    await publishOne(scene, { immutable: true, data: TWO });
    await eventually("the replace has ended", () =>
      running.outcomes.some(({ kind, action }) => kind === "moved" && action.kind === "replace"),
    );
    await running.stop();
    assert.deepEqual(state.writes, []);
    assert.equal((await scene.api.secret(team, "registry"))?.metadata.uid, uid);
    await converge(scene);
  });

test("what pulls is not filled if meanwhile its source no longer allows it (B6)", async (t) => {
  const scene = await openScene(t);
  const team = await scene.namespace("team-a");
  await scene.api.createSecret(scene.source, "registry", {
    annotations: { "secretcast.io/allow": team },
    data: ONE,
  });
  const from = { "secretcast.io/from": `${scene.source}/registry` };
  const { state, meddle } = late(
    scene,
    ({ method, path }) => method === "GET" && path.endsWith(`${team}${scene.collection}/pulling`),
    () => annotate({ "secretcast.io/allow": "nowhere" })(scene, team),
  );
  const running = scene.start(LONG, meddle);
  await scene.api.createSecret(team, "pulling", { annotations: from });
  await eventually("the fill has ended", () =>
    running.outcomes.some(({ kind, action }) => kind === "moved" && action.kind === "fill"),
  );
  await running.stop();
  assert.deepEqual(state.writes, []);
  assert.deepEqual((await scene.api.secret(team, "pulling"))?.data ?? {}, {});
  await converge(scene);
});

test("a copy that is wanted by a wider rule is made after its old one was deleted (B6)", async (t) => {
  const scene = await openScene(t);
  const team = await scene.namespace("team-a");
  await publishOne(scene, { immutable: true });
  const { state, meddle } = late(
    scene,
    ({ method, query, path }) =>
      method === "POST" && query?.["dryRun"] === undefined && path.includes(team) && replacing,
    () => annotate({ "secretcast.io/to": `${scene.name("team-*")},elsewhere` })(scene, team),
  );
  let replacing = false;
  const running = scene.start(LONG, meddle);
  await scene.holds(team, "registry", ONE);
  replacing = true;
  await scene.api.deleteSecret(scene.source, "registry");
  await publishOne(scene, { immutable: true, data: TWO });
  await scene.holds(team, "registry", TWO);
  assert.equal(state.changed, true);
  await running.stop();
  await converge(scene);
});

test("a removal is made although its source and its Namespace change all the time (B7)", async (t) => {
  const scene = await openScene(t);
  const team = await scene.namespace("team-a");
  await scene.namespace("team-b");
  await publishOne(scene);
  const running = scene.start();
  await scene.holds(team, "registry", ONE);
  await scene.api.patchNamespace(team, { annotations: { "secretcast.io/accept": "false" } });
  let round = 0;
  await eventually("the copy is removed", async () => {
    const note = `${round++}`;
    await annotate({ note })(scene, team);
    await scene.api.patchNamespace(team, { labels: { note } });
    return (await scene.api.secret(team, "registry")) === undefined;
  });
  await running.stop();
  await scene.finish();
});
