// How long a removal waits: --delete-grace where somebody clearly asked for it, and --delete-hold in every other case.
import { whyOf } from "../../support/planner/why-of.ts";
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Plan, RemovalHoldCause } from "../../../src/controller/model/verdicts.ts";
import { Cluster, globs, verdictAt } from "../../support/planner/planner-cluster.ts";

const HOLD_MS = 1_800_000;
const GRACE_MS = 10_000;
const NAMES = ["one", "two", "three", "four"] as const;

/** Sources `shared/one`, `shared/two` and so on, each in all of the teams, settled. */
function cluster(teams: number, sources = 1, changes = {}): Cluster {
  const made = new Cluster({ deleteHoldMs: HOLD_MS, ...changes }).withNamespaces("shared");
  for (let index = 0; index < teams; index++) made.namespace(`team-${index}`, {}, { tier: "gold" });
  for (const name of NAMES.slice(0, sources)) made.secret(`shared/${name}`, { to: "team-*" });
  made.settle(200);
  made.plan();
  made.now += 60_000;
  return made;
}

function copies(made: Cluster, name = ""): number {
  return [...made.secrets.keys()].filter(
    (place) => place.startsWith("team-") && place.endsWith(`/${name}`.slice(name === "" ? 1 : 0)),
  ).length;
}

/** How many removals wait for the hold, by condition. */
function holds(plan: Plan): Partial<Record<RemovalHoldCause, number>> {
  const found: Partial<Record<RemovalHoldCause, number>> = {};
  for (const { verdict, removal } of plan.rows) {
    const hold = removal?.hold;
    if (verdict === "held" && hold) found[hold] = (found[hold] ?? 0) + 1;
  }
  return found;
}

/** The plan once the grace is over and the API server was asked. What may be removed is removed. */
function afterGrace(made: Cluster): Plan {
  made.end();
  return made.plan();
}

/** When the removal at `place` is made, in ms from now. */
function dueIn(made: Cluster, place: string): number | undefined {
  const row = made.plan().rows.find(({ place: at }) => `${at.namespace}/${at.name}` === place);
  return row?.dueAt === undefined ? undefined : row.dueAt - made.now;
}

/** All wait exactly `ms`, and are removed then. */
function removedAfter(made: Cluster, ms: number, before: number, after: number): void {
  made.now += ms - 1;
  made.sync();
  made.sync();
  assert.equal(copies(made), before);
  made.now += 1;
  made.settle(400);
  assert.equal(copies(made), after);
}

/** In `namespace`, as a user of it that may read a copy there can write it. */
function forge(made: Cluster, namespace: string, name: string, uid: string, source: string): void {
  const place = `${namespace}/${name}`;
  made.secret(
    place,
    { source, "source-uid": uid, "placed-at": place, "source-version": "1" },
    { labels: { "app.kubernetes.io/managed-by": "secretcast" } },
  );
}

test("a mistyped to holds all copies from the first sync, and undone it costs none", () => {
  const made = cluster(5);
  made.annotate("shared/one", { to: "taem-*" });
  const plan = made.plan();
  assert.deepEqual(holds(plan), { edit: 5 });
  assert.match(whyOf(plan.rows[0]), /the source lost 5 namespaces within 30m and still wants 0/);
  made.now += HOLD_MS - 1;
  made.sync();
  made.annotate("shared/one", { to: "team-*" });
  made.settle();
  assert.equal(copies(made), 5);
});

const EDITS: Readonly<Record<string, readonly [string, (made: Cluster) => void]>> = {
  "to names nobody by mistake": ["edit", (made) => made.annotate("shared/one", { to: "taem-*" })],
  "a selector that matches nothing": [
    "edit",
    (made) => made.annotate("shared/one", { "to-selector": "tier=glod" }),
  ],
  "another name for the copies": ["edit", (made) => made.annotate("shared/one", { name: "other" })],
  "no annotations": [
    "unannotated",
    (made) => made.edit("shared/one", ({ metadata }) => void (metadata.annotations = {})),
  ],
  "the source is deleted": ["gone", (made) => made.delete("shared/one")],
  "the source's namespace is deleted": [
    "gone",
    (made) => {
      made.delete("shared/one");
      made.namespaces.delete("shared");
    },
  ],
  "created again with a mistake": [
    "edit",
    (made) => {
      made.delete("shared/one");
      made.secret("shared/one", { to: "taem-*" });
    },
  ],
  "three of ten namespaces": [
    "edit",
    (made) => made.annotate("shared/one", { to: "team-*,!team-0,!team-1,!team-2" }),
  ],
};

