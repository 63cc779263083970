// Rows put together for reading, with the time at which something happens by itself.
import { because } from "../../src/controller/model/reasons.ts";
import assert from "node:assert/strict";
import { test } from "node:test";
import { groupRows } from "../../src/page/groups.ts";
import { heldRow } from "../support/planner/held-row.ts";

const OFFSET_MS = Date.UTC(2026, 10, 25, 1, 10);
const TIMES = { offsetMs: OFFSET_MS, beganAt: 0 };

test("held removals say when the first is made, and what prevents it", async () => {
  const rows = [
    heldRow("team-b", { dueAt: 1_900_000 }),
    heldRow("team-a", { dueAt: 1_830_000 }),
    heldRow("team-c", { dueAt: 1_830_000, end: "release" }),
  ];
  const groups = await groupRows(rows, TIMES);
  assert.deepEqual(
    groups.map(({ places, dueAt, dueMs, dueWords, hold, unless }) => {
      return [places.shown.join(), dueAt, dueMs, dueWords, hold, unless];
    }),
    [
      [
        "team-b/registry,team-a/registry",
        "2026-11-25T01:40:30.000Z",
        Date.UTC(2026, 10, 25, 1, 40, 30),
        "will be deleted",
        "edit",
        "the change is undone",
      ],
      [
        "team-c/registry",
        "2026-11-25T01:40:30.000Z",
        Date.UTC(2026, 10, 25, 1, 40, 30),
        "will be released",
        "edit",
        "the change is undone",
      ],
    ],
  );
});

test("every verdict with a due time has it as RFC 3339", async () => {
  const plain = {
    hold: undefined,
    removal: undefined,
    reason: because("WriteFailed", { error: "r" }),
  } as const;
  const due = { ...plain, dueAt: 60_000 };
  const rows = [
    heldRow("a", { ...due, verdict: "delete" }),
    heldRow("b", { ...due, verdict: "backoff", failure: { cause: "quota", triedAt: 1000 } }),
    heldRow("c", { ...due, verdict: "conflict" }),
    heldRow("d", { ...due, verdict: "frozen" }),
    heldRow("e", { ...due, verdict: "release", pulling: true }),
    heldRow("f", { ...plain, verdict: "wait" }),
  ];
  const groups = await groupRows(rows, TIMES);
  assert.deepEqual(
    Object.fromEntries(groups.map(({ verdict, dueWords, dueAt }) => [verdict, [dueWords, dueAt]])),
    {
      backoff: ["will be retried", "2026-11-25T01:11:00.000Z"],
      conflict: ["will be checked again", "2026-11-25T01:11:00.000Z"],
      frozen: ["will be checked again", "2026-11-25T01:11:00.000Z"],
      delete: ["will be deleted", "2026-11-25T01:11:00.000Z"],
      release: ["will be emptied", "2026-11-25T01:11:00.000Z"],
      wait: [undefined, undefined],
    },
  );
});
