import assert from "node:assert/strict";
import { test } from "node:test";
import { clockLines } from "../../../src/controller/report/failure-lines.ts";

test("a differing clock is one line at its begin and one at its end", () => {
  const lines: unknown[] = [];
  const line = (level: string) => (keys: unknown, message: string) =>
    void lines.push([level, keys, message]);
  const log = {
    debug: line("debug"),
    info: line("info"),
    warn: line("warn"),
    error: line("error"),
  };
  const measured = clockLines(log);
  for (const offset of [0, 600_000, 601_000, 0, 0]) measured(offset);
  const message = "this machine's clock differs from the API server's";
  assert.deepEqual(lines, [
    ["warn", { aheadSeconds: 600 }, message],
    ["info", { aheadSeconds: 0 }, `resolved: ${message}`],
  ]);
});
