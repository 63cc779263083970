// The line that judges a long soak: its slope is right, and it says how sure it is.
import assert from "node:assert/strict";
import { test } from "node:test";
import { seeded } from "../../../packages/kube/testing/random.ts";
import { blocks, fitLine, type Point } from "./trend.ts";

function noisy(slope: number, chance: () => number): readonly Point[] {
  return Array.from({ length: 24 }, (_, x) => ({ x, y: 100 + slope * x + chance() - 0.5 }));
}

test("slope and confidence are those of the tables: 1.0 ± 0.63 for five points", () => {
  // Sxx = 10, residuals 2/5 -3/5 2/5 -3/5 2/5: s² = 0.4; t of 3 degrees at 97.5 % is 3.182.
  const ys = [1, 1, 3, 3, 5];
  const line = fitLine(ys.map((y, x) => ({ x, y })));
  assert.ok(line);
  assert.ok(Math.abs(line.slope - 1) < 1e-9);
  const expected = 3.182 * Math.sqrt(0.4 / 10);
  assert.ok(Math.abs(line.within - expected) < 0.02 * expected, String(line.within));
});

test("the true slope is within the stated range in 95 of 100 cases", () => {
  const chance = seeded(7);
  for (const slope of [0, 0.3]) {
    const lines = Array.from({ length: 400 }, () => fitLine(noisy(slope, chance)));
    const held = lines.filter((line) => line && Math.abs(line.slope - slope) <= line.within);
    assert.ok(held.length > 365 && held.length < 395, `${held.length} of 400`);
  }
});

test("of fewer than four points, or of points at one time, nothing is said", () => {
  assert.equal(fitLine([1, 2, 3].map((x) => ({ x, y: x }))), undefined);
  assert.equal(fitLine([1, 2, 3, 4].map((y) => ({ x: 1, y }))), undefined);
});

test("a block is the mean of its points, and one without points is none", () => {
  const points = [
    { x: 0, y: 1 },
    { x: 1, y: 3 },
    { x: 9, y: 5 },
  ];
  assert.deepEqual(blocks(points, 3), [
    { x: 0.5, y: 2 },
    { x: 9, y: 5 },
  ]);
});
