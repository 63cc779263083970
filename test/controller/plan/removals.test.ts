// When copies end: the grace, the live GET, keep, and the held mass deletion.
import { whyOf } from "../../support/planner/why-of.ts";
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Plan, Row } from "../../../src/controller/model/verdicts.ts";
import type { Texts } from "../../support/planner/raw-cluster.ts";
import { actionsAt, Cluster, globs, verdictAt } from "../../support/planner/planner-cluster.ts";
import { refText } from "../../../src/text/names.ts";
import { actionKey } from "../../../src/controller/model/actions.ts";

function kinds(result: Plan): readonly string[] {
  return result.actions.map(({ kind }) => kind);
}

function cluster(places: number, words = {}, changes = {}): Cluster {
  const made = new Cluster({ sourceNamespaces: globs("shared"), ...changes }).withNamespaces(
    "shared",
  );
  for (let index = 0; index < places; index++) made.namespace(`team-${index}`);
  made.secret("shared/one", { to: "*", ...words });
  made.secret("shared/two", { to: "*", ...words });
  made.settle();
  made.writes.length = 0;
  return made;
}

function heldAt(result: Plan): Row | undefined {
  return result.rows.find(({ verdict }) => verdict === "held");
}

function copies(made: Cluster): number {
  return [...made.secrets.keys()].filter((place) => place.startsWith("team-")).length;
}

test("a source that vanishes is waited for: its copies go when it has been absent for the grace", () => {
  const made = cluster(2);
  made.delete("shared/one");
  const first = made.pass();
  assert.equal(verdictAt(first, "team-0/one"), "delete");
  assert.equal(first.nextAt, made.now + 10_000);
  made.now += 9_999;
  assert.deepEqual(made.pass().actions, []);
  made.now += 1;
  assert.deepEqual(kinds(made.pass()), ["confirm"]);
  assert.deepEqual(kinds(made.pass()), ["delete", "delete"]);
  assert.equal(copies(made), 2);
});

test("every ending waits until its place has been unwanted for the grace on end, and gets no updates", () => {
  const endings: Readonly<Record<string, (made: Cluster) => void>> = {
    "to names it no more": (made) => made.annotate("shared/one", { to: "nowhere" }),
    "to is gone": (made) => {
      made.edit("shared/one", ({ metadata }) => {
        metadata.annotations = {};
        metadata.labels["note"] = "edited";
      });
    },
    "another name": (made) => made.annotate("shared/one", { name: "other" }),
    "the namespace declines": (made) => {
      made.namespace("team-0", { accept: "false" });
    },
    "a label is away": (made) => {
      made.annotate("shared/one", { "to-selector": "tier!=gold" });
      made.namespace("team-0", {}, { tier: "gold" });
    },
  };
  for (const [name, end] of Object.entries(endings)) {
    const made = cluster(1);
    made.now += 60_000;
    end(made);
    const first = made.plan();
    assert.equal(verdictAt(first, "team-0/one"), "delete", name);
    const waiting = first.rows.find(({ verdict }) => verdict === "delete");
    assert.equal(waiting?.dueAt, made.now + 10_000);
    assert.match(whyOf(waiting), /; will be removed after 10s \(--(?:delete|source)-grace\)$/);
    assert.deepEqual(actionsAt(first, "team-0/one"), [], name);
    made.now += 9_999;
    assert.deepEqual(actionsAt(made.pass(), "team-0/one"), [], name);
    made.now += 1;
    assert.deepEqual(kinds(made.pass()).slice(0, 1), ["confirm"], name);
    assert.deepEqual(actionsAt(made.pass(), "team-0/one"), ["delete"], name);
  }
});

test("a place that is wanted again in between starts its grace anew", () => {
  const made = cluster(1);
  for (let round = 0; round < 5; round++) {
    made.annotate("shared/one", { to: "nowhere" });
    made.pass();
    made.now += 9_000;
    made.pass();
    made.annotate("shared/one", { to: "*" });
    made.pass();
    made.now += 3_000;
  }
  assert.ok(made.writes.every((write) => !write.startsWith("DELETE")));
});

