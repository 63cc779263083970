// What the source list decides: who is a source by it, what its copies carry, and that what cannot be
// read in it ends nothing.
import { whyOf } from "../../support/planner/why-of.ts";
import assert from "node:assert/strict";
import { test } from "node:test";
import { Cluster, actionsAt, verdictAt } from "../../support/planner/planner-cluster.ts";
import { explain } from "../../../src/cli/explanation/explain.ts";
import type { Plan } from "../../../src/controller/model/verdicts.ts";
import { refText } from "../../../src/text/names.ts";

const EVERYWHERE = 'secret: vault/tls\nto: "*"';
/** A list that has lost the entry: one without any entry would count as deleted. */
const OTHERS = { unrelated: "secret: vault/unrelated\nto: nowhere" };

/** `vault` is no source namespace; `shared` is the one there is. */
function cluster(): Cluster {
  const made = new Cluster().withNamespaces("shared", "vault", "team-a", "team-b");
  made.secret("vault/tls", {}, { data: { crt: "v1" } });
  return made;
}

/** With its two copies, settled. */
function copied(entry = EVERYWHERE): Cluster {
  const made = cluster();
  made.list({ tls: entry });
  made.settle();
  return made;
}

function reasonAt(plan: Plan, place: string): string {
  return whyOf(plan.rows.find((row) => refText(row.place) === place));
}

const isThere = (made: Cluster, place: string): boolean => made.secrets.has(place);

/** Nothing of these places is written, however long it lasts. */
function stays(made: Cluster, reason: RegExp): void {
  const before = made.get("team-a/tls").metadata.resourceVersion;
  for (let round = 0; round < 5; round++) {
    const plan = made.sync();
    assert.equal(verdictAt(plan, "team-a/tls"), "frozen");
    assert.match(reasonAt(plan, "team-a/tls"), reason);
    made.now += 60_000;
  }
  assert.equal(made.get("team-a/tls").metadata.resourceVersion, before);
}

test("a list entry makes a source in any namespace, and its copies name the entry", () => {
  const made = copied();
  const { annotations } = made.get("team-a/tls").metadata;
  assert.equal(annotations?.["secretcast.io/entry"], "tls");
  assert.equal(annotations?.["secretcast.io/source"], "vault/tls");
  const plan = made.sync();
  assert.deepEqual(
    plan.sources.map(({ source, entry, state }) => [refText(source), entry, state]),
    [["vault/tls", "tls", "ok"]],
  );
  assert.equal(plan.counts.current, 3, "shared and both teams");
  assert.equal(plan.list.state, "read");
});

test("the object of an entry is read again by one question, which writes nothing there", () => {
  const made = cluster();
  made.sync();
  made.list({ tls: EVERYWHERE });
  const plan = made.plan();
  assert.deepEqual(
    plan.actions.map(({ kind }) => kind),
    ["confirm"],
  );
  const version = made.get("vault/tls").metadata.resourceVersion;
  made.settle();
  assert.equal(made.get("vault/tls").metadata.resourceVersion, version);
  assert.ok(isThere(made, "team-a/tls"));
});

test("an ending that no entry decides does not depend on a readable list", () => {
  const made = copied();
  made.secret("shared/plain", { to: "team-a" });
  made.settle();
  made.edit("shared/plain", ({ metadata }) => {
    metadata.annotations = {};
  });
  const asked: string[] = [];
  for (let round = 0; round < 30 && isThere(made, "team-a/plain"); round++) {
    for (const action of made.sync().actions)
      if (action.kind === "confirm") asked.push(...action.liveReads.map(({ kind }) => kind));
    made.now += 1000;
  }
  assert.ok(!isThere(made, "team-a/plain"));
  assert.deepEqual([...new Set(asked)], ["Secret"]);
});

test("annotations of ours on the object itself do not count beside an entry, allow included", () => {
  const made = cluster();
  made.secret("shared/tls", { to: "*", allow: "*", nonsense: "x" }, { data: { crt: "v1" } });
  made.secret("team-b/pulled", { from: "shared/tls" }, { data: {} });
  made.list({ tls: "secret: shared/tls\nto: team-a" });
  const plan = made.settle();
  assert.ok(isThere(made, "team-a/tls"));
  assert.ok(!isThere(made, "team-b/tls"));
  assert.equal(verdictAt(plan, "team-b/pulled"), "conflict");
});

test("an entry comes before every source namespace, after the list was asked live", () => {
  const made = cluster();
  made.secret("shared/tls", { to: "team-a" }, { data: { crt: "shared" } });
  made.settle();
  made.list({ tls: EVERYWHERE });
  made.sync();
  const held = made.plan();
  assert.equal(verdictAt(held, "team-a/tls", "vault/tls"), "conflict");
  const asked = held.actions.flatMap((action) =>
    action.kind === "confirm" ? action.liveReads : [],
  );
  assert.deepEqual(asked.map(({ kind }) => kind).toSorted(), ["Namespace", "SourceList"]);
  made.settle();
  assert.equal(made.get("team-a/tls").metadata.annotations?.["secretcast.io/source"], "vault/tls");
});

