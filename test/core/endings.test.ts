// When copies end: the grace, the live GET, keep, and the held mass deletion.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Cluster, globs, verdictAt } from "../support/world.ts";

function cluster(places: number, words = {}, changes = {}): Cluster {
  const made = new Cluster({ sourceNamespaces: globs("shared"), ...changes });
  made.namespace("shared");
  for (let index = 0; index < places; index++) made.namespace(`team-${index}`);
  made.secret("shared/one", { to: "*", ...words });
  made.secret("shared/two", { to: "*", ...words });
  made.settle();
  made.writes.length = 0;
  return made;
}

function copies(made: Cluster): number {
  return [...made.secrets.keys()].filter((place) => place.startsWith("team-")).length;
}

test("a source that vanishes is waited for: its copies go when it has been absent for the grace", () => {
  const made = cluster(2);
  made.delete("shared/one");
  const first = made.pass();
  assert.equal(verdictAt(first, "team-0/one"), "wait");
  assert.equal(first.nextAt, made.now + 10_000);
  made.now += 9_999;
  assert.deepEqual(made.pass().actions, []);
  made.now += 1;
  const last = made.pass();
  assert.deepEqual(
    last.actions.map(({ confirm }) => confirm?.source.name),
    ["one", "one"],
  );
  assert.equal(copies(made), 2);
});

test("S19 recreated within the grace under a new UID: the copies are updated in place", () => {
  const made = cluster(1);
  const { uid } = made.get("team-0/one").metadata;
  made.delete("shared/one");
  made.pass();
  made.now += 5000;
  made.secret("shared/one", { to: "*" }, { data: { key: "second" } });
  made.settle();
  assert.equal(made.get("team-0/one").metadata.uid, uid);
  assert.equal(
    made.get("team-0/one").metadata.annotations["secretcast.io/source-uid"],
    made.get("shared/one").metadata.uid,
  );
});

test("recreated without its annotations it has the grace to get them", () => {
  const made = cluster(1);
  made.delete("shared/one");
  made.secret("shared/one", {});
  made.now += 5000;
  assert.equal(verdictAt(made.pass(), "team-0/one"), "wait");
  made.now += 10_000;
  made.pass();
  assert.equal(made.secrets.has("team-0/one"), false);
});

test("S28 S29 recreated with another type, or from an immutable one: the copies are replaced", () => {
  for (const [given, next] of [
    [{ type: "Opaque" }, { type: "example.com/x" }],
    [{ immutable: true }, { immutable: true, data: { key: "rotated" } }],
    [{ immutable: true }, { data: { key: "value" } }],
  ] as const) {
    const made = new Cluster();
    for (const name of ["shared", "team-0"]) made.namespace(name);
    made.secret("shared/one", { to: "*" }, given);
    made.settle();
    made.delete("shared/one");
    made.secret("shared/one", { to: "*" }, next);
    made.now += 5000;
    assert.equal(verdictAt(made.plan(), "team-0/one"), "replace");
    made.settle();
    assert.equal(made.get("team-0/one").type, made.get("shared/one").type);
    assert.deepEqual(made.get("team-0/one").data, made.get("shared/one").data);
    assert.equal(made.get("team-0/one").immutable, made.get("shared/one").immutable);
  }
});

test("an immutable copy takes new metadata by an update", () => {
  const made = new Cluster();
  for (const name of ["shared", "team-0"]) made.namespace(name);
  made.secret("shared/one", { to: "*" }, { immutable: true, labels: { team: "a" } });
  made.settle();
  made.edit(
    "shared/one",
    ({ metadata }) => (metadata.annotations["secretcast.io/copy-labels"] = "team"),
  );
  made.now += 5000;
  assert.equal(verdictAt(made.pass(), "team-0/one"), "update");
  assert.equal(made.get("team-0/one").metadata.labels["team"], "a");
});

test("the cache was behind: a live GET that finds the source deletes nothing and the grace starts anew", () => {
  const made = cluster(1);
  const source = made.get("shared/one");
  made.delete("shared/one");
  made.pass();
  made.now += 10_000;
  const { actions } = made.plan();
  made.secrets.set("shared/one", source);
  for (const action of actions) made.apply(action);
  assert.equal(made.secrets.has("team-0/one"), true);
  made.delete("shared/one");
  made.now += 5000;
  assert.equal(verdictAt(made.pass(), "team-0/one"), "wait");
});

test("S46 a live GET that is refused freezes the copies and is asked again later", () => {
  const made = cluster(1);
  made.delete("shared/one");
  made.pass();
  made.now += 10_000;
  const [action] = made.plan().actions;
  assert.ok(action?.confirm);
  made.memory.unreadable(action.confirm, "forbidden", made.now, 0.5);
  const result = made.pass();
  assert.equal(verdictAt(result, "team-0/one"), "frozen");
  assert.equal(result.nextAt, made.now + 1000);
  made.now += 1000;
  assert.equal(made.plan().actions.length, 1);
});

