import assert from "node:assert/strict";
import { test } from "node:test";
import {
  dueText,
  dueWordsOf,
  isoTime,
  whenText,
} from "../../../src/controller/settings/due-text.ts";

const NOW = Date.UTC(2026, 10, 25, 1, 12, 30);
const MINUTE = 60_000;

test("a time is said in UTC and as a duration", () => {
  const cases: readonly (readonly [number, string])[] = [
    [28 * MINUTE, "at 2026-11-25 01:40:30 UTC (in 28m)"],
    [10_000, "at 2026-11-25 01:12:40 UTC (in 10s)"],
    [90_400, "at 2026-11-25 01:14:00 UTC (in 1m30s)"],
    [61 * MINUTE + 20_000, "at 2026-11-25 02:13:50 UTC (in 1h1m)"],
    [0, "at 2026-11-25 01:12:30 UTC (now)"],
    [-5000, "at 2026-11-25 01:12:25 UTC (now)"],
  ];
  for (const [ms, text] of cases) assert.equal(whenText(NOW + ms, NOW), text);
});

test("what happens then follows from the verdict, and a held removal says what prevents it", () => {
  const pulling = false;
  const said = (row: Parameters<typeof dueWordsOf>[0]): string =>
    dueText(dueWordsOf(row), NOW + 28 * MINUTE, NOW);
  const at = "at 2026-11-25 01:40:30 UTC (in 28m)";
  assert.equal(
    said({ verdict: "held", pulling, removal: { end: "delete", hold: "edit" } }),
    `will be deleted ${at} unless the change is undone`,
  );
  assert.equal(
    said({ verdict: "held", pulling, removal: { end: "release", hold: "gone" } }),
    `will be released ${at} unless the source is created again`,
  );
  assert.equal(said({ verdict: "delete", pulling }), `will be deleted ${at}`);
  assert.equal(said({ verdict: "release", pulling }), `will be released ${at}`);
  assert.equal(said({ verdict: "release", pulling: true }), `will be emptied ${at}`);
  const kept = {
    verdict: "held",
    pulling: true,
    removal: { end: "release", hold: undefined },
  } as const;
  assert.equal(said(kept), `will be released ${at}`);
  assert.equal(said({ verdict: "backoff", pulling }), `will be retried ${at}`);
  assert.equal(said({ verdict: "conflict", pulling }), `will be checked again ${at}`);
});

test("a time beyond what a Date can hold is no error", () => {
  assert.equal(isoTime(Number.MAX_SAFE_INTEGER), "+275760-09-13T00:00:00.000Z");
  assert.match(whenText(Number.MAX_SAFE_INTEGER, NOW), /^at \+275760-09-13 00:00:00 UTC/);
});