test("a readable list without the entry ends its copies by on-delete after the grace", () => {
  for (const [words, ends] of [
    ["", "delete"],
    ["\non-delete: keep", "release"],
  ] as const) {
    const made = copied(EVERYWHERE + words);
    made.list(OTHERS);
    const plan = made.plan();
    assert.equal(verdictAt(plan, "team-a/tls"), "wait", "the object is read again first");
    made.sync();
    assert.equal(verdictAt(made.plan(), "team-a/tls"), ends);
    assert.deepEqual(actionsAt(made.plan(), "team-a/tls"), [], "not before the grace");
    const due = made.due();
    assert.deepEqual(actionsAt(due, "team-a/tls"), [ends]);
    made.settle();
    assert.equal(isThere(made, "team-a/tls"), ends === "release");
    assert.equal(isThere(made, "vault/tls"), true);
  }
});

test("a copy without its entry stays while its source is not read", () => {
  const made = copied();
  const targets = new Set(["team-a", "team-b"]);
  const scope = { targets, watched: new Set([...targets, "shared"]) };
  made.settings = { ...made.settings, scope };
  made.list(OTHERS);
  made.reread();
  stays(made, /source vault\/tls is not read \(--namespaces\)/);
  made.secret("shared/tls", { to: "team-a" }, { data: { crt: "shared" } });
  const plan = made.sync();
  assert.equal(verdictAt(plan, "team-a/tls", "vault/tls"), "frozen");
  assert.equal(verdictAt(plan, "team-a/tls", "shared/tls"), "conflict");
  const { places } = explain(
    made.clusterState(),
    made.settings,
    plan,
    { namespace: "vault", name: "tls" },
    { namespace: "team-a" },
  );
  assert.deepEqual(
    places.filter(({ verdict }) => verdict === "frozen").map(({ decided }) => decided.change),
    [
      "start the controller with vault among --namespaces, or, where nobody needs the copy: kubectl delete secret -n team-a tls",
    ],
  );
  // Once it is read, the list says what it is.
  made.settings = {
    ...made.settings,
    scope: { ...scope, watched: new Set([...scope.watched, "vault"]) },
  };
  made.reread();
  made.settle();
  assert.equal(made.get("team-a/tls").metadata.annotations?.["secretcast.io/source"], "shared/tls");
});

test("before copies end because the list lacks their entry, the list is asked live", () => {
  const made = copied();
  made.list(OTHERS);
  made.sync();
  made.plan();
  made.now += 10_000;
  const asked = made
    .plan()
    .actions.flatMap((action) => (action.kind === "confirm" ? action.liveReads : []));
  assert.ok(
    asked.some(({ kind, ref }) => kind === "SourceList" && ref.name === "secretcast-sources"),
  );
});

for (const state of ["absent", "unread", "off"] as const) {
  test(`only the copies of entries stay unchanged while the list is ${state}`, () => {
    const made = copied();
    made.secret("shared/other", { to: "team-*" }, { data: { a: "1" } });
    made.settle();
    made.unlist(state);
    made.secret("vault/tls", {}, { data: { crt: "v2" } });
    made.secret("shared/other", { to: "team-*" }, { data: { a: "2" } });
    made.settle();
    stays(made, new RegExp(`the source list is ${state}`));
    assert.equal(made.get("team-a/other").data?.["a"], made.get("shared/other").data?.["a"]);
    made.restart();
    made.reread();
    stays(made, new RegExp(`the source list is ${state}`));
    made.list({ tls: EVERYWHERE });
    made.settle();
    assert.equal(made.get("team-a/tls").data?.["crt"], made.get("vault/tls").data?.["crt"]);
  });
}

test("a refused entry freezes its copies, whatever is wrong with it, also after a restart", () => {
  const faults: readonly (readonly [entry: string, reason: RegExp])[] = [
    ["hello", /^invalid entry tls: /],
    [`${EVERYWHERE}\nto-selecter: x`, /"to-selecter"/],
    ["secret: vault/tls\nto: Team", /entry tls: to: "Team"/],
    ["secret: vault/tls\nto: '*'\nkeys: none", /entry tls: keys: .*none/],
    ["secret: vault\nto: '*'", /entry tls: secret: "vault"/],
  ];
  for (const [entry, reason] of faults) {
    const made = copied();
    made.list({ tls: entry });
    made.settle();
    stays(made, reason);
    made.restart();
    made.reread();
    stays(made, reason);
  }
});

