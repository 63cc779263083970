// Who gets a copy: consent of namespaces, scope, pause, frozen copies, renames.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { PlannerSettings } from "../../../src/controller/model/cluster.ts";
import { cluster, reasonAt } from "../../support/planner/publishers.ts";
import { base64 } from "../../support/planner/raw-cluster.ts";
import { actionsAt, Cluster, globs, verdictAt } from "../../support/planner/planner-cluster.ts";

test("a source never targets its own namespace", () => {
  const made = cluster();
  made.secret("shared/cred", { to: "*", name: "copy" });
  made.settle();
  assert.equal(made.secrets.has("shared/copy"), false);
  assert.equal(made.secrets.has("team-a/copy"), true);
});

test("a copy is never a source, whatever is annotated on it", () => {
  const made = cluster();
  made.secret("shared/cred", { to: "other" });
  made.settle();
  made.annotate("other/cred", { to: "team-*" });
  made.now += 5000;
  made.settle();
  assert.equal(made.secrets.has("team-a/cred"), false);
});

test("a Secret that pulls and pushes is refused and its copies are frozen", () => {
  const made = cluster();
  made.secret("shared/cred", { to: "team-a" });
  made.settle();
  made.annotate("shared/cred", { from: "other/root" });
  made.now += 60_000;
  assert.equal(verdictAt(made.plan(), "team-a/cred"), "frozen");
});

test("a copy carried elsewhere with its marks is unmanaged there", () => {
  const made = cluster();
  made.secret("shared/cred", { to: "team-*" });
  made.settle();
  const stolen = structuredClone(made.get("team-a/cred"));
  stolen.metadata.namespace = "team-b";
  stolen.metadata.uid = "restored";
  made.secrets.set("team-b/cred", stolen);
  const plan = made.plan();
  assert.equal(verdictAt(plan, "team-b/cred"), "conflict");
  assert.match(
    reasonAt(plan, "team-b/cred"),
    /marks of a copy that was made for team-a\/cred and was moved or restored here$/,
    "why it is not treated as a copy is said",
  );
  made.delete("shared/cred");
  made.settle();
  assert.equal(made.secrets.has("team-b/cred"), true);
  assert.equal(made.secrets.has("team-a/cred"), false);
});

test("a copy whose marks were stripped is its owner's: conflict, not overwritten", () => {
  const made = cluster();
  made.secret("shared/cred", { to: "team-a" });
  made.settle();
  made.edit("team-a/cred", ({ metadata }) => (metadata.labels = {}));
  made.now += 5000;
  const result = made.sync();
  assert.equal(verdictAt(result, "team-a/cred"), "conflict");
  assert.deepEqual(result.actions, []);
});

for (const [policy, accept, taken] of [
  ["opt-out", undefined, true],
  ["opt-in", undefined, false],
  ["opt-in", "true", true],
  ["opt-out", "false", false],
  ["opt-out", "shared/*", true],
  ["opt-out", "other/*", false],
  ["opt-in", "!other/*", true],
  ["opt-out", "!shared/cred", false],
  ["opt-out", "perhaps", false],
  ["opt-out", "", false],
] as const) {
  test(`accept ${accept ?? "absent"} under ${policy} takes ${taken ? "the" : "no"} copy`, () => {
    const made = cluster();
    made.settings = { ...made.settings, namespacePolicy: policy };
    made.namespace("team-a", accept === undefined ? {} : { accept });
    made.secret("shared/cred", { to: "team-a" });
    made.settle();
    assert.equal(made.secrets.has("team-a/cred"), taken);
  });
}

test("a namespace that stops accepting loses its copy, and an unreadable one keeps it", () => {
  const made = cluster();
  made.secret("shared/cred", { to: "team-*" });
  made.settle();
  made.namespace("team-a", { accept: "false" });
  made.namespace("team-b", { acept: "false" });
  made.now += 5000;
  const result = made.sync();
  assert.equal(verdictAt(result, "team-a/cred"), "delete");
  assert.match(reasonAt(result, "team-a/cred"), /does not accept/);
  assert.equal(verdictAt(result, "team-b/cred"), "frozen");
  assert.match(reasonAt(result, "team-b/cred"), /acept/);
  assert.deepEqual(
    result.namespaces.map(({ namespace }) => namespace),
    ["team-b"],
  );
});

test("system, excluded and the controller's own namespaces receive nothing, and copies there are frozen", () => {
  const made = cluster(["shared", "kube-system", "secretcast", "secret-area", "team-a"]);
  made.secret("shared/cred", { to: "*" });
  made.settings = { ...made.settings, excludeNamespaces: globs("secret-*") };
  made.settle();
  const reached = ["kube-system", "secretcast", "secret-area", "team-a"].filter((name) =>
    made.secrets.has(`${name}/cred`),
  );
  assert.deepEqual(reached, ["team-a"]);
  made.settings = { ...made.settings, excludeNamespaces: globs("team-*") };
  made.delete("shared/cred");
  made.now += 60_000;
  assert.equal(verdictAt(made.plan(), "team-a/cred"), "frozen");
  made.settings = { ...made.settings, includeSystemNamespaces: true };
  made.secret("shared/cred", { to: "*" });
  made.settle();
  assert.equal(made.secrets.has("kube-system/cred"), true);
});