test("keep takes our marks off and leaves the rest, and the source's word outlives it in the record", () => {
  const made = cluster(1, { "on-delete": "keep" });
  const before = made.get("team-0/one").data;
  made.delete("shared/one");
  made.settle();
  const left = made.get("team-0/one");
  assert.deepEqual(left.data, before);
  assert.deepEqual(left.metadata.labels, {});
  assert.deepEqual(left.metadata.annotations, {});
});

test("a record of on-delete that cannot be read means keep; the source's word counts while it exists", () => {
  const made = cluster(1);
  made.edit(
    "team-0/one",
    ({ metadata }) => (metadata.annotations["secretcast.io/on-delete"] = "soon"),
  );
  made.delete("shared/one");
  made.edit("shared/two", ({ metadata }) => {
    metadata.annotations["secretcast.io/to"] = "nowhere";
    metadata.annotations["secretcast.io/on-delete"] = "keep";
  });
  made.settle();
  assert.equal(made.secrets.has("team-0/one"), true);
  assert.equal(made.secrets.has("team-0/two"), true);
  assert.equal(made.cached("team-0/one").role, "stranger");
});

test("S48 deletions above the limit are held until each has been due for the hold; the rest goes on", () => {
  const made = cluster(5, {}, { deleteLimit: 4 });
  for (const name of ["one", "two"]) {
    made.edit(`shared/${name}`, ({ metadata }) => (metadata.annotations = {}));
  }
  made.secret("shared/three", { to: "team-0" });
  made.now += 60_000;
  const result = made.pass();
  assert.equal(result.counts.held, 10);
  assert.equal(result.deletesHeld, 10);
  assert.match(result.rows.find(({ verdict }) => verdict === "held")?.reason ?? "", /limit is 4/);
  assert.equal(made.secrets.has("team-0/three"), true);
  assert.equal(result.nextAt, made.now + 300_000);
  made.now += 299_999;
  assert.equal(made.pass().counts.held, 10);
  made.now += 1;
  made.pass();
  assert.equal(copies(made), 1);
});

test("S48 a mistake undone within the hold deletes nothing", () => {
  const made = cluster(5, {}, { deleteLimit: 4 });
  const before = made.get("shared/one").metadata.annotations;
  made.edit("shared/one", ({ metadata }) => (metadata.annotations = {}));
  made.now += 60_000;
  made.pass();
  made.now += 200_000;
  made.edit("shared/one", ({ metadata }) => (metadata.annotations = before));
  made.settle();
  assert.equal(copies(made), 10);
  assert.ok(made.writes.every((write) => !write.startsWith("DELETE")));
});

test("the first source that vanishes within a hold is ordinary; the second counts", () => {
  const made = cluster(5, {}, { deleteLimit: 4 });
  made.delete("shared/one");
  made.settle();
  assert.equal(copies(made), 5);
  made.delete("shared/two");
  made.pass();
  made.now += 10_000;
  assert.equal(made.pass().counts.held, 5);
  assert.equal(copies(made), 5);
});

test("the copies of the first vanished source stay uncounted when they go in several passes", () => {
  const made = cluster(5, {}, { deleteLimit: 4 });
  made.delete("shared/one");
  made.pass();
  made.now += 10_000;
  const [first, second] = made.plan().actions;
  assert.ok(first && second);
  made.apply(first);
  made.settle();
  assert.equal(copies(made), 5);
  made.edit("shared/two", ({ metadata }) => (metadata.annotations["secretcast.io/to"] = "!team-0"));
  assert.equal(verdictAt(made.pass(), "team-0/two"), "delete");
});

test("deletions made within the last hold count, and 0 turns the guard off", () => {
  const made = cluster(3, {}, { deleteLimit: 4 });
  const narrow = (name: string): void => {
    made.edit(
      `shared/${name}`,
      ({ metadata }) => (metadata.annotations["secretcast.io/to"] = "nowhere"),
    );
    made.now += 5000;
  };
  narrow("one");
  made.pass();
  assert.equal(copies(made), 3);
  narrow("two");
  assert.equal(made.pass().counts.held, 3);
  made.settings = { ...made.settings, deleteLimit: 0 };
  made.pass();
  assert.equal(copies(made), 0);
});

test("recreated under the old name but wanting other places: the old copies have the grace", () => {
  const made = cluster(2);
  made.delete("shared/one");
  made.secret("shared/one", { to: "team-1", "on-delete": "keep" });
  made.now += 5000;
  const result = made.pass();
  assert.equal(verdictAt(result, "team-0/one"), "wait");
  assert.equal(made.get("team-1/one").metadata.annotations["secretcast.io/on-delete"], "keep");
  made.settle();
  assert.equal(made.secrets.has("team-0/one"), false);
});

test("what the limit holds does not hold the copies of the first vanished source", () => {
  const made = cluster(5, {}, { deleteLimit: 4 });
  made.delete("shared/one");
  made.pass();
  made.now += 10_000;
  made.edit("shared/two", ({ metadata }) => (metadata.annotations = {}));
  assert.equal(made.pass().counts.held, 5);
  assert.equal(made.secrets.has("team-0/one"), false);
  assert.equal(copies(made), 5);
});