for (const [what, [cause, edit]] of Object.entries(EDITS))
  test(`waits for the hold: ${what}`, () => {
    const made = cluster(10);
    edit(made);
    const plan = made.plan();
    const held = what.startsWith("three") ? 3 : 10;
    assert.deepEqual(holds(plan), { [cause]: held });
    made.now += HOLD_MS - 1;
    made.sync();
    made.sync();
    assert.ok(copies(made, "one") === 10);
    made.now += 1;
    made.settle(100);
    assert.equal(copies(made, "one"), 10 - held);
  });

test("the only place, or half of the places, waits for the hold", () => {
  for (const [teams, to] of [
    [1, "team-9"],
    [2, "team-0"],
    [4, "team-0,team-1"],
  ] as const) {
    const made = cluster(teams);
    made.annotate("shared/one", { to });
    assert.deepEqual(holds(made.plan()), { edit: teams === 4 ? 2 : 1 }, to);
  }
});

test("one or two of several namespaces take the grace", () => {
  for (const to of ["!team-0", "!team-0,!team-1"]) {
    const made = cluster(5);
    made.annotate("shared/one", { to });
    const plan = made.plan();
    assert.deepEqual(holds(plan), {});
    assert.equal(verdictAt(plan, "team-0/one"), "delete");
    removedAfter(made, GRACE_MS, 5, to === "!team-0" ? 4 : 3);
  }
});

test("to: !* removes every copy after the grace, and undoes a hold", () => {
  const made = cluster(10);
  made.annotate("shared/one", { to: "taem-*" });
  made.plan();
  made.now += 60_000;
  made.annotate("shared/one", { to: "!*" });
  const plan = made.plan();
  assert.deepEqual(holds(plan), {});
  assert.equal(dueIn(made, "team-0/one"), GRACE_MS);
  removedAfter(made, GRACE_MS, 10, 0);
});

test("to: !* with a selector is no such decision", () => {
  const made = cluster(3);
  made.annotate("shared/one", { to: "!*", "to-selector": "tier=gold" });
  assert.deepEqual(holds(made.plan()), { edit: 3 });
});

test('a namespace that says accept: "false" gets rid of its copy after the grace, held or not', () => {
  for (const isDeleted of [false, true]) {
    const made = cluster(5);
    if (isDeleted) made.delete("shared/one");
    else made.annotate("shared/one", { to: "taem-*" });
    made.plan();
    made.now += 60_000;
    made.namespace("team-0", { accept: "false" });
    assert.equal(dueIn(made, "team-0/one"), GRACE_MS);
    assert.equal(Object.values(holds(afterGrace(made)))[0], 4);
    assert.equal(made.secrets.has("team-0/one"), false);
  }
});

test("namespaces that refuse every copy are not lost, unlike those that narrow accept", () => {
  for (const accept of ["false", "other/*"]) {
    const made = cluster(8);
    for (const index of [0, 1, 2]) made.namespace(`team-${index}`, { accept }, { tier: "gold" });
    assert.deepEqual(holds(made.plan()), accept === "false" ? {} : { edit: 3 }, accept);
  }
});

test("labels that are lost one namespace at a time count together within a hold", () => {
  const made = cluster(8);
  made.annotate("shared/one", { "to-selector": "tier=gold" });
  made.settle();
  for (const index of [0, 1]) {
    made.namespace(`team-${index}`);
    made.end();
    made.now += 60_000;
  }
  assert.equal(copies(made), 6);
  made.namespace("team-2");
  assert.deepEqual(holds(made.plan()), { edit: 1 });
});

test("losses of more than a hold ago no longer count", () => {
  const made = cluster(8);
  made.annotate("shared/one", { "to-selector": "tier=gold" });
  made.settle();
  for (let index = 0; index < 4; index++) {
    made.namespace(`team-${index}`);
    made.end();
    assert.equal(copies(made), 7 - index);
    made.now += HOLD_MS / 2 + 1;
    made.plan();
  }
});

test("a reported time becomes later with more losses and never earlier", () => {
  const made = cluster(8);
  made.annotate("shared/one", { to: "!team-0" });
  assert.equal(dueIn(made, "team-0/one"), GRACE_MS);
  made.now += 1000;
  made.annotate("shared/one", { to: "!team-0,!team-1,!team-2" });
  assert.equal(dueIn(made, "team-0/one"), HOLD_MS - 1000);
  made.now += 1000;
  made.annotate("shared/one", { to: "!team-0" });
  const plan = made.plan();
  assert.equal(verdictAt(plan, "team-0/one"), "held");
  assert.equal(dueIn(made, "team-0/one"), HOLD_MS - 2000);
});

