// The pictures of a soak: every point where it belongs, readable on light and dark pages.
import assert from "node:assert/strict";
import { test } from "node:test";
import { drawChart } from "./charts.ts";

test("a line goes through its points, from the least minute to the last, above zero", () => {
  const points = [
    [0, 0],
    [50, 100],
    [100, 50],
  ] as const;
  const svg = drawChart({ title: "a & b", unit: "MiB", series: [{ name: "one", points }] });
  assert.match(svg, /<path class="line s0" d="M56\.0 244\.0L400\.0 44\.0L744\.0 144\.0"\/>/);
  assert.match(svg, /a &amp; b, MiB/);
  assert.match(svg, /prefers-color-scheme: dark/);
});

test("on a logarithmic scale each power of ten is as high as the others", () => {
  const points = [
    [0, 10],
    [1, 100],
    [2, 1000],
  ] as const;
  const series = [{ name: "one", points, dots: true }];
  const svg = drawChart({ title: "t", unit: "ms", series, logarithmic: true });
  const heights = Array.from(svg.matchAll(/cy="([\d.]+)" r="2"/g), ([, cy]) => Number(cy));
  assert.deepEqual(heights, [244, 144, 44]);
});

test("a chart without a single point is still one", () => {
  const svg = drawChart({ title: "t", unit: "", series: [{ name: "one", points: [] }] });
  assert.doesNotMatch(svg, /NaN|Infinity/);
});
