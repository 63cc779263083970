// Since when each row and report is so, and how many paused and frozen copies differ.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Plan, Row } from "../../../src/controller/model/verdicts.ts";
import { refText } from "../../../src/text/names.ts";
import { Cluster } from "../../support/planner/planner-cluster.ts";
import type { Action } from "../../../src/controller/model/actions.ts";

const FAILURE = { reason: "create Secret: 403 Forbidden", cause: "withheld", error: "forbidden" };

function crews(): Cluster {
  return new Cluster().withNamespaces("shared", "team-a", "team-b", "team-c");
}

function rowAt({ rows }: Plan, place: string): Row {
  const row = rows.find((each) => refText(each.place) === place);
  assert.ok(row, place);
  return row;
}

/** A sync whose writes at `place` fail. */
function failing(made: Cluster, place: string): Plan {
  const plan = made.plan();
  const fails = (action: Action): boolean => refText(action.place) === place;
  for (const action of plan.actions)
    if (fails(action)) made.memory.failed(action, FAILURE, made.now, 0.5);
    else made.apply(action);
  return made.plan();
}

test("a row has its time since until it was otherwise", () => {
  const made = crews();
  made.secret("shared/registry", { to: "*" });
  made.settle();
  made.now = 60_000;
  made.delete("team-b/registry");
  made.secret("team-b/registry");
  assert.equal(rowAt(made.plan(), "team-b/registry").since, 60_000);
  made.now = 90_000;
  made.delete("team-c/registry");
  made.secret("team-c/registry");
  const both = made.plan();
  assert.equal(rowAt(both, "team-b/registry").since, 60_000);
  assert.equal(rowAt(both, "team-c/registry").since, 90_000);
  made.delete("team-b/registry");
  made.settle();
  made.now = 200_000;
  made.delete("team-b/registry");
  made.secret("team-b/registry");
  assert.equal(rowAt(made.plan(), "team-b/registry").since, 200_000);
});

test("a failing write has its first time through every retry", () => {
  const made = crews();
  made.plan();
  made.now = 60_000;
  made.secret("shared/registry", { to: "*" });
  const first = rowAt(failing(made, "team-b/registry"), "team-b/registry");
  assert.deepEqual(
    [first.verdict, first.since, first.failure?.triedAt],
    ["backoff", 60_000, 60_000],
  );
  for (let at = 0; at < 5; at++) {
    made.now = rowAt(made.plan(), "team-b/registry").dueAt ?? 0;
    const due = rowAt(made.plan(), "team-b/registry");
    assert.deepEqual([due.verdict, due.since], ["create", 60_000]);
    const under = rowAt(made.plan(new Set(["team-b/registry"])), "team-b/registry");
    assert.equal(under.since, 60_000, "while it is under way");
    const again = rowAt(failing(made, "team-b/registry"), "team-b/registry");
    const expected = ["backoff", 60_000, made.now];
    assert.deepEqual([again.verdict, again.since, again.failure?.triedAt], expected);
  }
});

test("what the first plan finds may be older than the process", () => {
  const made = crews();
  made.secret("shared/registry", { to: "*" });
  made.secret("team-b/registry");
  made.settle();
  made.restart();
  made.now = 500_000;
  const found = made.plan();
  assert.equal(found.beganAt, 500_000);
  assert.ok(rowAt(found, "team-b/registry").since <= found.beganAt);
  made.now = 600_000;
  made.delete("team-c/registry");
  made.secret("team-c/registry");
  const later = made.plan();
  assert.equal(later.beganAt, 500_000);
  assert.ok(rowAt(later, "team-b/registry").since <= later.beganAt);
  assert.equal(rowAt(later, "team-c/registry").since, 600_000);
});

