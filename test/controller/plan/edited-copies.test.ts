// Whether a copy differs because its source changed, or because somebody changed the copy: repairs of the
// second kind, again and again, are a fight.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Cluster } from "../../support/planner/planner-cluster.ts";
import type { Plan } from "../../../src/controller/model/verdicts.ts";

const FAILURE = { reason: "no", cause: "withheld", error: "forbidden" };

function causes({ actions }: Plan): readonly string[] {
  return actions.map(({ kind, cause, place }) => `${kind} ${cause} ${place.namespace}`).toSorted();
}

/** Copies of a source that has changed since, of which that in team-b cannot be updated. */
function changed(teams: readonly string[]): Cluster {
  const made = new Cluster().withNamespaces("shared", ...teams);
  made.secret("shared/db", { to: "*" }, { data: { password: "one" } });
  made.settle();
  if (teams.includes("team-b")) made.edit("team-b/db", (secret) => (secret.immutable = true));
  made.secret("shared/db", { to: "*" }, { data: { password: "two" } });
  made.now += 5000;
  return made;
}

test("a difference does not count as an edit while an update is pending", () => {
  for (const [teams, expected] of [
    [["team-a"], ["update changed team-a"]],
    [["team-b"], ["replace changed team-b"]],
    [
      ["team-a", "team-b"],
      ["replace changed team-b", "update changed team-a"],
    ],
  ] as const) {
    const made = changed(teams);
    made.plan();
    assert.deepEqual(causes(made.plan()), expected);
  }
});

test("a difference does not count as an edit while its write keeps failing", () => {
  for (const teams of [["team-a"], ["team-b"], ["team-a", "team-b"]]) {
    const made = changed(teams);
    for (let round = 0; round < 3; round++) {
      for (const action of made.plan().actions) {
        assert.equal(action.cause, "changed");
        if (action.kind !== "update") continue;
        made.memory.failed(action, FAILURE, made.now, 0.5);
      }
      made.plan();
      made.now += 600_000;
    }
  }
});

test("a change of a current copy is an edit, even without a record", () => {
  const made = changed(["team-a", "team-c"]);
  made.settle();
  made.edit("team-a/db", ({ metadata, data }) => {
    data["password"] = "ZWRpdGVk";
    metadata.annotations["secretcast.io/source-version"] = "1";
  });
  made.now += 5000;
  assert.deepEqual(causes(made.plan()), ["update edited team-a"]);
});

test("a copy that somebody deleted is reported once", () => {
  const made = changed(["team-a"]);
  made.settle();
  made.now += 5000;
  made.delete("team-a/db");
  made.memory.places.vanished("team-a/db");
  assert.deepEqual(causes(made.plan()), ["create deleted team-a"]);
  made.annotate("shared/db", { to: "nowhere" });
  made.settle();
  made.annotate("shared/db", { to: "*" });
  made.now += 5000;
  assert.deepEqual(causes(made.plan()), ["create new team-a"]);
});
