// A tenant who forges our marks gains nothing outside their own namespace. Runs on the sandbox and on a real API server.
import assert from "node:assert/strict";
import { scenario as test } from "../support/scenes/both-kinds.ts";
import { type NewSecret } from "../support/scenes/api.ts";
import { eventually } from "../../packages/kube/testing/eventually.ts";
import { MINE, ONE, publishOne, TWO } from "../support/scenes/registry.ts";
import { openScene, type Scene } from "../support/scenes/scene.ts";
import { conflictTold, eventNotes, rowAt } from "../support/scenes/told.ts";

/** What a tenant writes into its own namespace; `Secret` names by what it hopes for. */
async function forgeries(scene: Scene, tenant: string, victim: string): Promise<void> {
  const [source, silent, target] = await Promise.all([
    scene.api.secret(scene.source, "registry"),
    scene.api.createSecret(scene.source, "silent", { data: ONE }),
    scene.api.secret(victim, "private"),
  ]);
  const marked = (name: string, from: string, uid = "", at = `${tenant}/${name}`): NewSecret => ({
    labels: { "app.kubernetes.io/managed-by": "secretcast" },
    annotations: {
      "secretcast.io/source": from,
      "secretcast.io/source-uid": uid,
      "secretcast.io/source-version": "1",
      "secretcast.io/placed-at": at,
    },
    data: MINE,
  });
  const registry = `${scene.source}/registry`;
  // Ours by every mark, in a place that the source does not want: the tenant's own Secret ends, and nothing else.
  await scene.api.createSecret(
    tenant,
    "registry",
    marked("registry", registry, source?.metadata.uid),
  );
  const ofSilent = marked("of-silent", `${scene.source}/silent`, silent.metadata.uid);
  await scene.api.createSecret(tenant, "of-silent", ofSilent);
  await scene.api.createSecret(tenant, "of-none", marked("of-none", `${scene.source}/none`, "u-1"));
  // Not ours, or not in scope: nobody's business.
  const atVictim = marked("at-victim", registry, source?.metadata.uid, `${victim}/private`);
  await scene.unmanaged(tenant, "at-victim", atVictim);
  const ofVictim = marked("of-victim", `${victim}/private`, target?.metadata.uid);
  await scene.unmanaged(tenant, "of-victim", ofVictim);
  const annotated = (annotations: Record<string, string>): NewSecret => ({
    annotations,
    data: MINE,
  });
  await scene.unmanaged(tenant, "adopting", annotated({ "secretcast.io/adopt": registry }));
  const publishing = { "secretcast.io/to": scene.name("*"), "secretcast.io/name": "private" };
  await scene.unmanaged(tenant, "publishing", annotated(publishing));
  await scene.unmanaged(tenant, "pulling", annotated({ "secretcast.io/from": registry }));
}

test("forged marks gain a tenant nothing outside its own namespace, and no other Secret", async (t) => {
  const scene = await openScene(t);
  const [place, victim] = [await scene.namespace("team-a"), await scene.namespace("victim")];
  const tenant = await scene.namespace("tenant");
  await publishOne(scene);
  await scene.unmanaged(victim, "private", { data: { private: "key" } });
  const running = scene.start();
  await scene.holds(place, "registry", ONE);
  await scene.leaveAlone(place, "registry");
  await forgeries(scene, tenant, victim);
  for (const name of ["registry", "of-silent", "of-none"]) await scene.absent(tenant, name);
  await eventually("the rest is judged", () => running.settled()?.states.pending === 0);
  const names = (namespace: string) => async () =>
    (await scene.api.secrets(namespace)).map(({ metadata }) => metadata.name).toSorted();
  assert.deepEqual(await names(victim)(), ["private"]);
  assert.deepEqual(await names(tenant)(), [
    "adopting",
    "at-victim",
    "of-victim",
    "publishing",
    "pulling",
  ]);
  for (const { data } of await scene.api.secrets(tenant))
    assert.deepEqual(data, scene.api.encode(MINE));
  const given = running.outcomes.filter(
    ({ kind, action }) => kind === "done" && action.place.namespace === tenant,
  );
  assert.deepEqual(given, [], "nothing was written into its namespace meanwhile");
});

test("a tenant takes no place of others where every namespace may publish", async (t) => {
  const scene = await openScene(t);
  const tenant = await scene.namespace("tenant");
  const accept = { annotations: { "secretcast.io/accept": `${scene.source}/*` } };
  const [place, victim] = [
    await scene.namespace("team-a", accept),
    await scene.namespace("team-b"),
  ];
  await scene.unmanaged(place, "private", { data: MINE });
  await publishOne(scene);
  scene.given = { "source-namespaces": `${scene.source},*` };
  const running = scene.start();
  await scene.holds(place, "registry", ONE);
  await scene.leaveAlone(place, "registry");
  await publishOne(scene, { data: TWO }, tenant);
  const annotations = { "secretcast.io/to": scene.name("*"), "secretcast.io/name": "private" };
  await scene.api.createSecret(tenant, "evil", { annotations, data: TWO });
  await scene.api.patchNamespace(place, { annotations: { "secretcast.io/accept": "true" } });
  await conflictTold(running, place);
  await eventually("the other conflict is told", () =>
    rowAt(running.settled(), `${place}/private`),
  );
  assert.deepEqual(await scene.api.secrets(victim), []);
  const note = await eventually("the tenant is told", async () =>
    (await eventNotes(scene, tenant, "registry", "Conflict")).at(0),
  );
  assert.equal(note, "not copied to 1 namespace: another source has the place and comes first");
});
