// What a benchmark says: figures with their targets, printed as they come. Times on a shared machine
// mean little alone, so most figures are ratios of medians that were measured in turns in one run.

export type Target = {
  readonly atMost?: number;
  readonly atLeast?: number;
  /** Judged in a quick run too. */
  readonly exact?: boolean;
};

export type Figure = Target & {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
};

export type Bench = {
  readonly name: string;
  readonly about: string;
  /** Names of what can be run alone. */
  readonly parts?: readonly string[];
  /** Runs in a quick run only if it is named, because it takes more than seconds. */
  readonly alone?: true;
  run(how: How): Promise<void>;
};

export type How = {
  /** Small enough to end within seconds; its times are not judged. */
  readonly quick: boolean;
  /** Which parts to run; none: all. */
  readonly parts: readonly string[];
  readonly say: (line: string) => void;
  /** A time or a size, which is judged only in a full run on a quiet machine. */
  readonly figure: (name: string, value: number, unit: string, target?: Target) => void;
  /** Counts are always judged. */
  readonly count: (name: string, value: number, target: Target) => void;
  /** Called in reverse order when the benchmark has ended. */
  readonly after: (clean: () => unknown) => void;
};

/** Runs `work` with a cleaning of its own: what it gave to `after` is called as soon as it is over. */
export async function scoped<T>(how: How, work: (how: How) => Promise<T>): Promise<T> {
  const cleaning: (() => unknown)[] = [];
  try {
    return await work({ ...how, after: (clean) => void cleaning.push(clean) });
  } finally {
    for (const clean of cleaning.toReversed()) await clean();
  }
}

export type Part = (how: How) => Promise<void>;

/** Runs those parts of a benchmark that are asked for, each with a cleaning of its own. */
export async function runParts(how: How, parts: Readonly<Record<string, Part>>): Promise<void> {
  for (const [name, part] of Object.entries(parts))
    if (how.parts.length === 0 || how.parts.includes(name)) await scoped(how, part);
}

export function missed({ value, atMost, atLeast }: Figure): boolean {
  return !(value <= (atMost ?? value) && value >= (atLeast ?? value));
}

/** `judged`: whether it counts that a target is missed. */
export function lineOf(figure: Figure, judged: boolean): string {
  const { name, value, unit, atMost, atLeast } = figure;
  const target =
    atMost !== undefined ? `at most ${atMost}` : atLeast !== undefined ? `at least ${atLeast}` : "";
  const verdict = target === "" || !judged ? "" : missed(figure) ? " MISSED" : " ok";
  return `${name.padEnd(58)} ${rounded(value).padStart(10)} ${unit.padEnd(10)} ${target}${verdict}`;
}

/** Three digits that mean something. */
export function rounded(value: number): string {
  const digits = Math.abs(value) >= 100 || Number.isInteger(value) ? 0 : value >= 10 ? 1 : 2;
  return value.toFixed(digits);
}

export function quantile(values: readonly number[], q: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))] ?? Number.NaN;
}

/** Of an even number the mean of the middle two. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : (upper + (sorted[middle - 1] ?? upper)) / 2;
}

export const sum = (values: readonly number[]): number => values.reduce((a, b) => a + b, 0);
