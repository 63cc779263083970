// The commands that keep or make removals. That they work as typed, integration/ways-out shows.
import assert from "node:assert/strict";
import { test } from "node:test";
import { ask, controllerOf } from "../../support/planner/explained.ts";
import { Cluster, globs } from "../../support/planner/planner-cluster.ts";
import type { WaysOut } from "../../../src/cli/explanation/ways-out.ts";

const SOURCE = "platform/db";

type Made = { readonly cluster: Cluster; readonly way: () => WaysOut | undefined };

/** A source with copies in three namespaces, and a namespace that it never served. */
function served(annotations: Readonly<Record<string, string>> = { to: "team-*" }): Made {
  const cluster = new Cluster({ deleteGraceMs: 0 });
  cluster.settings = { ...cluster.settings, sourceNamespaces: ALL_PLATFORM };
  cluster.withNamespaces("platform", "team-a", "team-b", "team-c", "evil");
  cluster.secret(SOURCE, annotations, { data: { key: "hunter2" } });
  cluster.settle();
  const sync = controllerOf(cluster);
  sync();
  return { cluster, way: () => ask(cluster, SOURCE, undefined, sync()).waysOut[0] };
}

const ALL_PLATFORM = globs("platform");

/** A copy as a tenant can write it. */
function forge(cluster: Cluster, place: string, data: string, uid?: string): void {
  const [namespace = "", name = ""] = place.split("/");
  const copy = structuredClone(cluster.get("team-a/db"));
  Object.assign(copy.metadata, { namespace, name, uid: `uid-of-${place}` });
  Object.assign(copy.metadata.annotations, { "secretcast.io/placed-at": place });
  if (uid !== undefined) copy.metadata.annotations["secretcast.io/source-uid"] = uid;
  copy.data = { key: data };
  cluster.secrets.set(place, copy);
  cluster.reread();
}

test("after a typing error, the former pattern is restored, whatever tenants forged", () => {
  const { cluster, way } = served();
  for (let n = 0; n < 8; n++) forge(cluster, `evil/db-${n}`, "Zm9yZ2Vk", "0000");
  cluster.annotate(SOURCE, { to: "taem-*" });
  assert.deepEqual(way()?.keep, [
    "kubectl annotate secret -n platform db --overwrite 'secretcast.io/to=team-*'",
  ]);
});

test("an exclusion that was added is taken off again, and no pattern becomes names", () => {
  const { cluster, way } = served();
  cluster.annotate(SOURCE, { to: "team-*,!team-b" });
  assert.deepEqual(way()?.keep, [
    "kubectl annotate secret -n platform db --overwrite 'secretcast.io/to=team-*'",
  ]);
});

test("the rule before the first of several edits is restored", () => {
  const { cluster, way } = served({ "to-selector": "!none", name: "db" });
  cluster.annotate(SOURCE, { "to-selector": "ci=onn" });
  way();
  cluster.annotate(SOURCE, { to: "taem-*", name: "other" });
  assert.deepEqual(way()?.keep, [
    "kubectl annotate secret -n platform db --overwrite secretcast.io/to- 'secretcast.io/to-selector=!none' secretcast.io/name=db",
  ]);
});

test("a source that lost its annotations gets all of them back", () => {
  const { cluster, way } = served({ to: "team-*", keys: "key" });
  cluster.edit(SOURCE, ({ metadata }) => {
    metadata.annotations = {};
  });
  assert.deepEqual(way()?.keep, [
    "kubectl annotate secret -n platform db --overwrite 'secretcast.io/to=team-*' secretcast.io/keys=key",
  ]);
});

test("without a controller that saw the rule, no command keeps copies", () => {
  const { cluster } = served();
  cluster.annotate(SOURCE, { to: "taem-*" });
  const [way] = ask(cluster, SOURCE).waysOut;
  assert.deepEqual(way?.keep, []);
  assert.match(way?.note ?? "", /^which rule platform\/db had before is not known/);
});