test("entries that name one object are refused, and the copies of each freeze", () => {
  const made = copied();
  made.list({ tls: EVERYWHERE, again: "secret: vault/tls\nto: team-a" });
  const plan = made.settle();
  assert.equal(verdictAt(plan, "team-a/tls"), "frozen");
  assert.deepEqual(
    plan.sources.map(({ state }) => state),
    ["refused"],
  );
  assert.deepEqual(
    plan.list.refused.map(({ key }) => key),
    ["tls"],
    "the other is told as the source's own refusal",
  );
  stays(made, /again, tls name it/);
});

test("an entry for a copy or a pulling Secret is refused without effect on it", () => {
  const made = cluster();
  made.secret("shared/own", { to: "team-*", allow: "*" }, { data: { a: "1" } });
  made.secret("team-b/pulled", { from: "shared/own" }, { data: {} });
  made.settle();
  made.list({
    copy: "secret: team-a/own\nto: '*'\nname: stolen",
    pull: "secret: team-b/pulled\nto: '*'\nname: stolen",
  });
  const plan = made.settle();
  assert.deepEqual(
    plan.list.refused.map(({ key, reason }) => [key, /never a source|is no source/.test(reason)]),
    [
      ["copy", true],
      ["pull", true],
    ],
  );
  assert.ok(!isThere(made, "team-b/stolen"));
  assert.ok(!isThere(made, "shared/stolen"));
  assert.equal(plan.rows.length, 0);
});

test("an entry for a missing object is reported and takes effect with the object", () => {
  const made = cluster();
  made.list({ later: "secret: vault/later\nto: team-a" });
  const plan = made.settle();
  assert.deepEqual(plan.list.absent, [
    { key: "later", object: { namespace: "vault", name: "later" } },
  ]);
  assert.deepEqual([plan.list.refused, plan.sources], [[], []]);
  made.secret("vault/later", {}, { data: { a: "1" } });
  made.settle();
  assert.ok(isThere(made, "team-a/later"));
});

test("the object's own annotations take over from a removed entry in one update", () => {
  const made = new Cluster().withNamespaces("shared", "team-a", "team-b");
  made.secret("shared/tls", { to: "team-a", keys: "b" }, { data: { a: "1", b: "2" } });
  made.list({ tls: "secret: shared/tls\nto: team-*" });
  made.settle();
  const { uid } = made.get("team-a/tls").metadata;
  made.list(OTHERS);
  made.settle();
  const after = made.get("team-a/tls");
  assert.equal(after.metadata.uid, uid, "it was never deleted");
  assert.deepEqual(Object.keys(after.data ?? {}), ["b"]);
  assert.equal(after.metadata.annotations?.["secretcast.io/entry"], undefined);
  assert.ok(!isThere(made, "team-b/tls"), "they expected no place there");
});

test("where the list lacks the entry, another entry takes the place by one update", () => {
  for (const other of [
    "secret: vault/tls\nto: team-a",
    "secret: vault/other\nname: tls\nto: team-a",
  ]) {
    const made = copied();
    made.secret("vault/other", {}, { data: { crt: "other" } });
    const { uid } = made.get("team-a/tls").metadata;
    made.list({ other });
    made.settle();
    const { metadata } = made.get("team-a/tls");
    assert.equal(metadata.uid, uid, "it was never deleted");
    assert.equal(metadata.annotations?.["secretcast.io/entry"], "other");
    assert.ok(!isThere(made, "team-b/tls"));
  }
});

test("an entry that names another object ends the copies of the first", () => {
  const made = copied();
  made.secret("vault/next", {}, { data: { crt: "n" } });
  made.list({ tls: "secret: vault/next\nto: team-a" });
  made.settle();
  assert.ok(isThere(made, "team-a/next"));
  assert.ok(!isThere(made, "team-a/tls"));
});

test("copies of an entry follow what it says: keys, name, places, and paused", () => {
  const made = copied("secret: vault/tls\nto: team-*");
  made.list({ tls: "secret: vault/tls\nto: team-a" });
  made.settle();
  assert.deepEqual([isThere(made, "team-a/tls"), isThere(made, "team-b/tls")], [true, false]);
  made.list({ tls: "secret: vault/tls\nto: team-a\npaused: true" });
  made.secret("vault/tls", {}, { data: { crt: "v2", key: "k" } });
  const plan = made.settle();
  assert.equal(verdictAt(plan, "team-a/tls"), "paused");
  made.list({ tls: "secret: vault/tls\nto: team-a\nkeys: key\nname: renamed" });
  made.settle();
  assert.deepEqual(Object.keys(made.get("team-a/renamed").data ?? {}), ["key"]);
  assert.ok(!isThere(made, "team-a/tls"));
});

