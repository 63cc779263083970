// A place that somebody else changes back again and again backs off, whichever way they do it, and
// whether or not a sync finds it right in between.
import assert from "node:assert/strict";
import { test } from "node:test";
import { PlaceMemory } from "../../../src/controller/state/place-memory.ts";
import type { RawSecret } from "../../support/planner/raw-cluster.ts";
import { actionsAt, Cluster, verdictAt } from "../../support/planner/planner-cluster.ts";

/** Changes `place` and lets the controller answer, until it does not any more; how often it did. */
function fight(made: Cluster, place: string, change: (secret: RawSecret) => void): number {
  for (let round = 1; round <= 20; round++) {
    made.edit(place, change);
    made.now += 2000;
    const result = made.sync();
    if (verdictAt(result, place) === "backoff") return round - 1;
    assert.equal(made.plan().counts.current, 1, "a pass in between finds it as it is to be");
  }
  return 20;
}

function copied(): Cluster {
  const made = new Cluster().withNamespaces("shared", "team-a");
  made.secret("shared/db", { to: "*" }, { data: { password: "one" } });
  made.settle();
  return made;
}

const edited = ({ data }: RawSecret): void => {
  data["password"] = "ZWRpdGVk";
};

test("a copy edited more than five times a minute rests for half a minute", () => {
  const made = copied();
  made.now += 60_000;
  assert.equal(fight(made, "team-a/db", edited), 6);
  const first = made.now;
  assert.deepEqual(
    made.memory.takeFights().map(({ place }) => place),
    [{ namespace: "team-a", name: "db" }],
  );
  made.settle();
  assert.ok(made.now - first >= 27_000, `repaired after ${made.now - first} ms`);
  made.edit("team-a/db", edited);
  assert.equal(verdictAt(made.sync(), "team-a/db"), "backoff", "longer than before");
});

test("a fight ends where the source changes: that is fresh work", () => {
  const made = copied();
  made.now += 60_000;
  fight(made, "team-a/db", edited);
  made.edit("shared/db", edited);
  made.edit("team-a/db", ({ data }) => (data["password"] = "bWluZQ=="));
  assert.equal(verdictAt(made.sync(), "team-a/db"), "update");
});

test("an absent place is filled at once after any number of edits", () => {
  const made = copied();
  made.now += 60_000;
  assert.equal(fight(made, "team-a/db", edited), 6);
  made.delete("team-a/db");
  made.memory.places.vanished("team-a/db");
  assert.deepEqual(actionsAt(made.sync(), "team-a/db"), ["create"]);
  made.now += 2000;
  made.edit("team-a/db", edited);
  assert.equal(verdictAt(made.plan(), "team-a/db"), "backoff", "an edit is still in dispute");
});

test("a copy that is deleted repeatedly is made again once a second", () => {
  const made = copied();
  made.now += 60_000;
  let creates = 0;
  for (let tenth = 0; tenth < 600; tenth++) {
    if (made.secrets.has("team-a/db")) {
      made.delete("team-a/db");
      made.memory.places.vanished("team-a/db");
    }
    made.now += 100;
    creates += actionsAt(made.sync(), "team-a/db").length;
  }
  assert.ok(creates >= 54 && creates <= 61, `${creates} creates in a minute`);
  assert.equal(made.memory.takeFights().length, 1, "it is reported once");
});

function pulled(): Cluster {
  const made = new Cluster().withNamespaces("shared", "team-a");
  made.secret("shared/db", { allow: "*" }, { data: { password: "one" } });
  made.secret("team-a/login", { from: "shared/db" }, { data: {} });
  made.settle();
  made.now += 60_000;
  return made;
}

test("a pulling Secret that is emptied repeatedly is a fight", () => {
  const emptied = (secret: RawSecret): void => {
    secret.data = {};
  };
  const replaced = (secret: RawSecret): void => {
    secret.data = {};
    secret.metadata.annotations = { "secretcast.io/from": "shared/db" };
  };
  for (const change of [emptied, replaced])
    assert.equal(fight(pulled(), "team-a/login", change), 6);
});

test("consent that is withdrawn and given again is no fight", () => {
  const made = pulled();
  for (let round = 0; round < 8; round++) {
    for (const allow of ["nobody", "*"]) {
      made.annotate("shared/db", { allow: allow });
      made.now += 2000;
      assert.notEqual(verdictAt(made.sync(), "team-a/login"), "backoff");
    }
  }
  assert.equal(made.settle().counts.current, 1);
});

test("a copy that is forged anew for other sources is left alone for a while", () => {
  const made = new Cluster({ deleteGraceMs: 0 }).withNamespaces("shared", "team-a");
  const forge = (round: number): void => {
    const place = "team-a/forged";
    const marks = { source: "shared/never", "source-uid": `never-${round}`, "placed-at": place };
    const labels = { "app.kubernetes.io/managed-by": "secretcast" };
    made.secret(place, { ...marks, "source-version": "1" }, { labels });
  };
  let deleted = 0;
  for (let second = 0; second < 60; second++) {
    if (!made.secrets.has("team-a/forged")) forge(second);
    made.now += 1000;
    for (let pass = 0; pass < 3; pass++) made.sync();
    if (!made.secrets.has("team-a/forged")) deleted++;
  }
  assert.ok(deleted >= 5 && deleted <= 9, `deleted ${deleted} times in a minute`);
});

test("a source that moves repeatedly is read live less and less often", () => {
  const backoff = new PlaceMemory();
  const until = (decisionKey: string, ofSource: boolean): number | undefined => {
    backoff.stale("team-a/db", decisionKey, 0, ofSource);
    return backoff.placeBackoff("team-a/db", decisionKey)?.until;
  };
  assert.deepEqual([until("one", true), until("one", true), until("one", true)], [100, 300, 900]);
  assert.equal(until("two", true), 100);
  assert.equal(until("two", true), 300);
  // What is at the place moved: that is so whatever is wanted.
  assert.equal(until("three", false), 900);
});
