// A view of the cluster that is out of date ends no copy.
import assert from "node:assert/strict";
import { scenario as test } from "../support/scenes/both-kinds.ts";
import { ONE } from "../support/scenes/crews.ts";
import { eventually } from "../../packages/kube/testing/eventually.ts";
import { isWatch, proxied } from "../support/scenes/proxied.ts";
import { openScene, type Running, type Scene } from "../support/scenes/scene.ts";
import { refText } from "../../src/text/names.ts";

const GOLD = { labels: { tier: "gold" } };
const TEAMS = ["a", "b", "c", "d", "e", "f"];

async function goldOnly(scene: Scene): Promise<void> {
  const annotations = { "secretcast.io/to-selector": "tier=gold" };
  await scene.api.createSecret(scene.source, "registry", { annotations, data: ONE });
}

const uids = (scene: Scene, teams: readonly string[]) =>
  Promise.all(
    teams.map(async (team) => (await scene.api.secret(team, "registry"))?.metadata.uid ?? "absent"),
  );

const removed = ({ outcomes }: Running) =>
  outcomes.filter(({ kind }) => kind === "removed").map(({ action }) => refText(action.place));

test("a controller whose watch of namespaces has gone deaf deletes no copy that is wanted", async (t) => {
  const scene = await openScene(t);
  const teams = await Promise.all(TEAMS.map((team) => scene.namespace(team)));
  await goldOnly(scene);
  const direct = scene.access;
  const proxy = await proxied(t, scene);
  const deaf = scene.start();
  await eventually("it has seen all", () => (deaf.settled()?.sources.length ?? 0) > 0);
  proxy.deafen((request) => isWatch(request) && request.path.endsWith("/namespaces"));
  await Promise.all(teams.map((team) => scene.api.patchNamespace(team, GOLD)));
  scene.access = direct;
  await scene.start({ once: true }).ended;
  const before = await uids(scene, teams);
  assert.ok(!before.includes("absent"));
  await eventually("it finds them wanted", () => deaf.settled()?.counts.current === teams.length);
  assert.ok(deaf.outcomes.some(({ kind }) => kind === "answered"));
  assert.deepEqual(removed(deaf), []);
  assert.deepEqual(await uids(scene, teams), before);
});