test("a Secret that pulls by an entry keeps its content while the list is missing", () => {
  const made = cluster();
  made.secret("team-a/pulled", { from: "vault/tls" }, { data: {} });
  made.list({ tls: "secret: vault/tls\nallow: team-a" });
  made.settle();
  const filled = made.get("team-a/pulled");
  assert.deepEqual(Object.keys(filled.data ?? {}), ["crt"]);
  assert.equal(filled.metadata.annotations?.["secretcast.io/entry"], "tls");
  made.unlist();
  for (let round = 0; round < 3; round++) {
    assert.equal(verdictAt(made.settle(), "team-a/pulled"), "frozen");
    made.now += 60_000;
  }
  made.restart();
  made.reread();
  assert.equal(verdictAt(made.settle(), "team-a/pulled"), "frozen");
  assert.deepEqual(Object.keys(made.get("team-a/pulled").data ?? {}), ["crt"]);
  made.list(OTHERS);
  made.settle();
  assert.deepEqual(Object.keys(made.get("team-a/pulled").data ?? {}), []);
  assert.equal(made.get("team-a/pulled").metadata.annotations?.["secretcast.io/entry"], undefined);
});

test("the copies of a missing listed object are removed as those of any source", () => {
  const made = copied();
  made.delete("vault/tls");
  made.settle();
  assert.ok(!isThere(made, "team-a/tls"));
});

test("a type that is no source's refuses the entry, in the words of the entry", () => {
  const made = cluster();
  made.secret("vault/token", {}, { type: "kubernetes.io/service-account-token" });
  made.list({ token: "secret: vault/token\nto: '*'" });
  const [report] = made.settle().sources;
  assert.equal(report?.state, "refused");
  assert.equal(report?.problems[0]?.annotation, "entry token: type");
});

test("explain names the entry and gives commands for the list only", () => {
  const made = copied("secret: vault/tls\nto: team-a\npaused: true");
  const plan = made.settle();
  const said = explain(made.clusterState(), made.settings, plan, {
    namespace: "vault",
    name: "tls",
  });
  assert.equal(said.is, "source");
  assert.match(JSON.stringify(said.answers), /entry tls/);
  const changes = [said, ...said.places].flatMap(({ answers }) =>
    answers.flatMap(({ change }) => change ?? []),
  );
  assert.ok(changes.includes("take paused off, in entry tls of the source list"), changes.join());
  assert.ok(!changes.some((change) => /secret -n vault tls/.test(change)), changes.join("\n"));
});

/** As a version before the mark `list` left them. */
function withoutList(made: Cluster): void {
  for (const place of ["shared/tls", "team-a/tls", "team-b/tls"])
    made.annotate(place, { list: undefined });
}

test("a copy that an entry made records the list that contains the entry", () => {
  const made = copied();
  const { annotations } = made.get("team-a/tls").metadata;
  assert.equal(annotations["secretcast.io/list"], "secretcast/secretcast-sources");
  made.secret("shared/plain", { to: "team-a" });
  made.settle();
  assert.equal(made.get("team-a/plain").metadata.annotations["secretcast.io/list"], undefined);
});

test("copies of an older version get the mark list by one update each", () => {
  const made = copied();
  const before = structuredClone(made.get("team-a/tls"));
  withoutList(made);
  made.restart();
  made.reread();
  const plan = made.sync();
  assert.deepEqual(
    plan.actions.map(({ kind, cause }) => `${kind} ${cause}`),
    ["update changed", "update changed", "update changed"],
  );
  const after = structuredClone(made.get("team-a/tls"));
  before.metadata.resourceVersion = after.metadata.resourceVersion = "";
  assert.deepEqual(after, before);
  assert.deepEqual(made.settle().actions, []);
});

test("a second installation's list freezes the copies of the first one's list", () => {
  for (const other of [
    {},
    { other: 'secret: vault/other\nto: "*"' },
    // The same key for another Secret, and another key for the same Secret.
    { tls: 'secret: vault/other\nto: "*"' },
    { mine: EVERYWHERE },
  ]) {
    const made = copied();
    for (const place of ["team-a/tls", "team-b/tls", "shared/tls"])
      made.annotate(place, { list: "first/secretcast-sources" });
    made.restart();
    made.list(other);
    made.now += 600_000;
    stays(made, /another installation|first\/secretcast-sources/);
  }
});

test("a copy without the mark list belongs to a list with its key", () => {
  const made = copied();
  withoutList(made);
  made.restart();
  made.list({ other: 'secret: vault/other\nto: "*"' });
  stays(made, /has no such entry: another installation may keep it$/);
});

test("a list without any entry counts as if it were deleted", () => {
  const made = copied();
  made.list({});
  stays(made, /has no entry at all/);
  made.list({ tls: EVERYWHERE });
  assert.equal(made.settle().counts.current, 3);
});
