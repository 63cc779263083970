// How much a plan, and what it logs, does between two yields. Counted in objects, not in time.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { CachedObject, ClusterState } from "../../../src/controller/model/cluster.ts";
import { plan } from "../../../src/controller/plan/plan.ts";
import { Cluster } from "../../support/planner/planner-cluster.ts";
import { reporterOf } from "../../support/telemetry/sent-events.ts";

/** The objects of a namespace; counts those that are looked at. */
class Counted extends Map<string, CachedObject> {
  count = 0;

  override get(name: string): CachedObject | undefined {
    this.count++;
    return super.get(name);
  }

  override *values(): MapIterator<CachedObject> {
    for (const object of super.values()) {
      this.count++;
      yield object;
    }
  }
}

function crowded(made: Cluster): {
  readonly clusterState: ClusterState;
  readonly objects: Counted;
} {
  const clusterState = made.clusterState();
  const objects = new Counted(clusterState.objectsIn("tenant"));
  const objectsIn = (name: string) => (name === "tenant" ? objects : clusterState.objectsIn(name));
  return { clusterState: { ...clusterState, objectsIn }, objects };
}

/** The most objects of `tenant` that a plan looks at between two yields. */
function mostAtOnce(made: Cluster): number {
  const { clusterState, objects } = crowded(made);
  const steps = plan([clusterState], made.settings, made.memories, made.now, new Set());
  let most = 0;
  for (let done = false; !done;) {
    const before = objects.count;
    done = steps.next().done === true;
    most = Math.max(most, objects.count - before);
  }
  return most;
}

function tenants(): Cluster {
  return new Cluster().withNamespaces("shared", "tenant");
}

const FROZEN = {
  source: "shared/gone",
  "source-uid": "u",
  "source-version": "1",
  "placed-at": "tenant/x",
  typo: "",
};
const MANAGED = { "app.kubernetes.io/managed-by": "secretcast" };

test("a plan yields within a namespace that has many objects, whatever they are", () => {
  const unmanaged = tenants();
  for (let at = 0; at < 10_000; at++) unmanaged.secret(`tenant/n${at}`);
  const most = mostAtOnce(unmanaged);
  assert.ok(most > 500 && most <= 2048, `${most} objects`);
  const frozen = tenants();
  for (let at = 0; at < 5000; at++)
    frozen.secret(
      `tenant/n${at}`,
      { ...FROZEN, "placed-at": `tenant/n${at}` },
      { labels: MANAGED },
    );
  const copies = mostAtOnce(frozen);
  assert.ok(copies > 500 && copies <= 2048, `${copies} copies`);
});

test("a plan yields within the sources that want places in one namespace", () => {
  const made = tenants();
  for (let at = 0; at < 5000; at++) made.secret(`shared/n${at}`, { to: "tenant" });
  const most = mostAtOnce(made);
  assert.ok(most > 500 && most <= 2048, `${most} places`);
});

test("the log of a plan yields between rows and has a bounded number of lines", () => {
  const made = tenants();
  for (let at = 0; at < 5000; at++)
    made.secret(
      `tenant/n${at}`,
      { ...FROZEN, source: `shared/n${at}`, "placed-at": `tenant/n${at}` },
      { labels: MANAGED },
    );
  const found = made.plan();
  assert.ok(found.rows.length >= 5000, String(found.rows.length));
  const { reporter, lines } = reporterOf({
    mayName: () => true,
    uidOf: () => undefined,
    now: () => 0,
  });
  const note = { settled: true, dryRun: false, tookMs: 0 };
  let turns = 0;
  for (const _ of reporter.onPlan(found, note)) turns++;
  assert.ok(turns >= 12, `${turns} turns`);
  assert.ok(lines.length > 0 && lines.length <= 200, `${lines.length} lines`);
});
