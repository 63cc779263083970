import assert from "node:assert/strict";
import { test } from "node:test";
import { explain, type Explanation } from "../../../src/core/explain/explain.ts";
import { type Texts } from "../../support/planner/raw-cluster.ts";
import { Cluster } from "../../support/planner/planner-cluster.ts";

function cluster(annotations: Texts): Cluster {
  const made = new Cluster();
  made.namespace("shared");
  made.namespace("team-a", {}, { tier: "gold" });
  made.namespace("team-b", { accept: "false" }, { tier: "tin" });
  made.namespace("kube-system");
  made.secret("shared/one", annotations);
  return made;
}

function ask(made: Cluster, name: string, namespace?: string): Explanation {
  const [inNamespace = "", own = ""] = name.split("/");
  const subject = { namespace: inNamespace, name: own };
  return explain(made.world(), made.settings, made.plan(), subject, namespace);
}

function firstNo(explanation: Explanation, namespace?: string): string | undefined {
  const steps = namespace
    ? explanation.places.find(({ place }) => place.namespace === namespace)?.steps
    : explanation.steps;
  return steps?.find(({ holds }) => !holds)?.answer;
}

test("a copied source: every rule holds and the verdict is the plan's", () => {
  const made = cluster({ to: "team-*", "to-selector": "tier" });
  made.settle();
  const [place] = ask(made, "shared/one", "team-a").places;
  assert.equal(place?.verdict, "current");
  assert.deepEqual(
    place?.steps.map(({ holds }) => holds),
    [true, true, true, true, true, true],
  );
});

test("every namespace is answered, and the first rule that says no is told", () => {
  const made = cluster({ to: "team-*,!team-x" });
  const explanation = ask(made, "shared/one");
  assert.deepEqual(
    explanation.places.map(({ place, verdict }) => [place.namespace, verdict]),
    [
      ["kube-system", "skip"],
      ["shared", "skip"],
      ["team-a", "create"],
      ["team-b", "skip"],
    ],
  );
  assert.match(firstNo(explanation, "kube-system") ?? "", /system namespace/);
  assert.match(firstNo(explanation, "shared") ?? "", /shared/);
  assert.match(firstNo(explanation, "team-b") ?? "", /accept on team-b: false/);
});

test("a refused source names the annotation and what would be right", () => {
  const explanation = ask(cluster({ to: "Team_A" }), "shared/one");
  assert.match(firstNo(explanation) ?? "", /secretcast\.io\/to: "Team_A": want a namespace glob/);
  assert.ok(explanation.places.every(({ verdict }) => verdict === "skip"));
});

test("what is no source says why: absent, out of scope, a copy, pulling", () => {
  const made = cluster({ to: "team-a" });
  made.settle();
  made.secret("team-b/mine", { to: "*" });
  made.secret("team-b/pull", { from: "shared/one" });
  assert.equal(ask(made, "shared/none").is, "absent");
  assert.match(firstNo(ask(made, "shared/none")) ?? "", /no Secret shared\/none/);
  assert.equal(ask(made, "team-b/mine").is, "other Secret");
  assert.match(ask(made, "team-b/mine").steps[1]?.rule ?? "", /--source-namespaces shared/);
  assert.match(firstNo(ask(made, "team-a/one")) ?? "", /a copy of shared\/one/);
  assert.equal(ask(made, "team-b/pull").places[0]?.verdict, "conflict");
});

test("a namespace that is not there or is being deleted is told", () => {
  const made = cluster({ to: "*" });
  made.namespace("going").status.phase = "Terminating";
  assert.match(
    firstNo(ask(made, "shared/one", "nowhere"), "nowhere") ?? "",
    /no namespace nowhere/,
  );
  assert.match(firstNo(ask(made, "shared/one", "going"), "going") ?? "", /going is being deleted/);
});

test("a namespace that is not listed is told as that: it is not read", () => {
  const made = cluster({ to: "*" });
  const targets = new Set(["team-a"]);
  made.settings = { ...made.settings, scope: { targets, watched: new Set(["team-a", "shared"]) } };
  made.namespaces.delete("team-b");
  assert.match(
    firstNo(ask(made, "shared/one", "team-b"), "team-b") ?? "",
    /team-b is not listed \(--namespaces\)/,
  );
  assert.equal(ask(made, "shared/one", "team-a").places[0]?.verdict, "create");
});

test("a Secret whose annotations have no effect is told which, and what to do", () => {
  const made = cluster({ to: "*" });
  made.secret("team-a/half", { to: "*" });
  made.secret("team-a/plain");
  assert.match(firstNo(ask(made, "team-a/half")) ?? "", /team-a/);
  const told = ask(made, "team-a/half")
    .steps.map(({ answer }) => answer)
    .join();
  assert.match(told, /secretcast\.io\/to has no effect here: .*put the Secret into one/);
  assert.match(
    ask(made, "team-a/plain")
      .steps.map(({ answer }) => answer)
      .join(),
    /neither/,
  );
});