test("N endings that follow from one object cost one question, and one more after a hold", () => {
  const made = cluster(20, {}, { deleteLimit: 4 });
  made.annotate("shared/one", { to: "nowhere" });
  made.pass();
  made.now += 10_000;
  const asked = made
    .pass()
    .actions.flatMap((action) => (action.kind === "confirm" ? action.liveReads : []));
  assert.deepEqual(
    asked.map(({ ref }) => refText(ref)),
    ["shared/one"],
  );
  assert.equal(made.pass().counts.held, 20);
  made.now += 300_000;
  assert.deepEqual(kinds(made.pass()), ["confirm"]);
  assert.equal(kinds(made.pass()).filter((kind) => kind === "delete").length, 20);
});

test("the namespace is asked where its labels or accept decided, and what it says counts", () => {
  for (const words of [{ accept: "false" }, {}]) {
    const made = cluster(1, { "to-selector": "tier!=gold" });
    const tier: Texts = "accept" in words ? {} : { tier: "gold" };
    made.namespace("team-0", words, tier);
    made.deafen("team-0");
    made.namespace("team-0");
    made.pass();
    made.now += 10_000;
    const asked = made
      .pass()
      .actions.flatMap((one) => (one.kind === "confirm" ? one.liveReads : []));
    assert.ok(asked.some(({ kind, ref }) => kind === "Namespace" && ref.namespace === "team-0"));
    made.settle();
    assert.equal(copies(made), 2);
    assert.ok(made.writes.every((write) => !write.startsWith("DELETE")));
  }
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
  assert.equal(verdictAt(made.pass(), "team-0/one"), "delete");
  made.settle();
  assert.equal(made.secrets.has("team-0/one"), false);
});

