// Several sources that want one place: who has it, who is reported, and how it changes hands.
import assert from "node:assert/strict";
import { test } from "node:test";
import { cluster, reasonAt } from "../../support/planner/publishers.ts";
import {
  actionsAt,
  type Cluster,
  globs,
  verdictAt,
} from "../../support/planner/planner-cluster.ts";

function owner(made: Cluster, place: string): string | undefined {
  return made.secrets.get(place)?.metadata.annotations["secretcast.io/source"];
}

test("of two sources the one whose namespace comes first wins, and the other is reported", () => {
  const made = cluster();
  made.secret("other/cred", { to: "team-*" }, { at: 1 });
  made.secret("shared/cred", { to: "team-a" }, { at: 9 });
  const result = made.sync();
  assert.equal(owner(made, "team-a/cred"), "shared/cred");
  assert.equal(owner(made, "team-b/cred"), "other/cred");
  assert.equal(verdictAt(result, "team-a/cred", "other/cred"), "conflict");
  assert.match(reasonAt(result, "team-a/cred", "other/cred"), /shared\/cred/);
});

test("within one namespace the older wins, then the name", () => {
  const made = cluster();
  made.secret("shared/young", { to: "team-a", name: "x" }, { at: 9 });
  made.secret("shared/old", { to: "team-a,team-b", name: "x" }, { at: 1 });
  made.secret("shared/also-old", { to: "team-b", name: "x" }, { at: 1 });
  made.sync();
  assert.equal(owner(made, "team-a/x"), "shared/old");
  assert.equal(owner(made, "team-b/x"), "shared/also-old");
});

test("the source that a copy names keeps its place within one rank", () => {
  const made = cluster();
  made.secret("shared/mine", { to: "team-a", name: "cred" }, { at: 9 });
  made.settle();
  made.secret("shared/cred", { to: "team-a" }, { at: 1 });
  made.now += 5000;
  assert.equal(verdictAt(made.sync(), "team-a/cred", "shared/cred"), "conflict");
  assert.equal(owner(made, "team-a/cred"), "shared/mine");
  const { uid } = made.get("team-a/cred").metadata;
  made.delete("shared/mine");
  assert.equal(verdictAt(made.sync(), "team-a/cred", "shared/cred"), "conflict");
  assert.equal(owner(made, "team-a/cred"), "shared/mine");
  assert.deepEqual(actionsAt(made.end(), "team-a/cred"), ["update"]);
  assert.equal(owner(made, "team-a/cred"), "shared/cred");
  assert.equal(made.get("team-a/cred").metadata.uid, uid);
});

test("a paused heir takes the place when it resumes, and the copy stays until then", () => {
  const made = cluster();
  made.secret("shared/cred", { to: "team-a" });
  made.settle();
  made.secret("other/cred", { to: "team-a", paused: "true" });
  made.annotate("shared/cred", { to: "nowhere" });
  made.now += 5000;
  const result = made.sync();
  assert.deepEqual(result.actions, []);
  assert.equal(verdictAt(result, "team-a/cred", "other/cred"), "paused");
  made.annotate("other/cred", { paused: "false" });
  assert.deepEqual(actionsAt(made.due(), "team-a/cred"), ["update"]);
});

test("at a hand-over the sources that do not get the place are reported", () => {
  const made = cluster();
  made.secret("shared/a", { to: "team-a", name: "x" }, { at: 1 });
  made.settle();
  made.secret("shared/b", { to: "team-a", name: "x" }, { at: 2 });
  made.secret("shared/c", { to: "team-a", name: "x" }, { at: 3 });
  made.annotate("shared/a", { to: "nowhere" });
  made.now += 5000;
  const result = made.sync();
  assert.equal(verdictAt(result, "team-a/x", "shared/b"), "update");
  assert.equal(verdictAt(result, "team-a/x", "shared/c"), "conflict");
});

test("the source that the existing Secret accepts wins over a stronger one", () => {
  const made = cluster();
  made.secret("shared/cred", { to: "team-a" });
  made.secret("other/cred", { to: "team-a" });
  made.secret("team-a/cred", { adopt: "other/cred" });
  made.sync();
  assert.equal(owner(made, "team-a/cred"), "other/cred");
});