test("a pause interrupts the wait", () => {
  const made = cluster(5);
  made.annotate("shared/one", { to: "taem-*" });
  made.plan();
  made.now += 60_000;
  made.annotate("shared/one", { paused: "true" });
  made.plan();
  made.annotate("shared/one", { paused: "false" });
  assert.equal(dueIn(made, "team-0/one"), HOLD_MS);
});

test("a new process starts every hold anew and is never less strict", () => {
  const edits: Readonly<Record<string, (made: Cluster) => void>> = {
    start: (made) => made.annotate("shared/one", { to: "!team-0" }),
    edit: (made) => made.annotate("shared/one", { to: "taem-*" }),
    gone: (made) => made.delete("shared/one"),
  };
  for (const [cause, edit] of Object.entries(edits)) {
    const made = cluster(5);
    edit(made);
    made.plan();
    made.now += 5000;
    made.restart();
    assert.deepEqual(holds(made.plan()), { [cause]: cause === "start" ? 1 : 5 });
    assert.equal(dueIn(made, "team-0/one"), HOLD_MS);
  }
});

test("a change of the leader ends no hold of 99 old copies", () => {
  for (const exist of [true, false]) {
    const made = cluster(99);
    made.annotate("shared/one", { name: "ca-bundle" });
    made.plan();
    if (exist) made.sync();
    made.now += HOLD_MS / 2;
    made.restart();
    assert.deepEqual(holds(made.plan()), { edit: 99 });
    assert.equal(dueIn(made, "team-0/one"), HOLD_MS);
    made.settle(400);
    assert.equal(copies(made, "one"), 0);
    assert.equal(copies(made, "ca-bundle"), 99);
  }
});

test("a rename of one source does not delay a revocation of another", () => {
  const made = cluster(99, 2);
  made.annotate("shared/one", { name: "other" });
  made.plan();
  made.annotate("shared/two", { to: "team-*,!team-3" });
  assert.equal(dueIn(made, "team-3/two"), GRACE_MS);
  assert.deepEqual(holds(afterGrace(made)), { edit: 99 });
  assert.equal(made.secrets.has("team-3/two"), false);
});

test("an edit that takes 13 of 99 copies is held", () => {
  const made = cluster(99);
  made.annotate("shared/one", { to: "team-1*,team-2*,team-3*,team-4*,team-5*,team-6*,team-7*" });
  const left = copies(made) - 77;
  assert.deepEqual(holds(made.plan()), { edit: left });
});

test("any number of forged copies leaves a lost label of four namespaces held", () => {
  const made = new Cluster({ deleteHoldMs: HOLD_MS }).withNamespaces("shared", "evil");
  for (let index = 0; index < 10; index++) made.namespace(`team-${index}`, {}, { tier: "gold" });
  for (let index = 0; index < 10; index++)
    made.secret(`shared/of-${index}`, { "to-selector": "tier=gold" });
  made.settle(200);
  for (let index = 0; index < 300; index++) {
    const source = `shared/of-${index % 10}`;
    forge(made, "evil", `forged-${index}`, made.get(source).metadata.uid, source);
  }
  for (const index of [0, 1, 2, 3]) made.namespace(`team-${index}`);
  assert.equal(holds(made.plan()).edit, 40);
  made.now += HOLD_MS - 1;
  made.sync();
  assert.equal(copies(made), 100);
});

test("forged copies under other names do not delay a revocation", () => {
  const made = cluster(5);
  made.namespace("evil");
  const { uid } = made.get("shared/one").metadata;
  for (let index = 0; index < 101; index++) forge(made, "evil", `x-${index}`, uid, "shared/one");
  made.sync();
  made.annotate("shared/one", { to: "team-*,!team-0" });
  assert.equal(dueIn(made, "team-0/one"), GRACE_MS);
});

test("forged copies of sources that never were do not delay a removal in another namespace", () => {
  const made = cluster(2);
  made.namespace("a-tenant");
  for (let index = 0; index < 3000; index++)
    forge(made, "a-tenant", `forged-${index}`, "made-up", `shared/never-${index}`);
  made.plan();
  made.now += HOLD_MS - GRACE_MS;
  made.namespace("team-1", { accept: "false" });
  made.plan();
  made.now += GRACE_MS;
  for (let passes = 0; passes < 3; passes++) made.sync();
  assert.equal(made.secrets.has("team-1/one"), false);
});

