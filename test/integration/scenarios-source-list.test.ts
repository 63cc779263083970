// The source list: Secrets that nobody annotated are copied by its entries, and whatever is wrong with
// the list or one of them deletes nothing. Runs on the sandbox and on a real API server.
import { whyOf } from "../support/planner/why-of.ts";
import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { commandLine } from "../support/programs/command-line.ts";
import { eventually } from "../../packages/kube/testing/eventually.ts";
import { modeWords } from "../support/scenes/named-mode.ts";
import { beforeTheList, LIST, openListing, type Listing } from "../support/scenes/listing.ts";
import { proxied, refusal } from "../support/scenes/proxied.ts";
import { openMaps } from "../support/scenes/both-kinds.ts";
import { ofSecrets as test } from "../support/scenes/scenario-end.ts";
import type { Running, Scene } from "../support/scenes/scene.ts";
import { eventNotes, rowAt } from "../support/scenes/told.ts";

const DATA = { "tls.crt": "certificate", "tls.key": "key" };
const OTHER = { "tls.crt": "renewed", "tls.key": "other" };

/** A list that lacks the entry. One without any entry would count as deleted. */
const WITHOUT_IT = { unrelated: "secret: vault/unrelated\nto: nowhere" };

type Stage = {
  readonly listing: Listing;
  readonly scene: Scene;
  /** Where the Secret is: no source namespace. */
  readonly vault: string;
  readonly a: string;
  readonly b: string;
  /** An entry for `vault`/tls that names both teams. */
  readonly entry: string;
};

/** A Secret that its operator keeps, two teams, and unmanaged objects beside all of them. */
async function openVault(t: TestContext): Promise<Stage> {
  const listing = await openListing(t);
  const { scene } = listing;
  const vault = await scene.namespace("vault");
  const [a, b] = [await scene.namespace("team-a"), await scene.namespace("team-b")];
  await scene.api.createSecret(vault, "tls", { data: DATA });
  await scene.unmanaged(vault, "unlisted", { data: { mine: "x" } });
  await scene.unmanaged(a, "mine", { data: { mine: "x" } });
  const entry = `secret: ${vault}/tls\nto: ${scene.name("team-*")}`;
  return { listing, scene, vault, a, b, entry };
}

/** Running, with both copies made by the entry `tls`. */
async function copied(stage: Stage): Promise<Running> {
  const { listing, scene, a, b, entry } = stage;
  await listing.write({ tls: entry });
  const running = scene.start();
  for (const team of [a, b]) await scene.holds(team, "tls", DATA);
  await settled(running);
  return running;
}

async function settled(running: Running): Promise<void> {
  await eventually("all is settled", () => running.settled()?.states.pending === 0);
}

async function frozen(running: Running, places: readonly string[]): Promise<void> {
  for (const place of places)
    await eventually(
      `${place} is frozen`,
      () => rowAt(running.settled(), place)?.verdict === "frozen",
    );
}

/** Frozen for this controller, for one that starts now, and untouched when the source changes. */
async function staysFrozen(
  stage: Stage,
  running: Running,
  change: Readonly<Record<string, string>> = OTHER,
): Promise<void> {
  const { scene, vault, a, b } = stage;
  const places = [`${a}/tls`, `${b}/tls`];
  await frozen(running, places);
  const before = await Promise.all([a, b].map((team) => scene.api.secret(team, "tls")));
  assert.ok(before.every(Boolean));
  await running.stop();
  await scene.api.setData(vault, "tls", change);
  const again = scene.start();
  await frozen(again, places);
  await again.stop();
  const after = await Promise.all([a, b].map((team) => scene.api.secret(team, "tls")));
  assert.deepEqual(after, before);
}

test("an entry copies a Secret that nobody annotated, in any namespace, and never writes it", async (t) => {
  const stage = await openVault(t);
  const { listing, scene, vault, a, b, entry } = stage;
  await copied(stage);
  const marks = (await scene.api.secret(a, "tls"))?.metadata.annotations;
  assert.equal(marks?.["secretcast.io/entry"], "tls");
  assert.equal(marks?.["secretcast.io/source"], `${vault}/tls`);
  await scene.api.setData(vault, "tls", OTHER);
  for (const team of [a, b]) await scene.holds(team, "tls", OTHER);
  await scene.leaveAlone(vault, "tls");
  await listing.write({ tls: `${entry}\nkeys: tls.crt` });
  await scene.holds(b, "tls", { "tls.crt": OTHER["tls.crt"] });
  await listing.write({ tls: `secret: ${vault}/tls\nto: [${a}]` });
  await scene.absent(b, "tls");
  await scene.holds(a, "tls", OTHER);
  const notes = await eventually("what was copied is told on the list", async () => {
    const found = await eventNotes(scene, listing.own, LIST, "Copied", "ConfigMap");
    return found.length > 0 && found;
  });
  assert.match(notes[0] ?? "", /^entry tls: copied to /);
  assert.deepEqual(await eventNotes(scene, vault, "tls", "Copied"), []);
});

