// What the records of a long soak say: whether memory and handles are flat once the process is warm,
// whether it takes longer in the end than in the beginning, and whether all was right.
import { quantile } from "../../../bench/scorecard.ts";
import {
  isLatency,
  isSample,
  LATENCIES,
  LOST_LEASE,
  type Latency,
  type Sample,
  type SoakRecord,
} from "./records.ts";
import { blocks, fitLine, type Line } from "./trend.ts";

export type SoakVerdict = {
  readonly lines: readonly string[];
  readonly problems: readonly string[];
};

type Trend = {
  readonly name: string;
  readonly unit: string;
  /** Growth that is certain and above so much an hour is a leak. */
  readonly most: number;
  readonly of: (sample: Sample) => number;
  /** Where there are too few samples for a slope: its least may grow by so much. */
  readonly short?: number;
  /** What stands for a block of minutes; the mean unless it says otherwise. */
  readonly level?: (values: readonly number[]) => number;
};
const TRENDS: readonly Trend[] = [
  { name: "RSS", unit: "MiB", most: 2, of: ({ rssMiB }) => rssMiB },
  // Node's own program is mapped from a file, and comes into memory as more of it is run.
  {
    name: "RSS but for mapped files",
    unit: "MiB",
    most: 2,
    of: ({ anonMiB = Number.NaN }) => anonMiB,
  },
  // What Node, OpenSSL and the C library allocate; and pages that V8 gave up, but keeps for the next time.
  {
    name: "outside V8's heap and of no file",
    unit: "MiB",
    most: 1,
    of: ({ anonMiB = Number.NaN, heldMiB = Number.NaN }) => anonMiB - heldMiB,
  },
  { name: "heap in use", unit: "MiB", most: 1, of: ({ heapMiB }) => heapMiB },
  // What is in use also holds what nobody needs any more, and V8 lets that grow.
  {
    name: "heap that collections leave",
    unit: "MiB",
    most: 1,
    short: 20,
    of: ({ heapMiB }) => heapMiB,
    level: (values) => Math.min(...values),
  },
  { name: "open files and sockets", unit: "", most: 1, short: 20, of: ({ fds }) => fds },
  {
    name: "timers, sockets and requests",
    unit: "",
    most: 1,
    short: 20,
    of: ({ resources }) => resources,
  },
];
const BLOCK_H = 1 / 24;
/** In less time the least of a third may have seen no collection and no calm moment. */
const SHORTEST_S = 180;
/** A median that grew by both is drift. */
const DRIFT = { times: 1.5, ms: 20 };
/** Of fewer in a quarter one that is slow by chance would be the judgement. */
const FEWEST_OF_A_QUARTER = 10;

export function judgeSoak(records: readonly SoakRecord[]): SoakVerdict {
  const samples = records.filter(isSample);
  const end = records.find(({ kind }) => kind === "end");
  const parts = [
    before(records, samples),
    growth(samples),
    ...LATENCIES.map((what) =>
      drift(
        what,
        records.filter(isLatency).filter((one) => one.what === what),
      ),
    ),
    end?.kind === "end"
      ? { lines: end.said, problems: end.wrong }
      : { lines: ["the run has not ended, or was cut short"], problems: [] },
  ];
  return {
    lines: parts.flatMap(({ lines }) => lines),
    problems: parts.flatMap(({ problems }) => problems),
  };
}

/** It has lost its Lease; or it began during a fault, and outside a cluster it says so and ends. */
const MAY_END = /lease|cannot reach the API server/;

function before(records: readonly SoakRecord[], samples: readonly Sample[]): SoakVerdict {
  const first = samples[0];
  const last = samples.at(-1);
  if (!first || !last) return { lines: [], problems: ["there are no samples"] };
  const minutes = ((last.s - first.s) / 60).toFixed(0);
  const deaths = records.filter((one) => one.kind === "ended");
  const rate = (last.changes - first.changes) / (last.s - first.s);
  const sameLife = samples.filter(({ life }) => life === last.life);
  const busyMs = last.cpuMs - (sameLife[0]?.cpuMs ?? 0);
  const share = busyMs / 1000 / (last.s - (sameLife[0]?.s ?? 0));
  return {
    lines: [
      `${minutes} minutes, ${samples.length} samples, ${last.changes} changes (${rate.toFixed(1)} a second), ${last.life} processes`,
      `${(100 * share).toFixed(1)} % of a core; copies ${range(samples, ({ copies }) => copies)}; load of the machine ${range(samples, ({ load }) => load)}`,
    ],
    problems: deaths
      .filter(({ code, last: said }) => code !== LOST_LEASE || !MAY_END.test(said))
      .map(({ s, code, last: said }) => `it ended at ${s.toFixed(0)} s with ${code}: ${said}`),
  };
}

