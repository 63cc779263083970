import assert from "node:assert/strict";
import { test } from "node:test";
import { SourceEvents, type SourceEvent } from "../../src/telemetry/source-events.ts";
import { Cluster } from "../support/planner/planner-cluster.ts";

/** A cluster whose settled passes are told; `settle` answers with what was told since the last one. */
function tell(cluster: Cluster, mayName = true) {
  let told: SourceEvent[] = [];
  const narrator = new SourceEvents({
    mayName: () => mayName,
    uidOf: ({ namespace, name }) => cluster.secrets.get(`${namespace}/${name}`)?.metadata.uid,
    tell: (narration) => void told.push(narration),
  });
  return {
    narrator,
    settle: (): readonly string[] => {
      let plan = cluster.pass();
      while (plan.actions.length > 0) {
        for (const action of plan.actions)
          narrator.ended({ kind: "done", action, object: undefined });
        cluster.now += 1000;
        plan = cluster.pass();
      }
      narrator.settled(plan, cluster.memory.takeFights());
      const lines = told.map(
        ({ on, type, reason, note }) => `${on.namespace}/${on.name} ${type} ${reason}: ${note}`,
      );
      told = [];
      return lines;
    },
  };
}

function teams(count: number): Cluster {
  const cluster = new Cluster();
  cluster.namespace("shared");
  for (let n = 0; n < count; n++) cluster.namespace(`team-${n}`);
  cluster.secret("shared/registry", { to: "team-*" }, { data: { a: "1" } });
  return cluster;
}

test("a settled change is one Event on its source, which names five namespaces and counts the rest", () => {
  const { settle } = tell(teams(7));
  assert.deepEqual(settle(), [
    "shared/registry Normal Copied: copied to 7 namespaces (team-0, team-1, team-2, team-3, team-4 and 2 more)",
  ]);
  assert.deepEqual(settle(), [], "nothing new, nothing told");
});

test("where every namespace may publish, an Event names no other namespace", () => {
  assert.deepEqual(tell(teams(2), false).settle(), [
    "shared/registry Normal Copied: copied to 2 namespaces",
  ]);
});

test("a conflict is told when it begins and when it changes, and again after it was over", () => {
  const cluster = teams(2);
  cluster.secret("team-0/registry", {}, { data: { mine: "x" } });
  const { settle } = tell(cluster);
  assert.deepEqual(settle(), [
    "shared/registry Normal Copied: copied to 1 namespace (team-1)",
    "shared/registry Warning Conflict: not copied to 1 namespace (team-0): the name is taken there",
  ]);
  assert.deepEqual(settle(), []);
  cluster.delete("team-0/registry");
  assert.deepEqual(settle(), ["shared/registry Normal Copied: copied to 1 namespace (team-0)"]);
});

test("a refused source is told what is wrong, once", () => {
  const cluster = teams(1);
  cluster.edit("shared/registry", ({ metadata }) => {
    metadata.annotations["secretcast.io/too"] = "x";
  });
  const { settle } = tell(cluster);
  const [line = ""] = settle();
  assert.match(line, /^shared\/registry Warning Refused: .*secretcast\.io\/too/);
  assert.deepEqual(settle(), []);
});

test("a pulling Secret's Events are on itself, and on no source", () => {
  const cluster = new Cluster();
  cluster.namespace("shared");
  cluster.namespace("team-0");
  cluster.namespace("team-1");
  cluster.secret("shared/tls", { allow: "team-0" }, { data: { a: "1" } });
  cluster.secret("team-0/mine", { from: "shared/tls" });
  cluster.secret("team-1/mine", { from: "shared/tls" });
  assert.deepEqual(tell(cluster).settle(), [
    "team-0/mine Normal Copied: filled from shared/tls",
    "team-1/mine Warning Conflict: there is no source shared/tls, or it does not allow this namespace",
  ]);
});

test("copies above the fan-out limit are told as held", () => {
  const cluster = teams(3);
  cluster.settings = { ...cluster.settings, fanoutLimitBytes: 10 };
  const [line = ""] = tell(cluster).settle();
  assert.match(line, /^shared\/registry Warning FanoutHeld: not copied to 3 namespaces \(team-0/);
});
