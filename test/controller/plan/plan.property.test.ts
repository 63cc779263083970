// Random histories, as many as support/time/extent says: what `npm run verify` cannot see in small clusters. A failure
// prints its seed and the shrunk history.
import { reasonText } from "../../../src/controller/model/reasons.ts";
import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { PlannerMemory } from "../../../src/controller/state/planner-memory.ts";
import { type ClusterState } from "../../../src/controller/model/cluster.ts";
import { VERDICTS, type Plan } from "../../../src/controller/model/verdicts.ts";
import { histories, isTenants, TENANT, type History } from "../../support/planner/history.ts";
import { live } from "../../support/planner/live.ts";
import { runPlan, type Cluster } from "../../support/planner/planner-cluster.ts";
import { propertyRuns } from "../../../packages/kube/testing/extent.ts";
import { refText } from "../../../src/text/names.ts";

const runs = propertyRuns;
const seed = Number(process.env["SECRETCAST_TEST_SEED"] ?? String(Date.now() % 2 ** 31));

function property(name: string, check: (history: History) => void): void {
  test(name, (context) => {
    context.diagnostic(`seed ${seed}, ${runs} runs`);
    fc.assert(fc.property(histories, check), { numRuns: runs, seed });
  });
}

property("permuted inputs yield the same plan", (history) => {
  const made = live(history);
  const clusterState = made.clusterState();
  const reversed: ClusterState = {
    ...clusterState,
    namespaces: new Map([...clusterState.namespaces].toReversed()),
    sources: [...clusterState.sources].toReversed(),
    pulls: [...clusterState.pulls].toReversed(),
    objectsIn: (namespace) => new Map([...clusterState.objectsIn(namespace)].toReversed()),
  };
  assert.deepEqual(summary(planAgain(made, reversed)), summary(planAgain(made, clusterState)));
});

property(
  "every place has one verdict, every pair of source and place at most one row",
  (history) => {
    const result = planAgain(...withWorld(live(history)));
    const places = new Set<string>();
    const pairs = new Set<string>();
    for (const { verdict, place, source, pulling } of result.rows) {
      const pair = `${refText(source)} ${refText(place)} ${pulling ? "pulled" : "pushed"}`;
      assert.ok(!pairs.has(pair), `two rows for ${pair}`);
      pairs.add(pair);
      if (verdict === "conflict") continue;
      assert.ok(!places.has(refText(place)), `two verdicts for ${refText(place)}`);
      places.add(refText(place));
    }
    const touched = result.actions.map((action) => refText(action.place));
    assert.equal(new Set(touched).size, touched.length);
    const sum = (states: Plan["states"]): number =>
      Object.values(states).reduce((total, count) => total + count, 0) - states.current;
    assert.equal(sum(result.states), result.rows.length);
  },
);

property("no reason names its own namespace, so equal places share a line", (history) => {
  const { rows } = planAgain(...withWorld(live(history)));
  for (const { place, reason } of rows) {
    // A source that is named may well be called as the place is.
    const words = reasonText(reason)
      .replaceAll(/[a-z0-9-]+\/[.a-z0-9-]+/g, "")
      .split(/[^a-z0-9-]+/);
    assert.ok(!words.includes(place.namespace), `${refText(place)}: ${reasonText(reason)}`);
  }
});

property(
  "a tenant's Secrets, forged marks included, change nothing outside its namespace",
  (history) => {
    const unguarded = { ...history, limit: 0 };
    const outside = (given: History): unknown => {
      const result = planAgain(...withWorld(live(given)));
      const { actions, rows } = summary(result, (place) => !place.startsWith(`${TENANT}/`));
      // Whose turn it is depends on how much each source has to write.
      return { actions: actions.toSorted(), rows };
    };
    const honest = { ...unguarded, steps: history.steps.filter((step) => !isTenants(step)) };
    // Without passes in between, so that UIDs and times are the same in both.
    const still = (given: History): History => ({
      ...given,
      steps: given.steps.filter((step) => step.kind !== "pass"),
    });
    assert.deepEqual(outside(still(unguarded)), outside(still(honest)));
  },
);

function withWorld(made: Cluster): [Cluster, ClusterState] {
  return [made, made.clusterState()];
}

// As a process that has just started sees it, long enough ago for the grace to be over, and with what
// the API server says live, which is what the cluster state shows.
function planAgain(made: Cluster, clusterState: ClusterState): Plan {
  const memory = new PlannerMemory();
  runPlan([clusterState], made.settings, memory, made.now, new Set());
  const later = made.now + 1_000_000;
  for (;;) {
    const result = runPlan([clusterState], made.settings, memory, later, new Set());
    const questions = result.actions.flatMap((one) =>
      one.kind === "confirm" ? one.liveReads : [],
    );
    if (questions.length === 0) return result;
    const { liveReads } = memory.shared;
    for (const question of questions) liveReads.found(question, question.shown, later, 0);
  }
}

type Keep = (placeFirst: string) => boolean;

function summary(result: Plan, keep: Keep = () => true): { actions: string[]; rows: string[] } {
  const actions = result.actions
    .map(({ kind, place, source }) => [refText(place), refText(source), kind].join(" "))
    .filter((action) => keep(action));
  const rows = result.rows
    .map(({ verdict, place, source, reason }) =>
      [refText(place), refText(source), verdict, reasonText(reason)].join(" "),
    )
    .filter((row) => keep(row))
    .toSorted();
  return { actions, rows };
}

test("the random histories reach every verdict but backoff, which takes a failing server", () => {
  const seen = new Set<string>();
  const look = (made: Cluster): void => {
    for (const { verdict } of made.plan().rows) seen.add(verdict);
  };
  for (const history of fc.sample(histories, { numRuns: 600, seed: 1 })) live(history, look);
  const expected = VERDICTS.filter((one) => !["backoff", "current", "skip"].includes(one));
  assert.deepEqual([...seen].toSorted(), expected.toSorted());
});
