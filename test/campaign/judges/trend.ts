// Whether a figure that is taken again and again grows: a line by ordinary least squares, and how sure
// its slope is. Samples seconds apart follow each other, so they are not independent and would make the
// slope look surer than it is: they are averaged over blocks of minutes first.
import { sum } from "../../../bench/scorecard.ts";

export type Point = { readonly x: number; readonly y: number };
export type Line = {
  /** Of y, for one of x. */
  readonly slope: number;
  /** The slope is within `slope` ± this, with 95 % confidence. */
  readonly within: number;
  readonly mean: number;
};

/** One point for each block of that width in x, its mean or its least; a block without points is none. */
export function blocks(
  points: readonly Point[],
  width: number,
  level: (values: readonly number[]) => number = mean,
): readonly Point[] {
  const grouped = Map.groupBy(points, ({ x }) => Math.floor(x / width));
  return Array.from(grouped.values(), (group) => ({
    x: mean(group.map(({ x }) => x)),
    y: level(group.map(({ y }) => y)),
  }));
}

/** Of fewer than four points nothing can be said: undefined. */
export function fitLine(points: readonly Point[]): Line | undefined {
  const free = points.length - 2;
  if (free < 2) return undefined;
  const [middle, level] = [mean(points.map(({ x }) => x)), mean(points.map(({ y }) => y))];
  const spread = sum(points.map(({ x }) => (x - middle) ** 2));
  if (spread === 0) return undefined;
  const slope = sum(points.map(({ x, y }) => (x - middle) * (y - level))) / spread;
  const residual = sum(points.map(({ x, y }) => (y - level - slope * (x - middle)) ** 2));
  return { slope, within: quantileOfT(free) * Math.sqrt(residual / free / spread), mean: level };
}

// Cornish-Fisher's expansion of Student's t about the normal distribution, at 97.5 %: within 1 % of
// the tables from four degrees of freedom on, and above them below that.
function quantileOfT(free: number): number {
  const z = 1.959964;
  return (
    z +
    (z ** 3 + z) / (4 * free) +
    (5 * z ** 5 + 16 * z ** 3 + 3 * z) / (96 * free ** 2) +
    (3 * z ** 7 + 19 * z ** 5 + 17 * z ** 3 - 15 * z) / (384 * free ** 3)
  );
}

const mean = (values: readonly number[]): number => sum(values) / values.length;
