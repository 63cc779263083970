// When copies end: the grace, the live GET, keep, and the held mass deletion.
import { whyOf } from "../../support/planner/why-of.ts";
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Plan } from "../../../src/controller/model/verdicts.ts";
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

function copies(made: Cluster): number {
  return [...made.secrets.keys()].filter((place) => place.startsWith("team-")).length;
}

test("the copies of a vanished source are removed after the grace of its absence", () => {
  const made = cluster(2);
  made.delete("shared/one");
  const first = made.sync();
  assert.equal(verdictAt(first, "team-0/one"), "delete");
  assert.equal(first.nextAt, made.now + 10_000);
  made.now += 9_999;
  assert.deepEqual(made.sync().actions, []);
  made.now += 1;
  assert.deepEqual(kinds(made.sync()), ["confirm"]);
  assert.deepEqual(kinds(made.sync()), ["delete", "delete"]);
  assert.equal(copies(made), 2);
});

test("every ending waits for an unwanted grace without updates", () => {
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
    assert.match(whyOf(waiting), /; will be removed after 10s \(--delete-grace\)$/);
    assert.deepEqual(actionsAt(first, "team-0/one"), [], name);
    made.now += 9_999;
    assert.deepEqual(actionsAt(made.sync(), "team-0/one"), [], name);
    made.now += 1;
    assert.deepEqual(kinds(made.sync()).slice(0, 1), ["confirm"], name);
    assert.deepEqual(actionsAt(made.sync(), "team-0/one"), ["delete"], name);
  }
});

test("a place that is wanted again in between starts its grace anew", () => {
  const made = cluster(1);
  for (let round = 0; round < 5; round++) {
    made.annotate("shared/one", { to: "nowhere" });
    made.sync();
    made.now += 9_000;
    made.sync();
    made.annotate("shared/one", { to: "*" });
    made.sync();
    made.now += 3_000;
  }
  assert.ok(made.writes.every((write) => !write.startsWith("DELETE")));
});

test("N endings that follow from one object cost one question, after the hold", () => {
  const made = cluster(20, {}, { deleteHoldMs: 300_000 });
  made.annotate("shared/one", { to: "nowhere" });
  assert.equal(made.sync().counts.held, 20);
  made.now += 300_000;
  const asked = made
    .sync()
    .actions.flatMap((action) => (action.kind === "confirm" ? action.liveReads : []));
  assert.deepEqual(
    asked.map(({ ref }) => refText(ref)),
    ["shared/one"],
  );
  assert.equal(kinds(made.sync()).filter((kind) => kind === "delete").length, 20);
});

test("the namespace is asked where its labels or accept decided, and what it says counts", () => {
  for (const words of [{ accept: "false" }, {}]) {
    const made = cluster(1, { "to-selector": "tier!=gold" });
    const tier: Texts = "accept" in words ? {} : { tier: "gold" };
    made.namespace("team-0", words, tier);
    made.deafen("team-0");
    made.namespace("team-0");
    made.sync();
    made.now += 10_000;
    const asked = made
      .sync()
      .actions.flatMap((one) => (one.kind === "confirm" ? one.liveReads : []));
    assert.ok(asked.some(({ kind, ref }) => kind === "Namespace" && ref.namespace === "team-0"));
    made.settle();
    assert.equal(copies(made), 2);
    assert.ok(made.writes.every((write) => !write.startsWith("DELETE")));
  }
});

test("recreated within the grace under a new UID: the copies are updated in place", () => {
  const made = cluster(1);
  const { uid } = made.get("team-0/one").metadata;
  made.delete("shared/one");
  made.sync();
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
  assert.equal(verdictAt(made.sync(), "team-0/one"), "delete");
  made.settle();
  assert.equal(made.secrets.has("team-0/one"), false);
});

test("recreated with another type, or from an immutable one: the copies are replaced", () => {
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
  assert.equal(verdictAt(made.sync(), "team-0/one"), "update");
  assert.equal(made.get("team-0/one").metadata.labels["team"], "a");
});

test("a live GET that finds the source deletes nothing and restarts the grace", () => {
  const made = cluster(1);
  const source = made.get("shared/one");
  made.delete("shared/one");
  made.deafen("shared/one");
  made.secrets.set("shared/one", source);
  made.sync();
  made.now += 10_000;
  made.sync();
  made.sync();
  made.sync();
  assert.equal(made.secrets.has("team-0/one"), true);
  made.delete("shared/one");
  made.now += 5000;
  assert.equal(verdictAt(made.sync(), "team-0/one"), "delete");
  assert.equal(made.secrets.has("team-0/one"), true);
});

test("a refused live GET freezes the copies and is retried after 1 to 30 s", () => {
  const made = cluster(1);
  made.delete("shared/one");
  made.sync();
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
    const result = made.sync();
    assert.equal(verdictAt(result, "team-0/one"), "frozen");
    assert.equal(result.nextAt, made.now + wait);
    made.now += wait;
  }
  made.sync();
  assert.deepEqual(actionsAt(made.sync(), "team-0/one"), ["delete"]);
});

test("at most eight flights of questions are under way, whatever is asked", () => {
  const made = cluster(1);
  for (let index = 0; index < 3000; index++) forge(made, `shared/never-${index}`, index);
  made.sync();
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

function forge(made: Cluster, source: string, index: number): void {
  const place = `team-0/forged-${index}`;
  made.secret(
    place,
    { source, "source-uid": "made-up", "placed-at": place, "source-version": "1" },
    { labels: { "app.kubernetes.io/managed-by": "secretcast" } },
  );
}

test("keep removes our marks, and its record outlives the source", () => {
  const made = cluster(1, { "on-delete": "keep" });
  const before = made.get("team-0/one").data;
  made.delete("shared/one");
  made.settle();
  const left = made.get("team-0/one");
  assert.deepEqual(left.data, before);
  assert.deepEqual(left.metadata.labels, {});
  assert.deepEqual(left.metadata.annotations, {});
});

test("an unreadable record of on-delete means keep while no source says otherwise", () => {
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

test("recreated under the old name but wanting other places: the old copies have the grace", () => {
  const made = cluster(2);
  made.delete("shared/one");
  made.secret("shared/one", { to: "team-1", "on-delete": "keep" });
  made.now += 5000;
  const result = made.sync();
  assert.equal(verdictAt(result, "team-0/one"), "release");
  assert.equal(made.get("team-1/one").metadata.annotations["secretcast.io/on-delete"], "keep");
  made.settle();
  assert.equal(made.cached("team-0/one").role, "unmanaged");
});
