// What a long soak writes down as it goes, a JSON object a line, so that a run that is cut short can
// still be judged, and a judgement be made again.
import { readFileSync } from "node:fs";

/** Of one process at one moment. */
export type Vitals = {
  readonly rssMiB: number;
  /** Of it what is mapped from no file; older records lack it. */
  readonly anonMiB?: number;
  readonly heapMiB: number;
  /** What V8 holds of memory for its heap, in use or not; older records lack it. */
  readonly heldMiB?: number;
  readonly fds: number;
  /** What keeps its event loop alive: sockets, timers, requests. */
  readonly resources: number;
  /** User and system time of the process so far. */
  readonly cpuMs: number;
  readonly lagP99Ms: number;
};

export type Sample = Vitals & {
  readonly kind: "sample";
  /** Seconds since the run began; so in every record. */
  readonly s: number;
  /** Counts the processes: 1 is the first. */
  readonly life: number;
  /** Copies that are there, and places that are not as they must be at that moment. */
  readonly copies: number;
  readonly wrong: number;
  /** Changes of the world so far. */
  readonly changes: number;
  /** Of the machine, over a minute: what else it has to do. */
  readonly load: number;
};
/** The exit code of a process that lost its Lease, or could not say that it goes. */
export const LOST_LEASE = 1;
export const LATENCIES = ["fresh namespace", "changed source"] as const;
export type Latency = {
  readonly kind: "latency";
  readonly s: number;
  readonly what: (typeof LATENCIES)[number];
  readonly ms: number;
  /** No fault for a while: what a controller without trouble takes. */
  readonly calm: boolean;
};
export type SoakRecord =
  | {
      readonly kind: "begin";
      readonly at: string;
      readonly hours: number;
      readonly seed: number;
      readonly machine: string;
    }
  | Sample
  | Latency
  /** A process ended, with this code; null: by a signal. */
  | {
      readonly kind: "ended";
      readonly s: number;
      readonly life: number;
      readonly code: number | null;
      readonly last: string;
    }
  /** The faults are over; nothing in here: all was right. */
  | {
      readonly kind: "end";
      readonly s: number;
      readonly wrong: readonly string[];
      readonly said: readonly string[];
    };

/** A last line that is cut short, by a run that was killed, is left out. */
export function readRecords(file: string): readonly SoakRecord[] {
  const lines = readFileSync(file, "utf8").split("\n");
  lines.pop();
  return lines.map((line) => JSON.parse(line) as SoakRecord);
}

export function isSample(one: SoakRecord): one is Sample {
  return one.kind === "sample";
}

export function isLatency(one: SoakRecord): one is Latency {
  return one.kind === "latency";
}