test("copies of a refused, unread or terminating source are frozen", () => {
  const made = cluster();
  made.secret("shared/cred", { to: "team-a" });
  made.settle();
  const edited = (change: () => void): string | undefined => {
    change();
    made.now += 60_000;
    made.reread();
    const result = made.plan();
    assert.deepEqual(result.actions, []);
    return verdictAt(result, "team-a/cred");
  };
  assert.equal(
    edited(() => made.annotate("shared/cred", { "to-selecter": "a" })),
    "frozen",
  );
  made.annotate("shared/cred", { "to-selecter": undefined });
  const space = made.namespaces.get("shared");
  assert.ok(space);
  assert.equal(
    edited(() => (space.status.phase = "Terminating")),
    "frozen",
  );
  space.status.phase = "Active";
  assert.equal(
    edited(() => (made.settings = { ...made.settings, sourceNamespaces: globs("other") })),
    "frozen",
  );
  assert.equal(
    edited(() => made.delete("shared/cred")),
    "frozen",
  );
});

test("a copy in a namespace being deleted or unknown has no verdict", () => {
  const made = cluster();
  made.secret("shared/cred", { to: "*" });
  made.settle();
  const space = made.namespaces.get("team-a");
  assert.ok(space);
  space.status.phase = "Terminating";
  made.namespaces.delete("team-b");
  made.delete("shared/cred");
  made.now += 60_000;
  const result = made.plan();
  assert.deepEqual(
    result.rows.map(({ place }) => place.namespace),
    ["other"],
  );
});

test("paused: nothing is written, whatever is there; a paused source that goes is gone", () => {
  const made = cluster();
  made.secret("shared/cred", { to: "team-*" });
  made.settle();
  made.delete("team-a/cred");
  made.annotate("shared/cred", { paused: "true", to: "nowhere" });
  made.now += 60_000;
  const result = made.plan();
  assert.deepEqual(result.actions, []);
  assert.equal(verdictAt(result, "team-b/cred"), "paused");
  made.annotate("shared/cred", { to: "team-*" });
  assert.equal(verdictAt(made.plan(), "team-a/cred"), "paused");
  made.delete("shared/cred");
  made.settle();
  assert.equal(made.secrets.has("team-b/cred"), false);
});

test("a new name moves the copies: created there before they are deleted here", () => {
  const made = cluster();
  made.secret("shared/cred", { to: "team-a" });
  made.settle();
  made.annotate("shared/cred", { name: "renamed" });
  made.now += 5000;
  assert.deepEqual(actionsAt(made.sync(), "team-a/renamed"), ["create"]);
  assert.deepEqual(actionsAt(made.due(), "team-a/cred"), ["delete"]);
});

test("a paused source's copies are paused, equal or not", () => {
  const made = cluster();
  made.secret("shared/cred", { to: "team-*" });
  made.settle();
  made.annotate("shared/cred", { paused: "true" });
  made.edit("team-a/cred", ({ data }) => (data["key"] = "ZWRpdGVk"));
  made.now += 5000;
  assert.equal(made.plan().counts.paused, 2);
});

test("a source that is being deleted puts nothing anywhere and keeps what it has", () => {
  const made = cluster();
  made.secret("shared/cred", { to: "team-a" });
  made.settle();
  made.edit("shared/cred", ({ metadata }) => {
    metadata.deletionTimestamp = "2026-01-02T00:00:00Z";
    metadata.annotations["secretcast.io/to"] = "team-b";
  });
  made.now += 60_000;
  const result = made.plan();
  assert.deepEqual(result.actions, []);
  assert.equal(verdictAt(result, "team-a/cred"), "frozen");
});

test("a wider or narrower flag alone deletes no copy", () => {
  const changes: readonly Partial<PlannerSettings>[] = [
    { sourceNamespaces: globs("*"), namespacePolicy: "opt-in" },
    { namespacePolicy: "opt-in" },
    { sourceNamespaces: globs("*") },
    { sourceNamespaces: globs("other") },
    { excludeNamespaces: globs("team-*") },
    { scope: { targets: new Set(["team-b"]), watched: new Set(["team-b", "shared"]) } },
    { scope: { targets: new Set(["team-a"]), watched: new Set(["team-a"]) } },
    { ownNamespace: "team-a" },
    { includeSystemNamespaces: true },
    { fanoutLimitBytes: 1 },
    { deleteGraceMs: 0, deleteHoldMs: 0 },
  ];
  for (const change of changes) {
    const made = cluster();
    made.secret("shared/cred", { to: "*" });
    made.secret("shared/offer", { allow: "*" });
    made.secret("team-a/mine", { from: "shared/offer" });
    made.settle();
    const before = [...made.secrets.keys()].toSorted();
    made.settings = { ...made.settings, ...change };
    made.reread();
    made.restart();
    made.now += 1_000_000;
    made.settle();
    assert.deepEqual([...made.secrets.keys()].toSorted(), before, JSON.stringify(change));
    assert.ok("key" in made.get("team-a/mine").data, JSON.stringify(change));
  }
});

