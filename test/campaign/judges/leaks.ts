// What a long run may leave behind: memory, and whatever keeps a process alive.
import { setImmediate, setTimeout } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;

/** Bytes of heap in use that the collector cannot free. */
export async function liveHeap(): Promise<number> {
  for (let round = 0; round < 3; round++) {
    collect();
    await setImmediate();
  }
  return process.memoryUsage().heapUsed;
}

/** Timers, sockets and the like that are open, by kind. */
export function openResources(): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const kind of process.getActiveResourcesInfo())
    counts.set(kind, (counts.get(kind) ?? 0) + 1);
  return counts;
}

/** What is open and was not before, once what is closing has had two seconds. */
export async function leaked(before: ReadonlyMap<string, number>): Promise<readonly string[]> {
  for (let tries = 0; tries < 20 && more(before).length > 0; tries++) await setTimeout(100);
  return more(before);
}

function more(before: ReadonlyMap<string, number>): readonly string[] {
  return Array.from(openResources()).flatMap(([kind, count]) => {
    const extra = count - (before.get(kind) ?? 0);
    return extra > 0 ? [`leaked: ${extra} ${kind}`] : [];
  });
}

/** Calls `tell` with each warning of the process, such as of too many listeners, until told to stop. */
export function onWarning(tell: (text: string) => void): () => void {
  const listener = ({ name, message }: Error): void => tell(`${name}: ${message}`);
  process.on("warning", listener);
  return () => void process.off("warning", listener);
}
