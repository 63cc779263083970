import assert from "node:assert/strict";
import { test } from "node:test";
import { createLog } from "../../../src/controller/report/log.ts";
import { failureLines } from "../../../src/controller/report/failure-lines.ts";
import { FakeClock } from "../../../packages/kube/testing/fake-clock.ts";

function setup() {
  const clock = new FakeClock();
  const reported: unknown[] = [];
  const write = (line: string): void => {
    const { level, msg, error, count, afterMs, resource } = JSON.parse(line);
    reported.push(level === "warn" ? [msg, resource, error, count] : [msg, resource, afterMs]);
  };
  const log = createLog({ logLevel: "info", logFormat: "json" }, { write });
  return { clock, reported, lines: failureLines(log, clock, "failed") };
}

test("what fails is reported three times a minute, then counted, and its end once", async () => {
  const { clock, reported, lines } = setup();
  const { failed, worked } = lines.of("secrets", { resource: "secrets" });
  worked();
  for (let second = 0; second < 61; second++) {
    failed(new Error(`try ${second}`));
    await clock.advance(1000);
  }
  worked();
  worked();
  assert.deepEqual(reported, [
    ["failed", "secrets", "try 0", 1],
    ["failed", "secrets", "try 1", 1],
    ["failed", "secrets", "try 2", 1],
    ["failed", "secrets", "try 60", 58],
    ["resolved: failed", "secrets", 61_000],
  ]);
});

test("of several parts that fail together the end is that of the last", async () => {
  const { clock, reported, lines } = setup();
  const [one, two] = [lines.of("secrets"), lines.of("secrets")];
  const other = lines.of("namespaces");
  one.failed(new Error("one"));
  await clock.advance(1000);
  two.failed("no error at all");
  other.failed(new Error("other"));
  one.worked();
  assert.equal(reported.length, 3);
  two.worked();
  assert.deepEqual(reported.slice(1), [
    ["failed", undefined, "unexpected", 1],
    ["failed", undefined, "other", 1],
    ["resolved: failed", undefined, 1000],
  ]);
});

test("an end is reported only of a failure that was", async () => {
  const { clock, reported, lines } = setup();
  const { failed, worked } = lines.of("secrets");
  for (let time = 0; time < 5; time++) {
    failed(new Error("gone"));
    await clock.advance(100);
    worked();
  }
  assert.equal(reported.length, 6, "three failures and three ends");
});
