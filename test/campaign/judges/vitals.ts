// What a process holds at one moment, from the kernel and from its own metrics.
import { readdirSync } from "node:fs";
import { cpuMs, memory } from "../../../bench/proc.ts";
import type { Vitals } from "./records.ts";

const METRICS = {
  heap: "nodejs_heap_size_used_bytes",
  held: "nodejs_heap_size_total_bytes",
  lag: "nodejs_eventloop_lag_p99_seconds",
} as const;
const MIB = 2 ** 20;

/** Of all types. */
function activeResources(metrics: string): number {
  const lines = metrics.matchAll(/^nodejs_active_resources\{[^}]*\} (.+)$/gm);
  return Array.from(lines, ([, count]) => Number(count)).reduce((sum, count) => sum + count, 0);
}

/** `metrics`: the text of its page. Undefined when it has ended. */
export function vitalsOf(pid: number, metrics: string): Vitals | undefined {
  const metric = (name: string): number =>
    Number(new RegExp(`^${name} (.+)$`, "m").exec(metrics)?.[1] ?? Number.NaN);
  try {
    const { rssMiB, anonMiB } = memory(pid);
    return {
      rssMiB,
      anonMiB,
      heapMiB: metric(METRICS.heap) / MIB,
      heldMiB: metric(METRICS.held) / MIB,
      fds: readdirSync(`/proc/${pid}/fd`).length,
      resources: activeResources(metrics),
      cpuMs: cpuMs(pid),
      lagP99Ms: metric(METRICS.lag) * 1000,
    };
  } catch {
    return undefined;
  }
}