test("a source says since when its places have been in their states", () => {
  const made = crews();
  made.secret("shared/registry", { to: "*" });
  made.settle();
  const since = (): number | undefined => made.plan().sources[0]?.since;
  const before = since() ?? Infinity;
  assert.ok(before < 50_000, "all are current");
  made.now = 100_000;
  assert.equal(since(), before);
  made.delete("team-b/registry");
  made.secret("team-b/registry");
  made.now = 110_000;
  assert.equal(since(), 110_000, "a conflict beside what is current");
  made.now = 120_000;
  made.namespace("team-b", { accept: "sometimes" });
  assert.equal(made.plan().namespaces[0]?.since, 120_000);
  made.now = 130_000;
  assert.equal(made.plan().namespaces[0]?.since, 120_000);
});

test("of a fan-out that takes many plans each place has been pending since the first", () => {
  const made = new Cluster().withNamespaces("shared");
  for (let at = 0; at < 3000; at++) made.namespace(`team-${at}`);
  made.plan();
  made.now = 10_000;
  made.secret("shared/registry", { to: "*" });
  for (let at = 0; at < 49; at++) made.secret(`shared/other-${at}`, { to: `team-${at}` });
  const first = made.sync();
  assert.ok(first.rows.length < 3000, "the first plan has no room for all");
  made.now = 11_500;
  const second = made.plan();
  const since = new Set(second.rows.map((row) => row.since));
  assert.deepEqual([...since], [10_000]);
});

const differs = (plan: Plan): readonly string[] =>
  plan.rows
    .map(({ verdict, place, differs: is }) => `${verdict} ${refText(place)} ${is}`)
    .toSorted();

test("paused and frozen copies say whether they differ from their source", () => {
  const made = crews();
  made.secret("shared/registry", { to: "*" }, { data: { key: "one" } });
  made.settle();
  made.edit("team-b/registry", (secret) => (secret.data["key"] = "somebody's"));
  made.annotate("shared/registry", { paused: "true" });
  made.namespace("team-d");
  assert.deepEqual(differs(made.plan()), [
    "paused team-a/registry false",
    "paused team-b/registry true",
    "paused team-c/registry false",
    "paused team-d/registry true",
  ]);
  made.annotate("shared/registry", { "to-selecter": "tier=prod" });
  const refused = [
    "frozen team-a/registry false",
    "frozen team-b/registry true",
    "frozen team-c/registry false",
  ];
  assert.deepEqual(differs(made.plan()), refused);
  made.edit("shared/registry", (secret) => (secret.data["key"] = "dHdv"));
  assert.deepEqual(
    differs(made.plan()),
    refused.map((line) => line.replace("false", "true")),
    "a refused source goes on changing",
  );
});

test("a difference is unknown for copies of an unreadable source", () => {
  const made = crews();
  made.secret("shared/registry", { to: "*" });
  made.settle();
  made.annotate("shared/registry", { keys: "a=b=c" });
  assert.deepEqual(differs(made.plan()), [
    "frozen team-a/registry undefined",
    "frozen team-b/registry undefined",
    "frozen team-c/registry undefined",
  ]);
});

test("a difference is known while the source's entry is understood", () => {
  const made = crews();
  made.secret("shared/registry", {}, { type: "example.com/x" });
  made.list({ all: "secret: shared/registry\nto: '*'" });
  made.settle();
  made.edit("team-b/registry", (secret) => (secret.data["key"] = "somebody's"));
  // Not the entry, but what it names is at fault.
  made.edit("shared/registry", (secret) => (secret.type = "bootstrap.kubernetes.io/token"));
  const places = ["team-a", "team-b", "team-c"];
  const frozen = (plan: Plan): readonly string[] =>
    differs(plan).filter((line) => line.startsWith("frozen"));
  assert.deepEqual(
    frozen(made.plan()),
    places.map((name) => `frozen ${name}/registry ${name === "team-b"}`),
  );
  made.list({ all: "secret: shared/registry\nto: '*'\nkeyz: x" });
  assert.deepEqual(
    frozen(made.plan()),
    places.map((name) => `frozen ${name}/registry undefined`),
  );
});
