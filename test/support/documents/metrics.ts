// The program's metrics with nothing to observe, for tests of what they are called.
import { createMetrics } from "../../../src/controller/report/metrics.ts";

export function metricsOfNothing(): ReturnType<typeof createMetrics> {
  const metrics = createMetrics("secretcast");
  const nothing = () => ({});
  metrics.observe({
    copies: nothing,
    sources: nothing,
    oldValues: () => ({}),
    ignored: nothing,
    listEntries: nothing,
    lastConvergedMs: () => undefined,
    unreadableNamespaces: () => 0,
    unreadableNames: () => 0,
    watchActivityMs: nothing,
    watchDisconnectedMs: nothing,
    leading: () => false,
  });
  return metrics;
}