/**
 * Of the second half of the process that ran longest, when all caches are warm. What grew then, and in the
 * last quarter certainly by no more than it may, was warming up still: a leak goes on.
 */
function growth(samples: readonly Sample[]): SoakVerdict {
  const lives = Array.from(Map.groupBy(samples, ({ life }) => life).values());
  const longest = lives.toSorted((a, b) => b.length - a.length)[0] ?? [];
  const half = longest.slice(longest.length >> 1);
  const quarter = half.slice(half.length >> 1);
  const lines: string[] = [];
  const problems: string[] = [];
  for (const trend of TRENDS) {
    const { name, unit, most, of } = trend;
    const line = lineOf(half, trend);
    if (!line) {
      const grew = grownLeast(longest, trend);
      lines.push(`${name}: too few samples for a slope; the least grew by ${grew.toFixed(1)}`);
      if (grew > (trend.short ?? Number.POSITIVE_INFINITY))
        problems.push(`it grows: ${lines.at(-1)}`);
      continue;
    }
    const text = `${name}: ${line.mean.toFixed(1)} ${unit}, ${slopeText(line, unit)}, from ${range(half, of)}`;
    lines.push(text);
    if (line.slope - line.within <= most) continue;
    const late = lineOf(quarter, trend);
    if (late) lines.push(`${name}, in the last quarter: ${slopeText(late, unit)}`);
    if (!late || late.slope + late.within > most) problems.push(`it grows: ${text}`);
  }
  return { lines, problems };
}

/** From the first third to the last; NaN of too few samples. */
function grownLeast(samples: readonly Sample[], { of }: Trend): number {
  const lastedS = (samples.at(-1)?.s ?? 0) - (samples[0]?.s ?? 0);
  const third = Math.floor(samples.length / 3);
  if (third === 0 || lastedS < SHORTEST_S) return Number.NaN;
  const least = (some: readonly Sample[]): number => Math.min(...some.map(of));
  return least(samples.slice(-third)) - least(samples.slice(0, third));
}

function lineOf(samples: readonly Sample[], { of, level }: Trend): Line | undefined {
  const points = samples
    .map((one) => ({ x: one.s / 3600, y: of(one) }))
    .filter(({ y }) => !Number.isNaN(y));
  return fitLine(blocks(points, BLOCK_H, level));
}

function slopeText({ slope, within }: Line, unit: string): string {
  return `slope ${slope.toFixed(2)} ± ${within.toFixed(2)} ${unit}/h (95 %)`;
}

function drift(what: string, all: readonly Latency[]): SoakVerdict {
  if (all.length === 0) return { lines: [], problems: [] };
  const calm = all.filter((one) => one.calm).map(({ ms }) => ms);
  const stormy = all.filter((one) => !one.calm).map(({ ms }) => ms);
  const quarter = calm.length >> 2;
  const [early, late] = [calm.slice(0, quarter), calm.slice(calm.length - quarter)];
  const show = (values: readonly number[]): string =>
    `p50 ${quantile(values, 0.5).toFixed(0)}, p99 ${quantile(values, 0.99).toFixed(0)} ms`;
  const lines = [
    `${what}: ${show(calm)} of ${calm.length} when calm; ${show(stormy)} of ${stormy.length} with faults`,
    `${what}, first quarter ${show(early)}, last quarter ${show(late)}`,
  ];
  const [a, b] = [quantile(early, 0.5), quantile(late, 0.5)];
  const enough = quarter >= FEWEST_OF_A_QUARTER;
  const drifted = enough && b > DRIFT.times * a && b - a > DRIFT.ms;
  return { lines, problems: drifted ? [`it became slower: ${lines[1]}`] : [] };
}

function range(samples: readonly Sample[], of: (one: Sample) => number): string {
  const values = samples.map(of);
  return `${round(Math.min(...values))} to ${round(Math.max(...values))}`;
}

const round = (value: number): string => value.toFixed(Number.isInteger(value) ? 0 : 1);
