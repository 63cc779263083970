// Removals that could be a mistake are held, as administrators make them: a second installation, an upgrade
// without its values, a mistyped rule, a restart, and a tenant who tries to hold removals of others. Runs
// on the sandbox and on a real API server.
import assert from "node:assert/strict";
import { scenario as test } from "../support/scenes/both-kinds.ts";
import {
  annotationKey,
  MANAGED_BY,
  MANAGED_BY_LABEL,
} from "../../src/controller/annotations/vocabulary.ts";
import type { RemovalHoldCause } from "../../src/controller/model/verdicts.ts";
import { grant, openListing } from "../support/scenes/listing.ts";
import { openScene, type Running, type Scene } from "../support/scenes/scene.ts";
import { eventually } from "../support/time/eventually.ts";

const HOLD = { "delete-hold": "10m" };
const DATA = { password: "one" };
const TO = annotationKey("to");

async function teams(scene: Scene, count: number): Promise<readonly string[]> {
  const names: string[] = [];
  for (let index = 0; index < count; index++) names.push(await scene.namespace(`team-${index}`));
  return names;
}

async function publish(scene: Scene, name = "registry"): Promise<void> {
  const annotations = { [TO]: scene.name("team-*") };
  await scene.api.createSecret(scene.source, name, { data: DATA, annotations });
}

function holds(running: Running): readonly (RemovalHoldCause | undefined)[] {
  const rows = running.settled()?.rows ?? [];
  return rows.filter(({ verdict }) => verdict === "held").map(({ hold }) => hold);
}

async function areHeld(running: Running, hold: RemovalHoldCause, count: number): Promise<void> {
  await eventually(`${count} removals are held: ${hold}`, () => {
    assert.deepEqual(
      holds(running),
      Array.from({ length: count }, () => hold),
    );
    return true;
  });
}

async function areCurrent(running: Running, count: number): Promise<void> {
  await eventually(
    `${count} copies are current`,
    () => running.settled()?.states.current === count,
  );
}

test("a second installation leaves the copies of the first one's source list alone (A1)", async (t) => {
  const listing = await openListing(t);
  const { scene } = listing;
  const vault = await scene.namespace("vault");
  const names = await teams(scene, 3);
  const other = await scene.namespace("other");
  if (!scene.sandbox) await grant(scene, other);
  await scene.api.createSecret(vault, "tls", { data: DATA });
  const kind = scene.api.kind === "Secret" ? "secret" : "configMap";
  await listing.write({ tls: `${kind}: ${vault}/tls\nto: ${scene.name("team-*")}` });
  const first = listing.start();
  await areCurrent(first, 3);
  const before = await scene.versions();
  // Its own namespace has no list, an empty one, and one with the same key for another object.
  for (const entries of [undefined, {}, { tls: `${kind}: ${vault}/none\nto: nobody` }]) {
    await scene.api.putConfigMap(other, "secretcast-sources", entries);
    const second = scene.start({ "lease-namespace": other, "source-namespaces": other });
    await eventually("the second freezes them", () => second.settled()?.states.frozen === 3);
    await second.stop();
  }
  const after = await scene.versions();
  for (const name of names) {
    await scene.holds(name, "tls", DATA);
    assert.equal(after.get(`${name}/tls`), before.get(`${name}/tls`));
  }
  await first.stop();
  await listing.finish();
});

test("a mistyped to holds every copy, and undone it has cost none (A4)", async (t) => {
  const scene = await openScene(t);
  await teams(scene, 3);
  await publish(scene);
  const running = scene.start(HOLD);
  await areCurrent(running, 3);
  const before = await scene.versions();
  await scene.api.annotate(scene.source, "registry", { [TO]: scene.name("taem-*") });
  await areHeld(running, "nowhere", 3);
  assert.equal(running.settled()?.sources[0]?.state, "nowhere");
  assert.equal(
    await running.metric(
      `secretcast_sources{state="nowhere",resource="${scene.api.resource.plural}"}`,
    ),
    1,
  );
  await running.stop();
  // A restart ends no hold (A8).
  const again = scene.start(HOLD);
  await areHeld(again, "nowhere", 3);
  await scene.api.annotate(scene.source, "registry", { [TO]: scene.name("team-*") });
  await areCurrent(again, 3);
  await again.stop();
  const after = await scene.versions();
  const changed = [...before].filter(([place, version]) => after.get(place) !== version);
  assert.deepEqual(
    changed.map(([place]) => place),
    [`${scene.source}/registry`],
  );
  await scene.finish();
});

test("a new process holds the copies of a source that it has never seen (A3)", async (t) => {
  const scene = await openScene(t);
  await teams(scene, 2);
  await publish(scene);
  await publish(scene, "kept");
  const running = scene.start();
  await areCurrent(running, 4);
  await running.stop();
  await scene.api.deleteSecret(scene.source, "registry");
  const fresh = scene.start(HOLD);
  await areHeld(fresh, "unseen", 2);
  await publish(scene);
  await areCurrent(fresh, 4);
  await fresh.stop();
  await scene.finish();
});

test("the deletion of the sources' namespace holds every copy from the first on (A5)", async (t) => {
  const scene = await openScene(t);
  await teams(scene, 2);
  for (const name of ["one", "two"]) await publish(scene, name);
  const running = scene.start(HOLD);
  await areCurrent(running, 4);
  for (const name of ["one", "two"]) await scene.api.deleteSecret(scene.source, name);
  await scene.api.deleteNamespace(scene.source);
  await areHeld(running, "namespace", 4);
  await running.stop();
});

test("a tenant's forged copies hold no removal in another namespace (B5)", async (t) => {
  const scene = await openScene(t);
  const [own = "", other = "", third = ""] = await teams(scene, 3);
  await publish(scene);
  const running = scene.start({ ...HOLD, "delete-limit": "10", "delete-grace": "1s" });
  await areCurrent(running, 3);
  const copy = await scene.api.secret(own, "registry");
  const uid = copy?.metadata.annotations?.[annotationKey("source-uid")] ?? "";
  assert.notEqual(uid, "");
  for (let index = 0; index < 30; index++) {
    const name = `forged-${index}`;
    await scene.api.createSecret(own, name, {
      data: DATA,
      labels: { [MANAGED_BY_LABEL]: MANAGED_BY },
      annotations: {
        [annotationKey("source")]: `${scene.source}/registry`,
        [annotationKey("source-uid")]: uid,
        [annotationKey("source-version")]: "1",
        [annotationKey("placed-at")]: `${own}/${name}`,
      },
    });
  }
  // Some were removed while there were few of them.
  await eventually("most are held", () => holds(running).length >= 15);
  assert.ok(holds(running).every((hold) => hold === "limit"));
  const accept = { [annotationKey("accept")]: "false" };
  await scene.api.patchNamespace(other, { annotations: accept });
  await scene.absent(other, "registry");
  await scene.holds(third, "registry", DATA);
  await running.stop();
});
