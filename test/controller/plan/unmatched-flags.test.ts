// A flag that matches no namespace, and a source that does, are no silence.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Cluster, globs } from "../../support/planner/planner-cluster.ts";

function cluster(changes: ConstructorParameters<typeof Cluster>[0]): Cluster {
  return new Cluster(changes).withNamespaces("shared", "team-a", "team-b");
}

const flagsOf = (made: Cluster): readonly string[] => made.plan().ignored.flags;

test("each positive entry of a flag without a namespace is named", () => {
  const made = cluster({
    sourceNamespaces: globs("platfrom,shared,team-*,qa-?,!legacy"),
    excludeNamespaces: globs("kube-*,team-b"),
  });
  assert.deepEqual(flagsOf(made), [
    "--source-namespaces platfrom",
    "--source-namespaces qa-?",
    "--exclude-namespaces kube-*",
  ]);
  assert.equal(made.plan().ignored.counts.flag, 3);
});

test("an entry is over once its namespace exists, and begins again without one", () => {
  const made = cluster({ sourceNamespaces: globs("shared,qa-*") });
  assert.deepEqual(flagsOf(made), ["--source-namespaces qa-*"]);
  made.namespace("qa-1");
  assert.deepEqual(flagsOf(made), []);
  made.namespaces.delete("qa-1");
  assert.deepEqual(flagsOf(made), ["--source-namespaces qa-*"]);
});

test("a missing listed namespace is named, and an unreadable one has its own line", () => {
  const names = new Set(["team-a", "team-x", "team-y"]);
  const made = cluster({ scope: { targets: names, watched: new Set([...names, "shared"]) } });
  const clusterState = made.clusterState.bind(made);
  made.clusterState = () => ({ ...clusterState(), isUnreadable: (name) => name === "team-y" });
  assert.deepEqual(flagsOf(made), ["--namespaces team-x"]);
});

test("a list of guards alone, and one that lets everybody publish, match", () => {
  assert.deepEqual(flagsOf(cluster({ sourceNamespaces: globs("!legacy") })), []);
  assert.deepEqual(flagsOf(cluster({ sourceNamespaces: globs("*") })), []);
});

test("a source that no namespace takes is noted until one does", () => {
  const made = cluster({});
  made.secret("shared/typo", { to: "taem-*" });
  made.secret("shared/good", { to: "team-*" });
  made.secret("shared/offer", { allow: "nobody" });
  made.secret("shared/wrong", { to: "taem-*", too: "x" });
  const nowhere = (): readonly string[] =>
    made.settle().sources.flatMap(({ untargeted: is, source }) => (is ? [source.name] : []));
  assert.deepEqual(nowhere(), ["typo"]);
  const typo = made.plan().sources.find(({ source }) => source.name === "typo");
  assert.match(typo?.notes.join() ?? "", /no namespace takes a copy/);
  made.namespace("taem-c");
  assert.deepEqual(nowhere(), []);
});

test("a source that loses its last copies to a typo is noted at once", () => {
  const made = cluster({});
  made.secret("shared/one", { to: "team-*" });
  made.settle();
  made.annotate("shared/one", { to: "taem-*" });
  const plan = made.plan();
  assert.equal(plan.counts.delete, 2);
  assert.equal(plan.sources[0]?.untargeted, true);
});
