// Removals that could be a mistake are held for --delete-hold, and the users of one namespace never hold
// removals in another.
import { whyOf } from "../../support/planner/why-of.ts";
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Plan, RemovalHoldCause } from "../../../src/controller/model/verdicts.ts";
import { refText } from "../../../src/text/names.ts";
import { Cluster, globs } from "../../support/planner/planner-cluster.ts";

const HOLD_MS = 1_800_000;
const GRACE_MS = 10_000;

/** Sources `shared/one`, `shared/two` and so on, each in all of the teams, settled. */
function cluster(teams: number, sources = 2, changes = {}): Cluster {
  const made = new Cluster({ deleteLimit: 100, deleteHoldMs: HOLD_MS, ...changes }).withNamespaces(
    "shared",
  );
  for (let index = 0; index < teams; index++) made.namespace(`team-${index}`, {}, { tier: "gold" });
  for (const name of ["one", "two", "three", "four", "five", "six"].slice(0, sources))
    made.secret(`shared/${name}`, { to: "team-*" });
  made.settle(200);
  return made;
}

function copies(made: Cluster, name = ""): number {
  return [...made.secrets.keys()].filter(
    (place) => place.startsWith("team-") && place.endsWith(`/${name}`.slice(name === "" ? 1 : 0)),
  ).length;
}

/** How many removals each condition holds. */
function holds(plan: Plan): Partial<Record<RemovalHoldCause, number>> {
  const found: Partial<Record<RemovalHoldCause, number>> = {};
  for (const { verdict, hold } of plan.rows)
    if (verdict === "held" && hold) found[hold] = (found[hold] ?? 0) + 1;
  return found;
}

/** The plan once the grace is over and the API server was asked; what may be removed is. */
function afterGrace(made: Cluster): Plan {
  made.end();
  return made.plan();
}

/** Held for exactly so long, and then removed. */
function heldThenRemoved(made: Cluster, before: number, after: number): void {
  const dueAt = made.plan().rows.find(({ verdict }) => verdict === "held")?.dueAt;
  assert.equal(dueAt, made.now + HOLD_MS);
  made.now += HOLD_MS - 1;
  made.pass();
  made.pass();
  assert.equal(copies(made), before);
  made.now += 1;
  made.settle();
  assert.equal(copies(made), after);
}

test("a mistyped to leaves no copy: all are held, and the source is nowhere until it is corrected (A4)", () => {
  const made = cluster(2, 1);
  made.annotate("shared/one", { to: "taem-*" });
  const plan = afterGrace(made);
  assert.deepEqual(holds(plan), { nowhere: 2 });
  assert.equal(plan.sources[0]?.state, "nowhere");
  heldThenRemoved(made, 2, 0);
  assert.equal(made.plan().sources[0]?.state, "nowhere", "also when the copies are removed");
  made.annotate("shared/one", { to: "team-*" });
  assert.equal(made.settle().sources[0]?.state, "ok");
  assert.equal(copies(made), 2);
});

test("every edit that leaves a source without copies is held, and undone costs none (A4)", () => {
  const edits: Readonly<Record<string, (made: Cluster) => void>> = {
    selector: (made) => made.annotate("shared/one", { "to-selector": "tier=glod" }),
    "annotations removed": (made) =>
      made.edit("shared/one", ({ metadata }) => void (metadata.annotations = {})),
    "made again with a mistake": (made) => {
      made.delete("shared/one");
      made.secret("shared/one", { to: "taem-*" });
    },
    labels: (made) => {
      made.annotate("shared/one", { "to-selector": "tier=gold" });
      for (const team of ["team-0", "team-1"]) made.namespace(team);
    },
  };
  for (const [name, edit] of Object.entries(edits)) {
    const made = cluster(2, 1);
    edit(made);
    assert.deepEqual(holds(afterGrace(made)), { nowhere: 2 }, name);
    const words = { to: "team-*", "to-selector": "", match: "" };
    made.edit("shared/one", ({ metadata }) => {
      metadata.annotations = { "secretcast.io/to": words.to };
    });
    made.settle();
    assert.equal(copies(made), 2, name);
  }
});

test("an edit that removes more than half of the copies, and at least three, is held", () => {
  for (const [to, held, left] of [
    ["team-0,team-1", 3, 5],
    ["!team-0,!team-1", 0, 3],
    // Other places instead: what was there goes all the same.
    ["other-*", 5, 5],
  ] as const) {
    const made = cluster(5, 1);
    for (let index = 0; index < 8; index++) made.namespace(`other-${index}`);
    made.annotate("shared/one", { to });
    const plan = afterGrace(made);
    assert.deepEqual(holds(plan), held > 0 ? { half: held } : {}, to);
    assert.equal(copies(made), left, to);
    assert.equal(plan.sources[0]?.state, "ok");
  }
});