test("an earlier entry of the order takes the place over, and the loser is reported", () => {
  const made = cluster();
  made.secret("other/cred", { to: "team-a" }, { at: 1 });
  made.settle();
  const { uid } = made.get("team-a/cred").metadata;
  made.secret("shared/cred", { to: "team-a" }, { at: 9 });
  made.settle();
  assert.equal(owner(made, "team-a/cred"), "shared/cred");
  assert.equal(made.get("team-a/cred").metadata.uid, uid);
  assert.equal(verdictAt(made.plan(), "team-a/cred", "other/cred"), "conflict");
});

test("a plan under another order says from which source each place is taken over", () => {
  const made = cluster();
  made.secret("other/cred", { to: "team-a" });
  made.secret("shared/cred", { to: "team-a" });
  made.settle();
  assert.equal(owner(made, "team-a/cred"), "shared/cred");
  made.settings = { ...made.settings, sourceNamespaces: globs("other,shared") };
  made.restart();
  made.sync();
  const result = made.sync();
  assert.equal(verdictAt(result, "team-a/cred", "other/cred"), "update");
  assert.equal(
    reasonAt(result, "team-a/cred", "other/cred"),
    "the place is taken over from source shared/cred",
  );
});

test("a paused, refused or held source takes no new place", () => {
  for (const [words, changes] of [
    [{ to: "*", paused: "true" }, {}],
    [{ to: "*", keys: "a=absent" }, {}],
    [{ to: "*" }, { fanoutLimitBytes: 1 }],
  ] as const) {
    const made = cluster();
    made.secret("other/cred", { to: "team-a" });
    made.settle();
    made.settings = { ...made.settings, ...changes };
    made.secret("shared/cred", words);
    made.now += 5000;
    made.plan();
    made.settle();
    assert.equal(owner(made, "team-a/cred"), "other/cred", JSON.stringify(words));
  }
});

test("an empty place goes to the next that is not paused", () => {
  const made = cluster();
  made.secret("shared/cred", { to: "team-a", paused: "true" });
  made.secret("other/cred", { to: "team-a" });
  const result = made.sync();
  assert.equal(owner(made, "team-a/cred"), "other/cred");
  assert.equal(verdictAt(result, "team-a/cred", "shared/cred"), "conflict");
});

test("a copy is not replaced for a source that is about to lose its place", () => {
  const made = cluster();
  made.secret("other/cred", { to: "team-a" });
  made.settle();
  const { uid } = made.get("team-a/cred").metadata;
  made.delete("other/cred");
  made.secret("other/cred", { to: "team-a" }, { type: "example.com/x" });
  made.secret("shared/paused", { to: "team-a", name: "cred", paused: "true" });
  made.secret("shared/cred", { to: "team-a" });
  const result = made.sync();
  assert.equal(verdictAt(result, "team-a/cred", "other/cred"), "replace");
  for (const source of ["shared/cred", "shared/paused"])
    assert.equal(verdictAt(result, "team-a/cred", source), "conflict", source);
  made.settle();
  assert.equal(owner(made, "team-a/cred"), "shared/cred");
  assert.equal(made.get("team-a/cred").metadata.uid, uid);
});

test("while a take-over fails the loser goes on being served", () => {
  const made = cluster();
  made.secret("other/cred", { to: "team-a" });
  made.settle();
  made.secret("shared/cred", { to: "team-a" });
  made.now += 5000;
  made.sync();
  const takeover = made.plan().actions.find(({ source }) => source.namespace === "shared");
  assert.equal(takeover?.kind, "update");
  if (takeover)
    made.memory.failed(
      takeover,
      { reason: "no", cause: "withheld", error: "forbidden" },
      made.now,
      1,
    );
  made.now += 1050;
  made.secret("other/cred", { to: "team-a" }, { data: { key: "second" } });
  const result = made.sync();
  assert.equal(verdictAt(result, "team-a/cred", "shared/cred"), "conflict");
  assert.match(reasonAt(result, "team-a/cred", "shared/cred"), /take this place over: no/);
  assert.equal(verdictAt(result, "team-a/cred", "other/cred"), "update");
  assert.equal(owner(made, "team-a/cred"), "other/cred");
});
