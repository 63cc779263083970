// Two installations with sources of their own, in one cluster: what belongs to the other one is counted
// apart, and reported nowhere.
import assert from "node:assert/strict";
import { test } from "node:test";
import { isAllCurrent } from "../../../src/controller/sync/sync-result.ts";
import { explain } from "../../../src/cli/explanation/explain.ts";
import { refText } from "../../../src/text/names.ts";
import { Cluster, globs } from "../../support/planner/planner-cluster.ts";

/** A copy of the other installation's source, and that source with its annotations. */
function cluster(otherSourceNamespaces = globs("apps-*")): Cluster {
  const made = new Cluster({ sourceNamespaces: globs("apps-sc") }).withNamespaces(
    "shared",
    "apps-sc",
    "team-a",
    "team-b",
  );
  made.secret("apps-sc/appsec", { to: "team-*" });
  made.settle();
  made.settings = { ...made.settings, sourceNamespaces: globs("shared"), otherSourceNamespaces };
  made.restart();
  made.reread();
  made.secret("shared/own", { to: "team-a" });
  return made;
}

test("copies of another installation's sources are counted apart, and all is current", () => {
  const made = cluster();
  const before = made.get("team-a/appsec").metadata.resourceVersion;
  const plan = made.settle();
  assert.equal(plan.kinds[0]?.others, 2);
  assert.equal(plan.states.frozen, 0);
  assert.equal(plan.states.current, 1);
  assert.equal(plan.rows.length, 0);
  assert.ok(isAllCurrent(plan));
  assert.equal(plan.ignored.counts.namespace, 0);
  assert.deepEqual(plan.ignored.sample, []);
  assert.equal(made.get("team-a/appsec").metadata.resourceVersion, before);
});

test("without the flag the same copies are frozen, and the annotations ignored", () => {
  const made = cluster(globs("others-*"));
  const plan = made.settle();
  assert.equal(plan.kinds[0]?.others, 0);
  assert.equal(plan.states.frozen, 2);
  assert.ok(!isAllCurrent(plan));
  assert.equal(plan.ignored.counts.namespace, 1);
});

test("an own source of a namespace that is named as another installation's stays its own", () => {
  const made = cluster(globs("*"));
  const plan = made.settle();
  assert.equal(plan.states.current, 1);
  assert.equal(plan.kinds[0]?.others, 2);
});

test("a pulling Secret that names another installation's source is no conflict here", () => {
  const made = cluster();
  made.secret("team-b/pulled", { from: "apps-sc/offer" }, { data: {} });
  const plan = made.settle();
  assert.equal(plan.states.conflict, 0);
  assert.equal(plan.kinds[0]?.others, 3);
});

test("explain says to which installation a copy belongs", () => {
  const made = cluster();
  const plan = made.settle();
  const explained = explain(made.clusterState(), made.settings, plan, {
    namespace: "team-a",
    name: "appsec",
  });
  const place = explained.places.find(({ source }) => refText(source) === "apps-sc/appsec");
  assert.equal(place?.verdict, "frozen");
  assert.match(place?.reason ?? "", /another installation \(--other-source-namespaces\)/);
});

test("explain does not call a pulling Secret of another installation's source current", () => {
  const made = cluster();
  made.secret("team-b/pulled", { from: "apps-sc/offer" }, { data: {} });
  const subject = { namespace: "team-b", name: "pulled" };
  const { places } = explain(made.clusterState(), made.settings, made.settle(), subject);
  assert.deepEqual(
    places.map(({ verdict, reason }) => `${verdict}: ${reason}`),
    ["frozen: its source belongs to another installation (--other-source-namespaces)"],
  );
});

test("what an entry of another installation's list made is that installation's, wherever its source is", () => {
  const made = new Cluster().withNamespaces("shared", "vault", "team-a", "team-b");
  made.secret("vault/tls", {}, { data: { crt: "v1" } });
  made.secret("vault/offer", {}, { data: { key: "v1" } });
  made.secret("team-b/pulled", { from: "vault/offer" }, { data: {} });
  made.list({
    tls: 'secret: vault/tls\nto: "team-a"',
    offer: 'secret: vault/offer\nallow: "*"',
  });
  made.settle();
  for (const [flag, others, frozen] of [
    ["apps", 2, 0],
    [undefined, 0, 2],
  ] as const) {
    made.settings = {
      ...made.settings,
      sourceList: "own-list",
      otherSourceNamespaces: flag === undefined ? undefined : globs(flag),
    };
    made.list({ own: 'secret: vault/own\nto: "*"' });
    made.restart();
    const plan = made.settle();
    assert.equal(plan.kinds[0]?.others, others, flag);
    assert.equal(plan.states.frozen, frozen, flag);
  }
  assert.equal(made.get("team-a/tls").data["crt"], btoa("v1"));
});

test("the forged mark of another list hides no copy of an own source", () => {
  const made = new Cluster().withNamespaces("shared", "vault", "team-a");
  made.settings = { ...made.settings, otherSourceNamespaces: globs("apps") };
  made.secret("shared/own", { to: "team-a" });
  made.secret("vault/tls", {}, { data: { crt: "v1" } });
  made.list({ tls: 'secret: vault/tls\nto: "team-a"' });
  made.settle();
  for (const place of ["team-a/own", "team-a/tls"])
    made.annotate(place, { entry: "theirs", list: "elsewhere/list" });
  const plan = made.sync();
  assert.equal(plan.kinds[0]?.others, 0);
  assert.equal(plan.states.frozen, 2);
  assert.ok(!isAllCurrent(plan));
});