test("S28 S29 recreated with another type, or from an immutable one: the copies are replaced", () => {
  for (const [given, next] of [
    [{ type: "Opaque" }, { type: "example.com/x" }],
    [{ immutable: true }, { immutable: true, data: { key: "rotated" } }],
    [{ immutable: true }, { data: { key: "value" } }],
  ] as const) {
    const made = new Cluster().withNamespaces("shared", "team-0");
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
  const made = new Cluster().withNamespaces("shared", "team-0");
  made.secret("shared/one", { to: "*" }, { immutable: true, labels: { team: "a" } });
  made.settle();
  made.annotate("shared/one", { "copy-labels": "team" });
  made.now += 5000;
  assert.equal(verdictAt(made.pass(), "team-0/one"), "update");
  assert.equal(made.get("team-0/one").metadata.labels["team"], "a");
});

test("the cache was behind: a live GET that finds the source deletes nothing and the grace starts anew", () => {
  const made = cluster(1);
  const source = made.get("shared/one");
  made.delete("shared/one");
  made.deafen("shared/one");
  made.secrets.set("shared/one", source);
  made.pass();
  made.now += 10_000;
  made.pass();
  made.pass();
  made.pass();
  assert.equal(made.secrets.has("team-0/one"), true);
  made.delete("shared/one");
  made.now += 5000;
  assert.equal(verdictAt(made.pass(), "team-0/one"), "delete");
  assert.equal(made.secrets.has("team-0/one"), true);
});

test("S46 a live GET that is refused freezes the copies, and is asked again after 1 s, 2 s, 4 s, at most 30 s", () => {
  const made = cluster(1);
  made.delete("shared/one");
  made.pass();
  made.now += 10_000;
  for (const wait of [1000, 2000, 4000, 8000, 16_000, 30_000, 30_000]) {
    const [action] = made.plan().actions;
    assert.ok(action?.kind === "confirm");
    for (const question of action.liveReads)
      made.memories.shared.liveReads.failed(
        question,
        "source shared/one cannot be read",
        made.now,
        0.5,
      );
    const result = made.pass();
    assert.equal(verdictAt(result, "team-0/one"), "frozen");
    assert.equal(result.nextAt, made.now + wait);
    made.now += wait;
  }
  made.pass();
  assert.deepEqual(actionsAt(made.pass(), "team-0/one"), ["delete"]);
});

test("at most eight flights of questions are under way, whatever is asked", () => {
  const made = cluster(1);
  for (let index = 0; index < 3000; index++) forge(made, `shared/never-${index}`, index);
  made.pass();
  made.now += 10_000;
  const first = made.plan();
  assert.deepEqual(
    kinds(first),
    Array.from({ length: 8 }, () => "confirm"),
  );
  const busy = new Set(first.actions.slice(0, 7).map((action) => actionKey(action)));
  for (const action of first.actions) {
    if (action.kind === "confirm" && busy.has(action.batch))
      made.memories.shared.liveReads.began(action.liveReads);
  }
  const second = made.plan(busy);
  assert.deepEqual(kinds(second), ["confirm"]);
  const keys = (result: Plan): readonly string[] =>
    result.actions.flatMap((one) =>
      one.kind === "confirm" ? one.liveReads.map(({ ref }) => refText(ref)) : [],
    );
  assert.equal(
    keys(first)
      .slice(0, 7 * 32)
      .some((key) => keys(second).includes(key)),
    false,
  );
});

test("copies that name sources never seen take neither the exemption nor the room of the others", () => {
  const made = cluster(5, {}, { deleteLimit: 4 });
  for (let index = 0; index < 6; index++) forge(made, `shared/never-${index}`, index);
  made.pass();
  made.now += 5000;
  made.delete("shared/one");
  const result = made.due();
  assert.equal(result.actions.filter(({ source }) => source.name === "one").length, 5);
  assert.equal(result.counts.held, 6);
  assert.match(whyOf(result.rows.find(({ verdict }) => verdict === "held")), /never/);
});

function forge(made: Cluster, source: string, index: number): void {
  const place = `team-0/forged-${index}`;
  made.secret(
    place,
    { source, "source-uid": "made-up", "placed-at": place, "source-version": "1" },
    { labels: { "app.kubernetes.io/managed-by": "secretcast" } },
  );
}

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
  made.annotate("team-0/one", { "on-delete": "soon" });
  made.delete("shared/one");
  made.edit("shared/two", ({ metadata }) => {
    metadata.annotations["secretcast.io/to"] = "nowhere";
    metadata.annotations["secretcast.io/on-delete"] = "keep";
  });
  made.settle();
  assert.equal(made.secrets.has("team-0/one"), true);
  assert.equal(made.secrets.has("team-0/two"), true);
  assert.equal(made.cached("team-0/one").role, "unmanaged");
});

test("S48 deletions above the limit are held until each has been due for the hold; the rest goes on", () => {
  const made = cluster(5, {}, { deleteLimit: 4 });
  for (const name of ["one", "two"]) {
    made.edit(`shared/${name}`, ({ metadata }) => (metadata.annotations = {}));
  }
  made.secret("shared/three", { to: "team-0" });
  made.now += 60_000;
  const result = made.end();
  assert.equal(result.counts.held, 10);
  assert.equal(result.deletesHeld, 10);
  assert.equal(made.secrets.has("team-0/three"), true);
  assert.equal(result.nextAt, made.now + 300_000);
  made.now += 299_999;
  assert.equal(made.pass().counts.held, 10);
  made.now += 1;
  made.pass();
  made.pass();
  assert.equal(copies(made), 1);
});

test("S48 as many deletions as the limit says are made, and one more holds them all", () => {
  for (const [deleteLimit, held] of [
    [4, 0],
    [3, 4],
  ] as const) {
    const made = cluster(5, {}, { deleteLimit });
    // Two of five copies are not half of them.
    for (const name of ["one", "two"]) made.annotate(`shared/${name}`, { to: "!team-0,!team-1" });
    made.now += 60_000;
    const result = made.end();
    assert.equal(result.counts.held, held);
    assert.equal(copies(made), 6 + held);
    if (held > 0) assert.match(whyOf(heldAt(result)), /4 due; the limit is 3/);
  }
});

