import assert from "node:assert/strict";
import { test } from "node:test";
import type { TargetState } from "../../../src/controller/model/verdicts.ts";
import { VERDICT_TABLE } from "../../../src/controller/plan/verdict-table.ts";
import { type Texts } from "../../support/planner/raw-cluster.ts";
import { actionsAt, Cluster, verdictAt } from "../../support/planner/planner-cluster.ts";

const PLACE = "team-a/registry";
const SOURCE = "shared/registry";

function cluster(annotations: Texts = { to: "*" }, changes = {}): Cluster {
  const made = new Cluster(changes).withNamespaces("shared", "team-a");
  made.secret(SOURCE, annotations, { data: { password: "first" } });
  return made;
}

// Brings a place into each column of the table, starting from a converged cluster.
const ARRANGE: Readonly<Record<TargetState, (made: Cluster) => void>> = {
  absent: (made) => made.delete(PLACE),
  equal: () => undefined,
  different: (made) => {
    made.edit(PLACE, ({ data }) => (data["password"] = "ZWRpdGVk"));
  },
  fixed: (made) => {
    made.edit(PLACE, (secret) => (secret.type = "kubernetes.io/other"));
  },
  deleting: (made) => {
    made.edit(PLACE, ({ metadata }) => (metadata.deletionTimestamp = "2026-01-02T00:00:00Z"));
  },
  unmanaged: (made) => {
    made.delete(PLACE);
    made.secret(PLACE, {});
  },
};

function arranged(situation: TargetState, annotations: Texts = { to: "*" }): Cluster {
  const made = cluster(annotations);
  made.settle();
  ARRANGE[situation](made);
  made.now += 60_000;
  return made;
}

function unwant(made: Cluster): void {
  made.annotate(SOURCE, { to: "elsewhere" });
}

const WRITTEN = ["create", "update", "replace", "adopt", "delete", "release"];

for (const situation of Object.keys(ARRANGE) as TargetState[]) {
  const [wanted] = VERDICT_TABLE.wanted[situation];
  test(`wanted, ${situation}: ${wanted}`, () => {
    const made = arranged(situation);
    const result = made.plan();
    assert.equal(verdictAt(result, PLACE) ?? "current", wanted);
    assert.deepEqual(actionsAt(result, PLACE), WRITTEN.includes(wanted) ? [wanted] : []);
    assert.equal(result.counts[wanted], 1);
  });

  const [unwanted, kept = unwanted] = VERDICT_TABLE.unwanted[situation];
  for (const [word, verdict] of [
    ["delete", unwanted],
    ["keep", kept],
  ] as const) {
    test(`not wanted with on-delete ${word}, ${situation}: ${verdict}`, () => {
      const made = arranged(situation, { to: "*", "on-delete": word });
      unwant(made);
      const result = made.due();
      assert.equal(verdictAt(result, PLACE) ?? "skip", verdict);
      assert.deepEqual(actionsAt(result, PLACE), WRITTEN.includes(verdict) ? [verdict] : []);
    });
  }
}

test("wanted, not ours but its owner says adopt: adopt", () => {
  const made = cluster();
  made.secret(PLACE, { adopt: SOURCE }, { data: { mine: "1" } });
  const result = made.sync();
  assert.equal(verdictAt(result, PLACE), "adopt");
  const copy = made.get(PLACE);
  assert.deepEqual(Object.keys(copy.data), ["password"]);
  assert.equal("secretcast.io/adopt" in copy.metadata.annotations, false);
  assert.equal(made.cached(PLACE).role, "copy");
  made.now += 2000;
  assert.deepEqual(made.sync().actions, []);
});

test("an unmanaged Secret that says adopt with an unknown word is a conflict", () => {
  const made = cluster();
  made.secret(PLACE, { adopt: SOURCE, "to-selecter": "typo" }, { data: { mine: "1" } });
  const result = made.sync();
  assert.equal(verdictAt(result, PLACE), "conflict");
  assert.deepEqual(Object.keys(made.get(PLACE).data), ["mine"]);
  made.annotate(PLACE, { "to-selecter": undefined });
  assert.equal(verdictAt(made.sync(), PLACE), "adopt");
  made.now += 2000;
  assert.deepEqual(made.sync().actions, []);
});
