// A copy that cannot be updated is replaced only where a create would be made as well. If the process stops between
// the delete and the create, the copy comes back.
// Runs on the sandbox and on a real API server.
import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { scenario as test } from "../support/scenes/both-kinds.ts";
import { spawnController } from "../support/programs/controller-process.ts";
import { ElasticClock } from "../support/time/elastic-clock.ts";
import { kubeConfigFile } from "../../packages/kube/testing/kubeconfig-text.ts";
import { proxied } from "../support/scenes/proxied.ts";
import { ONE, TWO } from "../support/scenes/registry.ts";
import { openScene, type Scene } from "../support/scenes/scene.ts";
import type { FaultProxy, ProxyRequest } from "../../packages/kube/testing/fault-proxy.ts";

const TEAMS = ["team-a", "team-b", "team-c"] as const;

/** All of the scene's namespaces may publish in one entry, and accept nothing new. */
function optIn(scene: Scene): void {
  scene.given = { "source-namespaces": scene.name("*"), "namespace-policy": "opt-in" };
}

/** On a real server the controller's account may hold just the one Lease of the manifests. */
function elected({ sandbox, source }: Scene) {
  return { "leader-elect": true, "lease-namespace": sandbox ? source : "secretcast" };
}

async function immutable(scene: Scene, data: Readonly<Record<string, string>>): Promise<void> {
  const annotations = { "secretcast.io/to": scene.name("team-*") };
  await scene.api.createSecret(scene.source, "registry", { annotations, data, immutable: true });
}

/** Immutable copies; then their source is recreated, and an older source wants the same places. */
async function recreated(scene: Scene): Promise<readonly string[]> {
  const evil = await scene.namespace("evil");
  await scene.api.createSecret(evil, "registry", {
    annotations: { "secretcast.io/to": scene.name("nowhere") },
    data: { password: "evil" },
  });
  const teams = await Promise.all(TEAMS.map((team) => scene.namespace(team)));
  await immutable(scene, ONE);
  const first = scene.start();
  for (const team of teams) await scene.holds(team, "registry", ONE);
  await first.stop();
  await scene.api.deleteSecret(scene.source, "registry");
  await immutable(scene, TWO);
  await scene.api.annotate(evil, "registry", { "secretcast.io/to": scene.name("team-*") });
  return teams;
}

/** The creates that follow a delete do not arrive. */
async function withoutCreates(t: TestContext, scene: Scene): Promise<FaultProxy> {
  const proxy = await proxied(t, scene);
  proxy.rule = ({ method, path, query }: ProxyRequest) =>
    method === "POST" && path.endsWith(scene.collection) && !query.has("dryRun")
      ? { kind: "reset" }
      : undefined;
  return proxy;
}

async function allAbsent(scene: Scene, teams: readonly string[]): Promise<void> {
  for (const team of teams) await scene.absent(team, "registry");
}

async function allOfTheirSource(scene: Scene, teams: readonly string[]): Promise<void> {
  for (const team of teams) {
    await scene.holds(team, "registry", TWO);
    const copy = await scene.api.secret(team, "registry");
    assert.equal(copy?.metadata.annotations?.["secretcast.io/source"], `${scene.source}/registry`);
  }
}

async function accept(scene: Scene, teams: readonly string[]): Promise<void> {
  const annotations = { "secretcast.io/accept": `${scene.source}/*` };
  for (const team of teams) await scene.api.patchNamespace(team, { annotations });
}

test("a namespace without accept keeps a copy that cannot be updated", async (t) => {
  const scene = await openScene(t);
  const teams = await recreated(scene);
  optIn(scene);
  scene.start();
  const [first = "", ...others] = teams;
  await accept(scene, [first]);
  await allOfTheirSource(scene, [first]);
  for (const team of others) await scene.holds(team, "registry", ONE);
  await accept(scene, others);
  await allOfTheirSource(scene, teams);
});

test("a leader killed between the delete and the create of a replace loses no copy", async (t) => {
  const scene = await openScene(t);
  const teams = await recreated(scene);
  optIn(scene);
  await accept(scene, teams);
  const direct = scene.access;
  await withoutCreates(t, scene);
  const { kubeconfig: _, ...flags } = scene.flags();
  const killed = spawnController(t, kubeConfigFile(t, scene.access), {
    ...flags,
    ...elected(scene),
  });
  await allAbsent(scene, teams);
  await killed.kill();
  scene.access = direct;
  const clock = (scene.clock = new ElasticClock());
  clock.run(10);
  scene.start(elected(scene));
  await allOfTheirSource(scene, teams);
  clock.run(1);
});
