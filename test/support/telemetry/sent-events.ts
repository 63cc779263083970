// The Events that follow from the plans of a planner-cluster.
import { FailingPlaces } from "../../../src/controller/report/failing-places.ts";
import { SourceEvents, type SourceEvent } from "../../../src/controller/report/source-events.ts";
import { RemovalLog } from "../../../src/controller/report/removal-log.ts";
import { createLog } from "../../../src/controller/report/log.ts";
import { systemClock } from "../../../src/kube/time/clock.ts";
import type { Cluster } from "../planner/planner-cluster.ts";

const LEASE = { namespace: "secretcast", name: "secretcast", uid: "uid-of-lease" };
const START_MS = Date.UTC(2026, 10, 25);

/** A cluster whose settled passes are told; `settle` answers with what was told since the last one. */
export function tell(cluster: Cluster, mayName = true, order: "first" | "last" = "first") {
  let told: SourceEvent[] = [];
  const failing = new FailingPlaces();
  const narrator = new SourceEvents({
    failing,
    mayName: () => mayName,
    uidOf: (_, { namespace, name }) => cluster.secrets.get(`${namespace}/${name}`)?.metadata.uid,
    tell: (sourceEvent) => void told.push(sourceEvent),
    lease: () => LEASE,
    now: () => cluster.now,
    wallNow: () => START_MS + cluster.now,
  });
  const lines: string[] = [];
  const log = createLog(
    { logLevel: "info", logFormat: "json" },
    { write: (line) => void lines.push(line) },
  );
  const removals = new RemovalLog(log, systemClock, (removed) => narrator.removed(removed));
  return {
    narrator,
    failing,
    lines,
    settle: (): readonly string[] => {
      let plan = cluster.pass();
      while (plan.actions.length > 0) {
        for (const action of plan.actions) {
          narrator.ended({ kind: "done", action, object: undefined });
          removals.onOutcome({ kind: "done", action, object: undefined });
        }
        cluster.now += 1000;
        plan = cluster.pass();
      }
      removals.onPlan(plan, { settled: true, dryRun: false, planMs: 0, tookMs: 0 });
      if (order === "first") failing.onPlan(plan);
      narrator.settled(plan, cluster.memory.takeFights());
      if (order === "last") failing.onPlan(plan);
      const lines = told.map(
        ({ on, type, reason, note }) => `${on.namespace}/${on.name} ${type} ${reason}: ${note}`,
      );
      told = [];
      return lines;
    },
  };
}
