// The Events and log lines that follow from plans.
import type { SourceEvent } from "../../../src/controller/report/event-states.ts";
import { createLog } from "../../../src/controller/report/log.ts";
import { Reporter, type ReporterOptions } from "../../../src/controller/report/reporter.ts";
import type { Plan } from "../../../src/controller/model/verdicts.ts";
import type { Cluster } from "../planner/planner-cluster.ts";

const LEASE = { namespace: "secretcast", name: "secretcast", uid: "uid-of-lease" };
const START_MS = Date.UTC(2026, 10, 25);
const SETTLED = { settled: true, dryRun: false, tookMs: 0 };

type Given = Pick<ReporterOptions, "mayName" | "uidOf"> &
  Partial<Pick<ReporterOptions, "memory" | "lease" | "log">> & {
    /** Milliseconds since the start. */
    readonly now: () => number;
    readonly startMs?: number;
  };

/** A reporter and what it said. */
export function reporterOf({ now, startMs = START_MS, ...given }: Given) {
  const reported: SourceEvent[] = [];
  const lines: string[] = [];
  const reporter = new Reporter({
    log: createLog(
      { logLevel: "info", logFormat: "json" },
      { write: (line) => void lines.push(line) },
    ),
    clock: {
      now: () => startMs + now(),
      monotonic: now,
      boottime: now,
      random: () => 0.5,
      setTimeout: () => ({ cancel: () => undefined }),
    },
    memory: { takeFights: () => [] },
    lease: () => LEASE,
    send: (event) => void reported.push(event),
    ...given,
  });
  const events = (): readonly SourceEvent[] => reported.splice(0);
  return {
    reporter,
    lines,
    /** Returns the Events since the last call. */
    events,
    onPlan: (plan: Plan): readonly SourceEvent[] => {
      const steps = reporter.onPlan(plan, SETTLED);
      while (steps.next().done !== true);
      return events();
    },
  };
}

/** A cluster whose settled passes are reported; `settle` answers with what was told since the last one. */
export function tell(cluster: Cluster, mayName = true) {
  const { reporter, lines, onPlan } = reporterOf({
    memory: cluster.memory,
    mayName: () => mayName,
    uidOf: (_, { namespace, name }) => cluster.secrets.get(`${namespace}/${name}`)?.metadata.uid,
    now: () => cluster.now,
  });
  return {
    reporter,
    /** The log lines with this message. */
    linesOf: (msg: string) =>
      lines.map((line) => JSON.parse(line)).filter((line) => line.msg === msg),
    settle: (): readonly string[] => {
      let plan = cluster.sync();
      while (plan.actions.length > 0) {
        for (const action of plan.actions)
          reporter.onOutcome({ kind: "done", action, object: undefined });
        cluster.now += 1000;
        plan = cluster.sync();
      }
      return onPlan(plan).map(
        ({ on, type, reason, note }) => `${on.namespace}/${on.name} ${type} ${reason}: ${note}`,
      );
    },
  };
}
