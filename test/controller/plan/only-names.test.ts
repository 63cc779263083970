// --only-names: only objects of these names take part. What the flag leaves out freezes, and what is refused
// names the value to add.
import assert from "node:assert/strict";
import { test } from "node:test";
import { explain } from "../../../src/cli/explanation/explain.ts";
import type { PlannerSettings } from "../../../src/controller/model/cluster.ts";
import { noSource, type Plan } from "../../../src/controller/model/verdicts.ts";
import { reasonText } from "../../../src/controller/model/reasons.ts";
import { refText } from "../../../src/text/names.ts";
import { whyOf } from "../../support/planner/why-of.ts";
import { problemText } from "../../../src/controller/annotations/rules.ts";
import { actionsAt, Cluster, verdictAt } from "../../support/planner/planner-cluster.ts";

const named = (...names: readonly string[]): Partial<PlannerSettings> => ({
  onlyNames: new Set(names),
});

function cluster(changes: Partial<PlannerSettings>): Cluster {
  return new Cluster(changes).withNamespaces("shared", "team-a", "team-b");
}

/** The same cluster under other settings, after a restart of the controller. */
function restarted(made: Cluster, changes: Partial<PlannerSettings>): void {
  made.settings = { ...made.settings, ...changes };
  made.restart();
  made.unlist();
  made.reread();
}

const reasonAt = (plan: Plan, at: string): string =>
  whyOf(plan.rows.find(({ place }) => refText(place) === at));

function writesNothing(made: Cluster): Plan {
  const before = made.writes.length;
  const plan = made.settle();
  assert.deepEqual(made.writes.slice(before), []);
  return plan;
}

test("a source with copies of an unlisted name is refused with the value to add", () => {
  const made = cluster(named("registry", "ca"));
  made.secret("shared/registry", { to: "team-*", name: "pull-secret" });
  const plan = writesNothing(made);
  const [source] = plan.sources;
  assert.equal(source?.state, "refused");
  const problem = source.problems[0];
  assert.equal(
    problem && problemText(problem),
    'invalid secretcast.io/name: "pull-secret": expected a name of --only-names; --only-names registry,ca,pull-secret lets it take part',
  );
  restarted(made, named("registry", "ca", "pull-secret"));
  assert.equal(made.settle().states.current, 2);
});

test("the value to add is left out where it would be too long", () => {
  const long = Array.from({ length: 5 }, (_, at) => `${"n".repeat(200)}${at}`);
  const full = Array.from({ length: 50 }, (_, at) => `n${at}`);
  for (const [names, expected] of [
    [long, /; to add pull-secret to its names lets it take part$/],
    [full, /; pull-secret is not one of its names, and it has 50, which is the most$/],
  ] as const) {
    const made = cluster(named("registry", ...names.slice(1)));
    made.secret("shared/registry", { to: "*", name: "pull-secret" });
    const problem = made.plan().sources[0]?.problems[0];
    assert.match(problem ? problemText(problem) : "", expected);
  }
});

test("objects of other names are no sources, no copies and in nobody's way", () => {
  const made = cluster(named("registry"));
  made.secret("shared/registry", { to: "team-*" });
  made.secret("shared/other", { to: "team-*" });
  const plan = made.settle();
  assert.deepEqual(
    plan.sources.map(({ source }) => source.name),
    ["registry"],
  );
  assert.equal(plan.states.current, 2);
  assert.equal(made.secrets.has("team-a/other"), false);
});

test("a list entry for an unlisted name is refused with the value to add", () => {
  const made = cluster({});
  made.secret("shared/wildcard");
  const entries = {
    tls: 'secret: shared/wildcard\nto: "team-*"\nname: registry',
    good: 'secret: shared/registry\nto: "team-b"\nname: ca',
  };
  made.list(entries);
  made.reread();
  made.settle();
  assert.ok(made.secrets.has("team-a/registry"));
  restarted(made, named("registry"));
  made.list(entries);
  const plan = writesNothing(made);
  const text =
    'invalid entry tls: secret: "shared/wildcard": expected a name of --only-names; --only-names registry,wildcard lets it take part';
  assert.deepEqual(
    plan.list.refused.filter(({ key }) => key === "tls"),
    [{ key: "tls", reason: text }],
  );
  assert.equal(verdictAt(plan, "team-a/registry"), "frozen");
  assert.equal(reasonAt(plan, "team-a/registry"), text);
});

test("an entry that gives its copies another name is refused with the value to add", () => {
  const made = cluster(named("registry"));
  made.secret("shared/registry");
  made.list({ good: 'secret: shared/registry\nto: "team-b"\nname: ca' });
  made.reread();
  const [source] = writesNothing(made).sources;
  assert.equal(source?.state, "refused");
  const problem = source.problems[0];
  assert.match(
    problem ? problemText(problem) : "",
    /^invalid entry good: name: "ca": .*registry,ca /,
  );
});

test("a copy whose source has another name freezes, however its source was made", () => {
  const made = cluster({});
  made.secret("shared/registry-source", { to: "team-*", name: "registry" });
  made.settle();
  restarted(made, named("registry"));
  made.delete("shared/registry-source");
  made.now += 3_600_000;
  const plan = writesNothing(made);
  assert.equal(plan.states.frozen, 2);
  assert.equal(
    reasonAt(plan, "team-a/registry"),
    "source shared/registry-source is not read (--only-names): --only-names registry,registry-source lets it take part",
  );
});