test("under opt-in a namespace that says nothing keeps its copies current and takes nothing new", () => {
  const made = cluster();
  made.secret("shared/cred", { to: "team-a" });
  made.settle();
  made.settings = { ...made.settings, namespacePolicy: "opt-in" };
  made.secret("shared/cred", { to: "*" }, { data: { key: "second" } });
  made.secret("shared/new", { to: "*" });
  made.settle();
  assert.equal(made.get("team-a/cred").data["key"], base64("second"));
  assert.equal(made.secrets.has("team-b/cred"), false);
  assert.equal(made.secrets.has("team-a/new"), false);
  assert.equal(made.plan().counts.current, 1);
  made.delete("team-a/cred");
  made.settle();
  assert.equal(made.secrets.has("team-a/cred"), false);
});

test("a namespace that refuses under opt-in loses the copies that were kept", () => {
  for (const accept of ["false", "other/*"]) {
    const made = cluster();
    made.secret("shared/cred", { to: "team-a" });
    made.settle();
    made.settings = { ...made.settings, namespacePolicy: "opt-in" };
    made.settle();
    assert.equal(made.secrets.has("team-a/cred"), true);
    made.namespace("team-a", { accept });
    made.settle();
    assert.equal(made.secrets.has("team-a/cred"), false, accept);
  }
});

test("under opt-in another source takes no place over in a namespace that says nothing", () => {
  const made = cluster();
  made.secret("shared/cred", { to: "team-a" });
  made.settle();
  made.secret("other/cred", { to: "team-a" });
  made.settings = { ...made.settings, namespacePolicy: "opt-in" };
  made.annotate("shared/cred", { to: "nowhere" });
  made.settle();
  assert.equal(made.secrets.has("team-a/cred"), false);
});

test("the bytes of a source in etcd include its updated and replaced places", () => {
  const made = cluster();
  const places = ["a", "b", "c", "d"].map((name) => `team-${name}`);
  for (const name of places.slice(2)) made.namespace(name);
  made.secret("shared/cred", { to: "team-*" });
  made.settle();
  const bytes = (): number | undefined => made.plan().sources[0]?.fanoutBytes;
  const four = bytes() ?? 0;
  assert.ok(four > 0);
  made.edit("team-a/cred", ({ data }) => (data["key"] = "ZWRpdGVk"));
  assert.deepEqual([verdictAt(made.plan(), "team-a/cred"), bytes()], ["update", four]);
  made.edit("team-b/cred", (secret) => (secret.type = "example.com/x"));
  assert.deepEqual([verdictAt(made.plan(), "team-b/cred"), bytes()], ["replace", four]);
  // One place more is one too many, and only that one is not made.
  made.namespace("team-e");
  made.settings = { ...made.settings, fanoutLimitBytes: four };
  const held = made.plan();
  assert.equal(held.sources[0]?.fanoutBytes, (four / 4) * 5);
  assert.equal(verdictAt(held, "team-e/cred"), "held");
  made.settings = { ...made.settings, fanoutLimitBytes: (four / 4) * 5 };
  assert.equal(verdictAt(made.plan(), "team-e/cred"), "create");
});

test("sources with endless wishes have few rows, and all are counted", () => {
  const NAMESPACES = 200;
  const SOURCES = 400;
  for (const words of [{ name: "ca" }, { paused: "true" }]) {
    const made = new Cluster({ sourceNamespaces: globs("*") }).withNamespaces("shared", "tenant");
    for (let index = 0; index < NAMESPACES; index++) made.namespace(`team-${index}`);
    made.secret("shared/ca", { to: "team-*" });
    made.settle();
    for (let index = 0; index < SOURCES; index++)
      made.secret(`tenant/of-${index}`, { to: "team-*", ...words });
    const { rows, counts } = made.plan();
    assert.ok(rows.length <= 50_000 + 16 * SOURCES, `${rows.length} rows`);
    assert.equal(counts.conflict + counts.paused, NAMESPACES * SOURCES);
    const last = rows.filter(({ source }) => source.name === `of-${SOURCES - 1}`);
    assert.ok(last.length >= 16, "each source is among them");
  }
});