test("another name for the copies is held as an edit that removes all of the old ones", () => {
  const made = cluster(3, 1);
  made.annotate("shared/one", { name: "other" });
  const plan = afterGrace(made);
  assert.deepEqual(holds(plan), { half: 3 });
  assert.equal(copies(made), 6, "the new ones are made meanwhile");
});

test("labels that are lost one namespace at a time are one edit", () => {
  const made = cluster(6, 1);
  made.annotate("shared/one", { "to-selector": "tier=gold" });
  made.settle();
  for (let index = 0; index < 3; index++) {
    made.namespace(`team-${index}`);
    made.end();
    made.now += 60_000;
  }
  assert.equal(copies(made), 3);
  made.namespace("team-3");
  assert.deepEqual(holds(afterGrace(made)), { half: 1 });
  for (const index of [4, 5]) made.namespace(`team-${index}`);
  assert.deepEqual(holds(afterGrace(made)), { nowhere: 3 });
});

test("a removed entry of the list is held, whatever the count (A2)", () => {
  const made = cluster(0, 0);
  made.namespace("vault");
  made.namespace("team-0");
  made.secret("vault/tls", {});
  const other = "secret: vault/other\nto: nobody";
  made.list({ tls: "secret: vault/tls\nto: team-*", other });
  made.settle();
  made.list({ other });
  made.pass();
  assert.deepEqual(holds(afterGrace(made)), { entry: 1 });
  assert.equal(made.plan().rows.find(({ hold }) => hold === "entry")?.entry, "tls");
  heldThenRemoved(made, 1, 0);
});

test("an entry that names another object now holds the copies of the first", () => {
  const made = cluster(0, 0);
  for (const name of ["vault", "team-0"]) made.namespace(name);
  made.secret("vault/tls", {});
  made.secret("vault/next", {});
  made.list({ tls: "secret: vault/tls\nto: team-*" });
  made.settle();
  made.list({ tls: "secret: vault/next\nto: team-*" });
  made.pass();
  made.pass();
  assert.deepEqual(holds(afterGrace(made)), { entry: 1 });
  assert.ok(made.secrets.has("team-0/next"));
});

test("a new process removes no copy of a source that it has never seen before the hold is over (A3, A8)", () => {
  const made = cluster(1, 2);
  made.delete("shared/one");
  made.restart();
  const first = made.plan();
  const waiting = first.rows.find(({ source }) => source.name === "one");
  assert.deepEqual([waiting?.verdict, waiting?.hold], ["delete", "unseen"], "known from the start");
  assert.equal(waiting?.dueAt, made.now + GRACE_MS + HOLD_MS);
  assert.deepEqual(holds(afterGrace(made)), { unseen: 1 });
  // A restart in the middle begins anew.
  made.now += HOLD_MS / 2;
  made.restart();
  assert.deepEqual(holds(afterGrace(made)), { unseen: 1 });
  heldThenRemoved(made, 2, 1);
});

test("a restart does not end the hold of an edit (A8)", () => {
  for (const to of ["taem-*", "team-0"]) {
    const made = cluster(5, 1);
    made.annotate("shared/one", { to });
    afterGrace(made);
    made.now += HOLD_MS / 2;
    made.restart();
    const plan = afterGrace(made);
    assert.deepEqual(holds(plan), to === "team-0" ? { half: 4 } : { nowhere: 5 });
    assert.equal(plan.sources[0]?.state, to === "team-0" ? "ok" : "nowhere");
  }
});

test("the deletion of a source's namespace is held from the first copy, also if it exists again (A5)", () => {
  for (const again of [false, true]) {
    const made = cluster(2, 6);
    made.namespace("elsewhere");
    for (const name of ["one", "two", "three", "four", "five", "six"])
      made.delete(`shared/${name}`);
    made.namespaces.delete("shared");
    if (!again) made.plan();
    else made.namespace("shared");
    assert.deepEqual(holds(afterGrace(made)), { namespace: 12 });
    made.namespace("shared");
    assert.deepEqual(holds(made.plan()), { namespace: 12 });
    heldThenRemoved(made, 12, 0);
  }
});