test("S48 a mistake undone within the hold deletes nothing", () => {
  const made = cluster(5, {}, { deleteLimit: 4 });
  const before = made.get("shared/one").metadata.annotations;
  made.edit("shared/one", ({ metadata }) => (metadata.annotations = {}));
  made.now += 60_000;
  made.end();
  made.now += 200_000;
  made.edit("shared/one", ({ metadata }) => (metadata.annotations = before));
  made.settle();
  assert.equal(copies(made), 10);
  assert.ok(made.writes.every((write) => !write.startsWith("DELETE")));
});

test("the copies of the first vanished source stay uncounted when they go in several passes", () => {
  const made = cluster(5, {}, { deleteLimit: 4 });
  made.delete("shared/one");
  const [first, second] = made.due().actions;
  assert.ok(first && second);
  made.apply(first);
  made.settle();
  assert.equal(copies(made), 5);
  made.annotate("shared/two", { to: "!team-0" });
  assert.equal(verdictAt(made.end(), "team-0/two"), "delete");
  assert.equal(made.secrets.has("team-0/two"), false);
});

test("removals made within the last hold count, with the numbers, and 0 turns the limit off (E13)", () => {
  const made = cluster(5, {}, { deleteLimit: 3 });
  made.annotate("shared/one", { to: "!team-0,!team-1" });
  made.end();
  assert.equal(copies(made), 8);
  made.annotate("shared/two", { to: "!team-0,!team-1" });
  const result = made.end();
  assert.equal(result.counts.held, 2);
  assert.equal(heldAt(result)?.hold, "limit");
  assert.match(
    whyOf(heldAt(result)),
    /2 due, and 2 made within 5m; the limit is 3 \(--delete-limit\)$/,
  );
  made.settings = { ...made.settings, deleteLimit: 0 };
  made.pass();
  assert.equal(copies(made), 6);
});

test("recreated under the old name but wanting other places: the old copies have the grace", () => {
  const made = cluster(2);
  made.delete("shared/one");
  made.secret("shared/one", { to: "team-1", "on-delete": "keep" });
  made.now += 5000;
  const result = made.pass();
  assert.equal(verdictAt(result, "team-0/one"), "delete");
  assert.equal(made.get("team-1/one").metadata.annotations["secretcast.io/on-delete"], "keep");
  made.settle();
  assert.equal(made.secrets.has("team-0/one"), false);
});

test("a source counts as deleted after --source-grace, and not after --delete-grace", () => {
  for (const words of [{}, { "on-delete": "keep" }]) {
    const made = cluster(2, words, { deleteGraceMs: 10_000, sourceGraceMs: 300_000 });
    made.delete("shared/one");
    made.plan();
    made.now += 299_999;
    assert.deepEqual(kinds(made.plan()), []);
    assert.match(whyOf(made.plan().rows[0]), /will be removed after 300s \(--source-grace\)$/);
    made.now += 1;
    assert.deepEqual(kinds(made.pass()), ["confirm"]);
    assert.equal(kinds(made.plan()).length, 2);
  }
});

test("a source that is issued again within --source-grace costs no copy", () => {
  for (const words of [{}, { "on-delete": "keep" }]) {
    const made = cluster(2, words, { deleteGraceMs: 10_000, sourceGraceMs: 300_000 });
    made.delete("shared/one");
    made.plan();
    made.now += 299_000;
    made.plan();
    // First without what makes it a source, as an operator does that annotates it later.
    made.secret("shared/one", {}, { data: { password: "new" } });
    made.plan();
    made.secret("shared/one", { to: "*", ...words }, { data: { password: "new" } });
    made.settle();
    assert.deepEqual(
      made.writes.map((write) => write.split(" ")[0]),
      ["PATCH", "PATCH"],
    );
  }
});