test("an entry that is taken off ends its copies, or leaves them with on-delete: keep", async (t) => {
  const stage = await openVault(t);
  const { listing, scene, vault, a, b, entry } = stage;
  await scene.api.createSecret(vault, "kept", { data: DATA });
  await listing.write({
    tls: entry,
    kept: `secret: ${vault}/kept\nto: ${a}\non-delete: keep`,
  });
  scene.start();
  await scene.holds(a, "kept", DATA);
  for (const team of [a, b]) await scene.holds(team, "tls", DATA);
  await listing.write(WITHOUT_IT);
  for (const team of [a, b]) await scene.absent(team, "tls");
  const released = await eventually("the marks are off", async () => {
    const found = await scene.api.secret(a, "kept");
    return found?.metadata.annotations?.["secretcast.io/entry"] === undefined && found;
  });
  assert.deepEqual(released.data, DATA);
  assert.equal(released.metadata.labels?.["app.kubernetes.io/managed-by"], undefined);
});

test("copies of entries stay unchanged while the list is missing", async (t) => {
  const stage = await openVault(t);
  const { listing, scene, a, b, entry } = stage;
  await scene.api.createSecret(scene.source, "annotated", {
    annotations: { "secretcast.io/to": a },
    data: DATA,
  });
  const running = await copied(stage);
  await scene.holds(a, "annotated", DATA);
  await listing.write(undefined);
  await frozen(running, [`${a}/tls`, `${b}/tls`]);
  await scene.api.setData(scene.source, "annotated", OTHER);
  await scene.holds(a, "annotated", OTHER);
  await staysFrozen(stage, running);
  scene.start();
  await listing.write({ tls: entry });
  for (const team of [a, b]) await scene.holds(team, "tls", OTHER);
});

test("a deleted faulty list stops nothing where no other ConfigMap is read", async (t) => {
  const { listing, scene, vault, a } = await openVault(t);
  const running = scene.start();
  await listing.write({ tls: "hello" });
  await eventually("the refusal is told", async () => {
    const notes = await eventNotes(scene, listing.own, LIST, "Refused", "ConfigMap");
    return notes.length > 0;
  });
  await listing.write(undefined);
  await scene.api.createSecret(scene.source, "annotated", {
    annotations: { "secretcast.io/to": a },
    data: DATA,
  });
  await scene.holds(a, "annotated", DATA);
  await eventually("all is settled", () => running.settled()?.states.current === 1);
  assert.deepEqual(
    running.log.filter((line) => line.includes("sync failed")),
    [],
  );
  await listing.write({ fine: `secret: ${vault}/tls\nto: ${a}` });
  await scene.holds(a, "tls", DATA);
});

test("an unreadable list freezes its copies, and everything else continues", async (t) => {
  const stage = await openVault(t);
  const { scene, a, b } = stage;
  const running = await copied(stage);
  await running.stop();
  const proxy = await proxied(t, scene);
  const forbidden = refusal(403, "Forbidden");
  proxy.rule = ({ path }) => (path.includes("/configmaps") ? forbidden : undefined);
  const denied = scene.start();
  await scene.api.createSecret(scene.source, "annotated", {
    annotations: { "secretcast.io/to": a },
    data: DATA,
  });
  await scene.holds(a, "annotated", DATA);
  await frozen(denied, [`${a}/tls`, `${b}/tls`]);
  const why = /source list .* cannot be read: the API server answers 403/;
  await eventually("the reason is told", () =>
    why.test(whyOf(rowAt(denied.settled(), `${a}/tls`))),
  );
  assert.deepEqual([denied.unready(), denied.live()], [[], []]);
  await eventually("it is warned of", () =>
    denied.log.some((line) => line.includes('"source list not read"')),
  );
  await denied.stop();
  proxy.rule = () => undefined;
});

for (const [what, faulty] of [
  ["no YAML mapping", () => "hello"],
  ["an unknown word", ({ entry }: Stage) => `${entry}\nto-selecter: x`],
  ["an empty word", ({ entry }: Stage) => `${entry}\nkeys:`],
  ["keys that the Secret has not", ({ entry }: Stage) => `${entry}\nkeys: none`],
] as const)
  test(`a refused entry freezes its copies alone, and is reported on the list: ${what}`, async (t) => {
    const stage = await openVault(t);
    const { listing, scene, vault, a } = stage;
    const fine = `secret: ${vault}/fine\nto: ${a}`;
    await scene.api.createSecret(vault, "fine", { data: DATA });
    const running = await copied(stage);
    await listing.write({ tls: faulty(stage), fine });
    await scene.holds(a, "fine", DATA);
    const reported = await eventually("the refusal is told", async () => {
      const notes = await eventNotes(scene, listing.own, LIST, "Refused", "ConfigMap");
      return notes.length > 0 && notes;
    });
    assert.match(reported[0] ?? "", /^invalid entry tls: /);
    assert.deepEqual(await eventNotes(scene, vault, "tls", "Refused"), []);
    await staysFrozen(stage, running);
    scene.start();
    await listing.write({ tls: stage.entry, fine });
    await scene.holds(a, "tls", OTHER);
  });