test("one seen source that is deleted is not held, and a second one within the hold counts", () => {
  const made = cluster(12, 2);
  made.delete("shared/one");
  assert.deepEqual(holds(afterGrace(made)), {});
  assert.equal(copies(made, "one"), 0);
  made.delete("shared/two");
  assert.deepEqual(holds(afterGrace(made)), { limit: 12 });
});

test("more than a fifth of all copies, and at least ten, is beyond the limit; 0 turns it off (A5)", () => {
  for (const [deleteLimit, held] of [
    [100, 12],
    [0, 0],
  ] as const) {
    const made = cluster(9, 6, { deleteLimit });
    for (const name of ["one", "two", "three", "four", "five", "six"])
      made.annotate(`shared/${name}`, { to: "!team-0,!team-1" });
    const plan = afterGrace(made);
    assert.deepEqual(holds(plan), held > 0 ? { limit: held } : {});
    if (held > 0)
      assert.match(
        whyOf(plan.rows.find(({ hold }) => hold === "limit")),
        /12 due; the limit is a fifth of 54 copies/,
      );
  }
});

test("a namespace that no longer accepts a source gets rid of its copy at once, held or not", () => {
  const made = cluster(2, 1);
  made.annotate("shared/one", { to: "taem-*" });
  made.namespace("team-0", { accept: "false" });
  assert.deepEqual(holds(afterGrace(made)), { nowhere: 1 });
  assert.equal(made.secrets.has("team-0/one"), false);
  const other = cluster(2, 1);
  other.delete("shared/one");
  other.restart();
  other.namespace("team-0", { accept: "false" });
  assert.deepEqual(holds(afterGrace(other)), { unseen: 1 });
  assert.equal(other.secrets.has("team-0/one"), false);
});

/** In `namespace`, as whoever may read a copy there can write it. */
function forge(made: Cluster, namespace: string, name: string, uid: string, source: string): void {
  const place = `${namespace}/${name}`;
  made.secret(
    place,
    { source, "source-uid": uid, "placed-at": place, "source-version": "1" },
    { labels: { "app.kubernetes.io/managed-by": "secretcast" } },
  );
}

test("forged copies and pulling records in one namespace hold nothing in another (B5)", () => {
  const made = cluster(3, 1, { deleteLimit: 20 });
  const { uid } = made.get("shared/one").metadata;
  for (let index = 0; index < 101; index++) {
    forge(made, "team-0", `forged-${index}`, uid, "shared/one");
    forge(made, "team-0", `lost-${index}`, "made-up", `shared/never-${index}`);
    const record = { from: "shared/one", "pulled-keys": "x", "source-uid": uid };
    made.secret(`team-0/pull-${index}`, record, { data: { x: "eA==" } });
  }
  made.namespace("team-1", { accept: "false" });
  made.end();
  assert.equal(made.secrets.has("team-1/one"), false);
  const plan = made.plan();
  const elsewhere = plan.rows.filter(
    ({ verdict, place }) => verdict === "held" && place.namespace !== "team-0",
  );
  assert.deepEqual(elsewhere, []);
  assert.ok(
    plan.rows.some(({ hold, place }) => hold === "limit" && refText(place) === "team-0/forged-0"),
  );
  // Nor once they were removed: they count for a hold.
  made.now += HOLD_MS;
  made.settle(40);
  made.namespace("team-2", { accept: "false" });
  made.end();
  assert.equal(made.secrets.has("team-2/one"), false);
});

test("forged copies of sources that never were do not delay a removal in another namespace (B5)", () => {
  const made = cluster(2, 1);
  made.namespace("a-tenant");
  for (let index = 0; index < 3000; index++)
    forge(made, "a-tenant", `forged-${index}`, "made-up", `shared/never-${index}`);
  made.plan();
  made.now += GRACE_MS;
  made.namespace("team-1", { accept: "false" });
  made.plan();
  made.now += GRACE_MS;
  for (let passes = 0; passes < 3; passes++) made.pass();
  assert.equal(made.secrets.has("team-1/one"), false);
});

