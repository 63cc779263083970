// What makes a source refused, and that it alone is.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Cluster } from "../../support/planner/planner-cluster.ts";

function cluster(): Cluster {
  return new Cluster().withNamespaces("shared", "team-a");
}

for (const [what, type, name] of [
  ["a service account's token", "kubernetes.io/service-account-token", "cred"],
  ["a bootstrap token", "bootstrap.kubernetes.io/token", "cred"],
  ["a Helm release", "helm.sh/release.v1", "cred"],
  ["a name of Helm's", "Opaque", "sh.helm.release.v1.app.v1"],
] as const) {
  test(`${what} is refused as a source, with a reason`, () => {
    const made = cluster();
    made.secret(`shared/${name}`, { to: "*" }, { type });
    const result = made.sync();
    assert.deepEqual(result.actions, []);
    assert.equal(result.sources[0]?.state, "refused");
    assert.ok(result.sources[0]?.problems[0]?.expected);
  });
}

test("a source that cannot be understood is refused and reported; all others go on", () => {
  const made = cluster();
  made.secret("shared/bad", { to: "team-(a|b)" });
  made.secret("shared/good", { to: "team-a" });
  const result = made.sync();
  assert.equal(made.secrets.has("team-a/good"), true);
  const bad = result.sources.find(({ source }) => source.name === "bad");
  assert.equal(bad?.problems[0]?.annotation, "secretcast.io/to");
  assert.equal(bad?.problems[0]?.part, "team-(a|b)");
});

for (const [what, words] of [
  ["an empty value", { to: "" }],
  ["an empty selector", { to: "*", "to-selector": " " }],
  ["a mistyped key", { to: "*", "to-selecter": "a" }],
  ["a bad name", { to: "*", name: "Not A Name" }],
  ["a bad on-delete", { to: "*", "on-delete": "later" }],
  ["a bad paused", { to: "*", paused: "yes" }],
  ["adopt on a source", { to: "*", adopt: "shared/x" }],
  ["a namespace's key", { to: "*", accept: "true" }],
  ["a missing old key", { to: "*", keys: "new=old" }],
] as const) {
  test(`${what} refuses the source`, () => {
    const made = cluster();
    made.secret("shared/cred", words);
    const result = made.sync();
    assert.deepEqual(result.actions, []);
    assert.equal(result.sources[0]?.state, "refused");
  });
}

const MANY_WORDS = Object.fromEntries(Array.from({ length: 100 }, (_, at) => [`word-${at}`, "x"]));

test("at most 20 unknown words of a source are reported, 3 of a pulling Secret", () => {
  const made = cluster();
  made.secret("shared/cred", { to: "*", ...MANY_WORDS });
  made.secret("team-a/app", { from: "shared/cred", ...MANY_WORDS });
  assert.equal(made.sync().sources[0]?.problems.length, 20);
  const app = made.cached("team-a/app");
  assert.equal(app.role === "pull" && app.problems.length, 3);
});