test("a list that flaps makes nobody's copy anew, and its last word counts", async (t) => {
  const stage = await openVault(t);
  const { listing, scene, a, b, entry } = stage;
  await listing.write({ tls: entry });
  scene.start({ "delete-grace": "30s" });
  for (const team of [a, b]) await scene.holds(team, "tls", DATA);
  const uids = async (): Promise<readonly unknown[]> =>
    Promise.all([a, b].map(async (team) => (await scene.api.secret(team, "tls"))?.metadata.uid));
  const before = await uids();
  for (let turn = 0; turn < 10; turn++) {
    await listing.write(turn % 3 === 0 ? undefined : {});
    await listing.write({ tls: `${entry}\nkeys: ${turn % 2 === 0 ? "tls.crt" : "'*'"}` });
  }
  await listing.write({ tls: `${entry}\nkeys: tls.key` });
  for (const team of [a, b]) await scene.holds(team, "tls", { "tls.key": DATA["tls.key"] });
  assert.deepEqual(await uids(), before);
});

test("plan says what a run does for entries, and what it leaves alone", async (t) => {
  const stage = await openVault(t);
  const { listing, scene, a, b, entry } = stage;
  const { kubeconfig, source } = scene;
  const settings = ["--kubeconfig", kubeconfig, "--source-namespaces", source, ...modeWords()];
  const planned = async (): Promise<readonly string[]> => {
    const given = ["plan", ...settings, "--lease-namespace", listing.own, "-o", "json"];
    const { stdout } = await commandLine(given);
    const { items }: { items: readonly { verdict: string; namespace: string; name: string }[] } =
      JSON.parse(stdout);
    return items
      .filter(({ namespace }) => namespace.startsWith(scene.prefix))
      .map(({ verdict, namespace, name }) => `${verdict} ${namespace}/${name}`);
  };
  await listing.write({ tls: entry });
  assert.deepEqual(await planned(), [`create ${a}/tls`, `create ${b}/tls`]);
  const running = await copied(stage);
  await running.stop();
  assert.deepEqual(await planned(), []);
  await listing.write(undefined);
  assert.deepEqual(await planned(), [`frozen ${a}/tls`, `frozen ${b}/tls`]);
  await listing.write(WITHOUT_IT);
  assert.deepEqual(await planned(), [`delete ${a}/tls`, `delete ${b}/tls`]);
  await listing.write({ tls: entry });
});

test("an entry copies a ConfigMap, and no flag makes it write the list", async (t) => {
  const listing = await openMaps(t, openListing);
  const { scene, own } = listing;
  const { api } = scene;
  const trust = await scene.namespace("trust");
  const a = await scene.namespace("team-a");
  await api.createSecret(trust, "ca", { data: { "ca.crt": "certificate" } });
  await listing.write({ ca: `configMap: ${trust}/ca\nto: ${a}` });
  scene.given = {
    ...scene.given,
    "include-system-namespaces": true,
    "source-namespaces": "*",
    "namespace-policy": "opt-out",
  };
  scene.start();
  await scene.holds(a, "ca", { "ca.crt": "certificate" });
  const before = (await api.secret(own, LIST))?.metadata;
  // By its name, by its word, and by the list's own invitation.
  await api.createSecret(trust, LIST, {
    annotations: { "secretcast.io/to": own },
    data: { x: "1" },
  });
  await api.createSecret(trust, "named", {
    annotations: { "secretcast.io/to": own, "secretcast.io/name": LIST },
    data: { x: "1" },
  });
  await api.createSecret(trust, "told", {
    annotations: { "secretcast.io/to": a },
    data: { x: "1" },
  });
  await scene.holds(a, "told", { x: "1" });
  assert.deepEqual((await api.secret(own, LIST))?.metadata, before);
  await api.annotate(own, LIST, { "secretcast.io/from": `${trust}/told` });
  await api.setData(trust, "told", { x: "2" });
  await scene.holds(a, "told", { x: "2" });
  const pulling = await api.secret(own, LIST);
  assert.deepEqual(Object.keys(pulling?.data ?? {}), ["ca"]);
  await listing.write(undefined);
  await api.setData(trust, "told", { x: "3" });
  await scene.holds(a, "told", { x: "3" });
  assert.equal(await api.secret(own, LIST), undefined, "nor is one made in its place");
});

test("a replica of the version before freezes the copies of entries", async (t) => {
  const stage = await openVault(t);
  const { listing, scene, vault, a, b } = stage;
  const running = await copied(stage);
  scene.wrap = beforeTheList;
  const old = scene.start({ "source-list": "" });
  await frozen(old, [`${a}/tls`, `${b}/tls`]);
  await scene.api.setData(vault, "tls", OTHER);
  for (const team of [a, b]) await scene.holds(team, "tls", OTHER);
  await running.stop();
  const before = await scene.versions();
  await listing.write(WITHOUT_IT);
  await frozen(old, [`${a}/tls`, `${b}/tls`]);
  assert.deepEqual(await scene.versions(), before, "nothing was written or deleted");
  await scene.finish({ "source-list": "" });
});
