// What the kernel says of a process: CPU time and memory. Linux only. Reading costs the process
// nothing, other than a scrape of its metrics would.
import { readdirSync, readFileSync } from "node:fs";

// USER_HZ is 100 on every Linux that Node runs on.
const MS_PER_TICK = 10;

/** User and system time of all its threads, in ms. */
export function cpuMs(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  // The second field is the name in brackets and may hold anything; utime and stime are 14 and 15.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) * MS_PER_TICK;
}

/** As `cpuMs`, of the threads that there are, and not in steps of 10 ms. */
export function fineCpuMs(pid: number): number {
  const threads = readdirSync(`/proc/${pid}/task`);
  const ns = threads.map((thread) => {
    const [running = ""] = readFileSync(`/proc/${pid}/task/${thread}/schedstat`, "utf8").split(" ");
    return Number(running);
  });
  return ns.reduce((total, each) => total + each, 0) / 1e6;
}

/** All that it ever read, from files and from sockets, in bytes. */
export function readBytes(pid: number): number {
  return Number(/^rchar: (\d+)$/m.exec(readFileSync(`/proc/${pid}/io`, "utf8"))?.[1]);
}

export type Memory = {
  readonly rssMiB: number;
  /** Of it what is mapped from no file; Node's own program is. */
  readonly anonMiB: number;
  readonly peakMiB: number;
};

export function memory(pid: number): Memory {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  const kib = (key: string): number =>
    Number(new RegExp(`^${key}:\\s+(\\d+) kB`, "m").exec(status)?.[1]);
  return {
    rssMiB: kib("VmRSS") / 1024,
    anonMiB: kib("RssAnon") / 1024,
    peakMiB: kib("VmHWM") / 1024,
  };
}
