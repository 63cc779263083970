// The watcher of hostile runs knows what is late and what was spoilt.
import assert from "node:assert/strict";
import { test } from "node:test";
import { eventually } from "../../../packages/kube/testing/eventually.ts";
import { Expectations } from "./expectations.ts";
import { LogJudge } from "./log-judge.ts";
import { Violations } from "./violations.ts";

const PLACE = "honest/registry";

function expectations(disturbedMs = -Infinity, slackMs = 0) {
  const violations = new Violations(() => undefined);
  const around = { disturbedMs: () => disturbedMs, slackMs: () => slackMs };
  return { violations, expectations: new Expectations(violations, around) };
}

test("a correct copy that others delete or change is reported", () => {
  for (const [found, word] of [
    [undefined, "deleted"],
    ["other", "changed"],
  ] as const) {
    const { violations, expectations: expected } = expectations();
    expected.expect(PLACE, "good", "fresh", { present: "good" });
    assert.equal(expected.pending, 0);
    expected.seen(PLACE, found);
    assert.match(violations.lines.join(), new RegExp(`a good copy was ${word}: ${PLACE}`));
  }
  const { violations, expectations: expected } = expectations();
  expected.expect(PLACE, "good", "fresh", { present: "good" });
  expected.take(PLACE);
  expected.seen(PLACE, undefined);
  assert.deepEqual(violations.lines, []);
});

test("what is missing past its time is reported once, in a disturbance not at all", () => {
  const late = expectations(-Infinity, -10_000);
  late.expectations.expect(PLACE, "good", "rotated", { present: undefined });
  late.expectations.round();
  late.expectations.round();
  assert.equal(late.violations.lines.length, 1);
  const disturbed = expectations(Infinity, -10_000);
  disturbed.expectations.expect(PLACE, "good", "rotated", { present: undefined });
  disturbed.expectations.round();
  assert.deepEqual(disturbed.violations.lines, []);
});

test("more than one late change in a hundred is reported at the end", async () => {
  const { violations, expectations: expected } = expectations(-Infinity, -10_000);
  const begin = (): void => {
    for (let n = 0; n < 3; n++) expected.expect(`${n}/a`, "x", "fresh", { present: "x" });
  };
  begin();
  expected.conclude();
  assert.deepEqual(violations.lines, []);
  const from = performance.now();
  await eventually("another moment", () => performance.now() - from > 600);
  begin();
  expected.conclude();
  assert.match(violations.lines.join(), /99th percentile.*fresh: 2 of 2/);
});

test("a log with one message about one place three times a minute repeats itself", () => {
  const violations = new Violations(() => undefined);
  const judge = new LogJudge(violations);
  const line = (place: string, ms: number) =>
    JSON.stringify({ time: new Date(ms).toISOString(), msg: "write failed", place });
  for (const place of ["a/b", "a/c", "a/b"]) judge.take(line(place, 0));
  judge.take(line("a/b", 60_001));
  assert.deepEqual(violations.lines, []);
  for (const ms of [60_002, 60_003]) judge.take(line("a/b", ms));
  assert.match(violations.lines.join(), /the log repeats itself: write failed a\/b/);
});

test("a source may have six lines, and one for each hundred places", () => {
  const violations = new Violations(() => undefined);
  const judge = new LogJudge(violations);
  const time = new Date(0).toISOString();
  const line = (count: number) =>
    JSON.stringify({ time, msg: "copied", source: "a/b", places: Array(count).fill("t/b") });
  for (let n = 0; n < 50; n++) judge.take(line(100));
  for (let n = 0; n < 6; n++) judge.take(line(99));
  assert.deepEqual(violations.lines, []);
  judge.take(line(99));
  assert.match(violations.lines.join(), /the log repeats itself: copied a\/b/);
});

test("a process that stops may log at once what waited for later", () => {
  const violations = new Violations(() => undefined);
  const judge = new LogJudge(violations);
  const line = JSON.stringify({ time: new Date(0).toISOString(), msg: "copied", source: "a/b" });
  for (let n = 0; n < 6; n++) judge.take(line);
  judge.stopping();
  for (let n = 0; n < 20; n++) judge.take(line);
  assert.deepEqual(violations.lines, []);
  judge.restart();
  for (let n = 0; n < 7; n++) judge.take(line);
  assert.match(violations.lines.join(), /the log repeats itself: copied a\/b/);
});