test("a deleted source is created again from copies that agree", () => {
  const { cluster, way } = served({ to: "team-*", "on-delete": "delete" });
  forge(cluster, "evil/db", "Zm9yZ2Vk");
  for (let n = 0; n < 8; n++) forge(cluster, `team-b/db-${n}`, "Zm9yZ2Vk");
  cluster.delete(SOURCE);
  const [command = "", ...others] = way()?.keep ?? [];
  assert.deepEqual(others, []);
  assert.match(command, /^kubectl get secret -n team-a db -o go-template='\{\{if eq .metadata.res/);
  assert.match(command, /"secretcast.io\/to":"team-\*","secretcast.io\/on-delete":"delete"/);
  assert.match(command, /\| kubectl create -f -$/);
});

test("copies with two contents create no source, and are named", () => {
  const { cluster, way } = served();
  forge(cluster, "team-b/db", "Zm9yZ2Vk");
  cluster.delete(SOURCE);
  const found = way();
  assert.deepEqual(found?.keep, []);
  assert.equal(
    found?.note,
    "the copies of platform/db have 2 contents: team-a/db, team-c/db | team-b/db",
  );
});

test("the only copy, edited by its tenant, creates no source", () => {
  const { cluster, way } = served({ to: "team-a" });
  cluster.delete(SOURCE);
  cluster.edit("team-a/db", ({ data }) => {
    data["key"] = "Zm9yZ2Vk";
  });
  const found = way();
  assert.deepEqual(found?.keep, []);
  assert.equal(found?.note, "copies do not hold what platform/db held: team-a/db");
});

test("copies with a UID that the source never had are no evidence", () => {
  const { cluster, way } = served({ to: "team-a,team-x" });
  cluster.namespace("team-x");
  cluster.delete(SOURCE);
  cluster.delete("team-a/db");
  way();
  const { cluster: other } = served();
  cluster.secrets.set("team-a/db", other.get("team-a/db"));
  forge(cluster, "team-x/db", "Zm9yZ2Vk", "0000");
  cluster.delete("team-a/db");
  const found = way();
  assert.deepEqual(found?.keep, []);
});

test("with keys, no copy creates the source", () => {
  const { cluster, way } = served({ to: "team-*", keys: "key" });
  cluster.delete(SOURCE);
  assert.deepEqual(way()?.keep, []);
  assert.match(way()?.note ?? "", /with secretcast.io\/keys, no copy has the whole content/);
});

test("a Secret that was never a source gets no advice to delete it", () => {
  const { cluster } = served();
  cluster.withNamespaces("payroll");
  cluster.secret("payroll/bank", {}, { data: { key: "own" } });
  forge(cluster, "evil/db-1", "Zm9yZ2Vk");
  cluster.edit("evil/db-1", ({ metadata }) => {
    metadata.annotations["secretcast.io/source"] = "payroll/bank";
  });
  const explanation = ask(cluster, "payroll/bank", undefined, controllerOf(cluster)());
  assert.doesNotMatch(
    JSON.stringify(explanation),
    /delete it first|kubectl delete secret -n payroll/,
  );
  assert.deepEqual(
    explanation.waysOut.flatMap(({ keep }) => keep),
    [],
  );
});

test("another Secret with the name of a deleted source gets no rule", () => {
  const { cluster, way } = served();
  cluster.delete(SOURCE);
  cluster.secret(SOURCE, {}, { data: { key: "other" } });
  const found = way();
  assert.deepEqual(found?.keep, []);
  assert.match(found?.note ?? "", /was never the source of these copies$/);
});

test("a lost label of a namespace is named, and no command sets it", () => {
  const { cluster, way } = served({ "to-selector": "ci=on" });
  cluster.namespace("team-a", {}, { ci: "on" });
  cluster.settle();
  way();
  cluster.namespace("team-a", {}, {});
  const found = way();
  assert.deepEqual(found?.keep, []);
  assert.match(found?.note ?? "", /is what it was, and does not cover team-a\/db: if the labels/);
});

test("where the namespace declines, the command is about the namespace", () => {
  const { cluster, way } = served();
  cluster.namespace("team-a", { accept: "false" });
  assert.deepEqual(way()?.keep, [
    "kubectl annotate namespace team-a --overwrite secretcast.io/accept=platform/db",
  ]);
});

test("commands for thousands of copies have a bounded length, and say what they leave out", () => {
  const made = new Cluster().withNamespaces("shared");
  for (let n = 0; n < 4000; n++) made.namespace(`team-${n}`);
  made.secret("shared/one", { to: "team-*" });
  made.settle();
  made.annotate("shared/one", { to: "taem-*" });
  const { waysOut } = ask(made, "shared/one");
  const [way] = waysOut;
  assert.equal(waysOut.length, 1);
  assert.equal(way?.count, 4000);
  const [loop = ""] = way.remove;
  assert.match(loop, /^for n in team-\d+ .*; do kubectl delete secret -n "\$n" one; done$/);
  assert.equal(loop.split(" ").filter((word) => word.startsWith("team-")).length, 500);
  assert.match(way.note ?? "", /3500 more copies are not named/);
});

test("no command contains a value, and a current source has no way out", () => {
  const { cluster, way } = served();
  assert.equal(way(), undefined);
  cluster.delete(SOURCE);
  const text = JSON.stringify(way());
  assert.match(text, /kubectl create -f -/);
  assert.ok(!text.includes("hunter2") && !text.includes(Buffer.from("hunter2").toString("base64")));
});