test("a pulling Secret with an unlisted name has one reason and keeps its content", () => {
  const made = cluster({ ...named("registry"), deleteGraceMs: 0 });
  made.secret("team-a/registry", { from: "shared/other" }, { data: {} });
  const one = writesNothing(made);
  const from = { namespace: "shared", name: "other" };
  assert.equal(verdictAt(one, "team-a/registry"), "conflict");
  assert.equal(reasonAt(one, "team-a/registry"), reasonText(noSource(from)));
  restarted(made, { onlyNames: undefined });
  made.secret("shared/other", { allow: "team-a" });
  made.settle();
  const filled = made.get("team-a/registry").data;
  assert.ok(Object.keys(filled).length > 0);
  restarted(made, named("registry"));
  made.delete("shared/other");
  assert.equal(verdictAt(writesNothing(made), "team-a/registry"), "frozen");
  assert.deepEqual(made.get("team-a/registry").data, filled);
});

test("a name taken off the list deletes nothing and returns without a write", () => {
  const quick = { deleteGraceMs: 0 };
  const made = cluster({ ...quick, ...named("registry", "ca") });
  for (const name of ["registry", "ca"]) made.secret(`shared/${name}`, { to: "team-*" });
  assert.equal(made.settle().states.current, 4);
  restarted(made, named("registry"));
  made.delete("shared/ca");
  made.now += 3_600_000;
  const plan = writesNothing(made);
  assert.equal(plan.states.current, 2);
  assert.equal(plan.rows.length, 0);
  assert.ok(made.secrets.has("team-a/ca"));
});

test("all names, then some, then all again writes nothing", () => {
  const made = cluster({ deleteGraceMs: 0 });
  made.secret("shared/registry", { to: "team-*" });
  made.secret("shared/ca", { to: "team-*", name: "bundle" });
  made.secret("shared/offer", { allow: "*" });
  made.secret("team-a/pulled", { from: "shared/offer" }, { data: {} });
  made.list({ extra: 'secret: shared/extra\nto: "*"\nname: registry-2' });
  made.secret("shared/extra");
  made.reread();
  made.settle();
  for (const names of [["registry"], ["pulled", "registry-2"], ["offer", "ca"]]) {
    restarted(made, named(...names));
    writesNothing(made);
    restarted(made, { onlyNames: undefined });
    writesNothing(made);
  }
});

test("places of a name that cannot be read freeze, and all others go on", () => {
  const made = cluster(named("registry", "ca", "tls"));
  made.secret("shared/registry", { to: "team-a" });
  made.secret("shared/tls", { to: "team-a", name: "ca" });
  made.secret("team-b/ca", { from: "shared/registry" }, { data: {} });
  made.settle();
  made.deniedNames = new Set(["ca"]);
  made.secret("shared/registry", { to: "team-*" }, { data: { k: "new" } });
  made.secret("shared/tls", { to: "team-*", name: "ca" }, { data: { k: "new" } });
  const plan = made.settle();
  assert.equal(verdictAt(plan, "team-a/ca"), "frozen");
  assert.equal(verdictAt(plan, "team-b/ca"), "frozen");
  assert.equal(
    reasonAt(plan, "team-a/ca"),
    "objects named ca cannot be read: the API server answers 403",
  );
  assert.deepEqual(made.get("team-b/registry").data, made.get("shared/registry").data);
  assert.notDeepEqual(made.get("team-a/ca").data, made.get("shared/tls").data);
  made.deniedNames = new Set();
  made.settle();
  assert.deepEqual(made.get("team-a/ca").data, made.get("shared/tls").data);
});

test("a place of an unreadable name freezes, and its source's other copies do not", () => {
  const made = cluster(named("registry", "ca"));
  made.secret("shared/registry", { to: "team-*" });
  made.settle();
  made.deniedNames = new Set(["registry"]);
  made.delete("shared/registry");
  made.now += 3_600_000;
  const plan = writesNothing(made);
  assert.equal(plan.states.frozen, 2);
});

test("nothing is created at a place of a name that cannot be read", () => {
  const made = cluster(named("registry", "ca"));
  made.deniedNames = new Set(["ca"]);
  made.secret("shared/registry", { to: "team-*", name: "ca" });
  const plan = writesNothing(made);
  assert.equal(plan.states.frozen, 2);
  assert.deepEqual(actionsAt(plan, "team-a/ca"), []);
});

test("explain says in one line which value lets an object or a source take part", () => {
  const made = cluster(named("registry"));
  made.secret("shared/other", { to: "team-*" });
  made.secret("team-a/registry", { from: "shared/offer" }, { data: {} });
  const line = (name: string): string =>
    `objects named ${name} are not read (--only-names): --only-names registry,${name} lets it take part`;
  const plan = made.plan();
  const other = explain(made.clusterState(), made.settings, plan, {
    namespace: "shared",
    name: "other",
  });
  assert.equal(other.is, "unknown");
  assert.equal(other.answers.filter(({ answer }) => answer === line("other")).length, 1);
  const pulling = explain(made.clusterState(), made.settings, plan, {
    namespace: "team-a",
    name: "registry",
  });
  const answers = pulling.places.flatMap((place) => place.answers);
  assert.equal(answers.filter(({ answer }) => answer === line("offer")).length, 1);
});