test("where every namespace may publish, what one of them removes holds nothing of the others (B5)", () => {
  for (const isDeleted of [false, true]) {
    const made = cluster(20, 2, { sourceNamespaces: globs("shared,*") });
    for (const name of ["tenant-1", "tenant-2"]) made.namespace(name);
    for (let index = 0; index < 101; index++)
      made.secret(`tenant-1/of-${index}`, { to: "tenant-2" });
    made.secret("tenant-1/wide", { to: "team-*" });
    made.settle(400);
    for (const name of ["wide", ...Array.from({ length: 101 }, (_, index) => `of-${index}`)])
      if (isDeleted) made.delete(`tenant-1/${name}`);
      else made.annotate(`tenant-1/${name}`, { to: "team-19" });
    made.annotate("shared/two", { to: "team-*,!team-0" });
    made.end();
    assert.equal(made.secrets.has("team-0/two"), false);
    // Nor is the exemption of a deleted source spent.
    made.delete("shared/one");
    const plan = afterGrace(made);
    assert.equal(copies(made, "one"), 0);
    const held = plan.rows.filter(({ verdict }) => verdict === "held");
    assert.equal(held.length, isDeleted ? 101 : 120);
    assert.ok(held.every(({ source }) => source.namespace === "tenant-1"));
  }
});

test("where every namespace may publish, one mistake in the sources of many is held (A5)", () => {
  const mistakes: Readonly<Record<string, (made: Cluster, name: string) => void>> = {
    narrowed: (made, name) => made.annotate(name, { to: "team-*,!team-1,!team-2,!team-3" }),
    deleted: (made, name) => made.delete(name),
  };
  for (const [what, mistake] of Object.entries(mistakes)) {
    const made = cluster(10, 0, { sourceNamespaces: globs("shared,*") });
    const names = Array.from({ length: 20 }, (_, at) => `crew-${at}/of-${at}`);
    for (const [at, name] of names.entries()) {
      made.namespace(`crew-${at}`);
      made.secret(name, { to: "team-*" });
    }
    made.settle(400);
    for (const name of names) mistake(made, name);
    const plan = afterGrace(made);
    assert.deepEqual(holds(plan), { limit: what === "deleted" ? 200 : 60 }, what);
    assert.equal(copies(made), 200, what);
  }
});

test("the copies of one deleted source go, whatever else is beyond the limit, also where none was seen wanted", () => {
  const made = cluster(12, 2, { deleteLimit: 5 });
  const { uid } = made.get("shared/one").metadata;
  made.namespace("elsewhere");
  forge(made, "elsewhere", "one", uid, "shared/one");
  made.delete("shared/one");
  made.annotate("shared/two", { to: "team-*,!team-0,!team-1,!team-2,!team-3,!team-4,!team-5" });
  assert.deepEqual(holds(afterGrace(made)), { limit: 6 });
  assert.equal(copies(made, "one"), 0);
  assert.equal(made.secrets.has("elsewhere/one"), false);
});

test("one deleted source is not held either where every namespace may publish, and a second one is", () => {
  const made = cluster(12, 1, { sourceNamespaces: globs("shared,*") });
  made.namespace("tenant");
  for (const name of ["small", "wide", "last"])
    made.secret(`tenant/${name}`, { to: name === "small" ? "team-0" : "team-*" });
  made.settle(100);
  made.delete("tenant/small");
  made.end();
  made.delete("tenant/wide");
  assert.deepEqual(holds(afterGrace(made)), {});
  assert.equal(copies(made, "wide"), 0);
  made.delete("tenant/last");
  assert.deepEqual(holds(afterGrace(made)), { limit: 12 });
});

test("forged copies, deleted copies and a refusal do not make half of an edit (B5)", () => {
  const made = cluster(6, 1);
  const { uid } = made.get("shared/one").metadata;
  for (let index = 0; index < 50; index++)
    forge(made, "team-0", `forged-${index}`, uid, "shared/one");
  made.delete("team-0/one");
  made.namespace("team-0", { accept: "false" });
  made.annotate("shared/one", { to: "!team-1,!team-2" });
  made.end();
  for (const team of ["team-1", "team-2"]) assert.equal(made.secrets.has(`${team}/one`), false);
});

test("a source that is deleted first does not take the exemption of one with many copies (B5)", () => {
  const made = cluster(12, 2, { deleteLimit: 10 });
  made.secret("shared/small", { to: "team-0" });
  made.settle();
  made.delete("shared/small");
  made.end();
  made.delete("shared/one");
  assert.deepEqual(holds(afterGrace(made)), {});
  assert.equal(copies(made, "one"), 0);
});

test("what was removed of the first deleted source is exempt, and not a second one beside it", () => {
  const made = cluster(5, 3, { deleteLimit: 5 });
  made.delete("shared/one");
  made.end();
  assert.equal(copies(made, "one"), 0);
  made.delete("shared/two");
  made.delete("shared/three");
  assert.deepEqual(holds(afterGrace(made)), { limit: 10 });
});