test("a removed entry of the list is held, and the row has its key", () => {
  const made = cluster(0, 0);
  made.namespace("vault");
  made.namespace("team-0");
  made.secret("vault/tls", {});
  const other = "secret: vault/other\nto: nobody";
  made.list({ tls: "secret: vault/tls\nto: team-*", other });
  made.settle();
  made.list({ other });
  made.sync();
  assert.deepEqual(holds(made.sync()), { entry: 1 });
  const held = made.plan().rows.find(({ removal }) => removal?.hold === "entry");
  assert.equal(held?.removal?.entry, "tls");
});

test("a source that is issued again within the hold under another UID costs no copy", () => {
  for (const words of [{}, { "on-delete": "keep" }]) {
    const made = cluster(5);
    made.annotate("shared/one", words);
    made.settle();
    made.writes.length = 0;
    made.delete("shared/one");
    made.plan();
    made.now += HOLD_MS - 1000;
    made.plan();
    // First without what makes it a source, as an operator does that annotates it later.
    made.secret("shared/one", {}, { data: { password: "new" } });
    made.plan();
    made.secret("shared/one", { to: "*", ...words }, { data: { password: "new" } });
    made.settle();
    assert.deepEqual(
      made.writes.map((write) => write.split(" ")[0]),
      ["PATCH", "PATCH", "PATCH", "PATCH", "PATCH"],
    );
  }
});

test("a source that is issued again for fewer places counts as the same source", () => {
  const made = cluster(5);
  made.delete("shared/one");
  made.secret("shared/one", { to: "team-*,!team-0" });
  assert.equal(dueIn(made, "team-0/one"), GRACE_MS);
});

test("a missing source keeps its places from others of its rank for the hold", () => {
  const made = cluster(3);
  made.secret("shared/heir", { to: "team-*", name: "one" });
  made.settle();
  made.delete("shared/one");
  const plan = made.plan();
  assert.deepEqual(holds(plan), { gone: 3 });
  assert.equal(verdictAt(plan, "team-0/one", "shared/heir"), "conflict");
  made.now += HOLD_MS;
  made.settle();
  assert.equal(made.get("team-0/one").metadata.annotations["secretcast.io/source"], "shared/heir");
});

test("an earlier entry of --source-namespaces takes such places at once", () => {
  const made = cluster(3, 1, { sourceNamespaces: globs("first,shared") });
  made.namespace("first");
  made.delete("shared/one");
  made.plan();
  made.secret("first/one", { to: "team-*" });
  made.settle();
  assert.equal(made.get("team-0/one").metadata.annotations["secretcast.io/source"], "first/one");
});

test("a source that exists and gives a place up loses it to another at once", () => {
  const made = cluster(3);
  made.secret("shared/heir", { to: "team-0", name: "one" });
  made.annotate("shared/one", { to: "taem-*" });
  made.now += 5000;
  made.sync();
  made.sync();
  assert.equal(made.get("team-0/one").metadata.annotations["secretcast.io/source"], "shared/heir");
});

test("a hold of 0 means the grace, and no hold is shorter", () => {
  for (const deleteHoldMs of [0, 1000]) {
    const made = cluster(3, 1, { deleteHoldMs });
    made.delete("shared/one");
    assert.equal(dueIn(made, "team-0/one"), GRACE_MS);
  }
});

test("pulling objects of one source count together, whatever their owners call them", () => {
  const made = cluster(6, 0);
  made.secret("shared/db", { allow: "team-*" }, { data: { a: "x" } });
  for (let index = 0; index < 6; index++)
    made.secret(`team-${index}/mine-${index}`, { from: "shared/db" }, { data: {} });
  made.settle();
  made.annotate("shared/db", { allow: "team-3,team-4,team-5" });
  assert.deepEqual(holds(made.plan()), { edit: 3 });
  made.annotate("shared/db", { allow: "!*" });
  assert.equal(dueIn(made, "team-0/mine-0"), GRACE_MS);
});

test("a place that is unwanted no longer is forgotten after a hold", () => {
  const made = cluster(3);
  made.annotate("shared/one", { to: "!*" });
  made.settle();
  const places = made.memory.unwantedPlaces;
  assert.equal(places.size, 3);
  made.now += HOLD_MS + 1;
  made.plan();
  assert.equal(places.size, 0);
});
