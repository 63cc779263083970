import assert from "node:assert/strict";
import { test } from "node:test";
import {
  formatDuration,
  parseDuration,
  parseSize,
} from "../../../src/controller/settings/units.ts";

test("a duration reads as Go writes it", () => {
  const cases: readonly (readonly [string, number])[] = [
    ["0", 0],
    ["500ms", 500],
    ["10s", 10_000],
    ["1h30m", 5_400_000],
    ["1.5s", 1500],
    ["2h0m0.5s", 7_200_500],
  ];
  for (const [text, ms] of cases) assert.equal(parseDuration(text), ms, text);
});

test("a duration that is none is refused by name", () => {
  for (const text of ["", "10", "10 s", "-5s", "s", "1d", "5m!", "1h30"])
    assert.throws(
      () => parseDuration(text),
      { name: "RangeError", message: /is not a duration/ },
      text,
    );
});

test("a size reads as Kubernetes writes it", () => {
  const cases: readonly (readonly [string, number])[] = [
    ["0", 0],
    ["1048576", 1_048_576],
    ["256Mi", 268_435_456],
    ["1.5G", 1_500_000_000],
    ["2e6", 2_000_000],
    ["64k", 64_000],
  ];
  for (const [text, bytes] of cases) assert.equal(parseSize(text), bytes, text);
});

test("a size that is none is refused by name", () => {
  for (const text of ["", "Mi", "-1", "256 Mi", "256MB", "1mi"])
    assert.throws(() => parseSize(text), { name: "RangeError", message: /is not a size/ }, text);
});

test("a formatted duration reads back as itself", () => {
  for (const ms of [0, 7, 500, 1000, 1500, 90_000, 600_000, 5_400_000])
    assert.equal(parseDuration(formatDuration(ms)), ms);
});
