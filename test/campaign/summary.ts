// The figures of a run.
import type { Arena } from "./stages/arena.ts";
import { percentiles } from "./judges/expectations.ts";
import type { Subject } from "./controllers/subject.ts";

export function summarize(
  print: (line: string) => void,
  arena: Arena,
  subjects: readonly Subject[],
): void {
  const { expectations, asked, writes, tenant, pace, webhook } = arena;
  for (const [change, times] of expectations.took) print(`${change}: ${percentiles(times)}`);
  print(`after disturbances: ${percentiles(expectations.recovered)}`);
  for (const subject of subjects) {
    const { healthz, peakMiB, mostPassesASecond, lines } = subject;
    print(`/healthz: ${percentiles(healthz)}`);
    const passes = `${mostPassesASecond.toFixed(1)} passes/s at most`;
    const cores = subject.cpuMs / (performance.now() - subject.startedMs);
    print(
      `peak ${Math.round(peakMiB)} MiB, ${cores.toFixed(2)} cores, ${passes}, ${lines} lines of log`,
    );
  }
  print(`the tenant: ${shown(tenant.answers)}`);
  print(`the controller: ${shown(asked.requests)}`);
  print(`its writes: ${shown(writes.done)}, ${writes.unjudged} not judged`);
  print(`one place was asked at most ${asked.mostRepeats} times in ten seconds`);
  print(`the webhook was asked ${webhook.asked} times`);
  print(`our own slowest write took ${Math.round(pace.worstMs)} ms`);
}

function shown(counts: ReadonlyMap<string, number>): string {
  return Array.from(counts, ([key, times]) => `${times} x ${key}`).join(", ");
}
