// The program's metrics with nothing to observe, for tests of what they are called.
import { systemClock } from "../../../packages/kube/time/clock.ts";
import { createMetrics } from "../../../src/controller/report/metrics.ts";

export function metricsOfNothing(): ReturnType<typeof createMetrics> {
  const metrics = createMetrics("secretcast");
  metrics.observe({
    clusterStates: [],
    watches: {},
    unreadable: () => [],
    deniedNames: () => [],
    maxValueAgeMs: 0,
    sync: { newestPlan: undefined },
    syncLog: { convergedMs: undefined },
    controller: { leading: false },
    clock: systemClock,
  });
  return metrics;
}
