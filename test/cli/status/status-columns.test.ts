// What the tables of `secretcast status` say of a verdict that changes by itself.
import assert from "node:assert/strict";
import { test } from "node:test";
import { troubleColumns, troublesOf } from "../../../src/cli/status/status-columns.ts";
import { statusItems } from "../../../src/cli/status/status-items.ts";
import { groupRows } from "../../../src/page/groups.ts";
import { heldRow } from "../../support/planner/held-row.ts";

test("table and JSON of status say when a held removal is made, and unless what", async () => {
  // Half a second more, so that the test has some time for a whole number of seconds.
  const now = Date.now();
  const rows = [heldRow("team-a", { dueAt: 28 * 60_000 + 500 })];
  const shown = await groupRows(rows, { offsetMs: now, beganAt: 0 });
  const nothing = { total: 0, shown: [] };
  const items = statusItems({ groups: { total: 1, shown }, sources: nothing });
  const [outcome] = items[0]?.outcomes ?? [];
  assert.equal(outcome?.dueAt, new Date(now + 28 * 60_000 + 500).toISOString());
  assert.deepEqual(
    [outcome?.hold, outcome?.dueWords, outcome?.unless],
    ["edit", "will be deleted", "the change is undone"],
  );
  const reason = troubleColumns(true).find(({ header }) => header === "REASON");
  const [trouble] = troublesOf(items);
  assert.ok(reason && trouble);
  assert.match(
    reason.cell(trouble),
    /; held, because the source stopped wanting copies in many namespaces, or in most; will be deleted at \d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC \(in 28m\) unless the change is undone$/,
  );
});

test("a pipe and -o wide name every place, and a terminal three of them", () => {
  const places = Array.from({ length: 20 }, (_, n) => `team-${n}/registry`);
  const row = { source: "shared/registry", verdict: "backoff", reason: "no", places, count: 20 };
  const cell = (whole: boolean) =>
    troubleColumns(whole)
      .find(({ header }) => header === "PLACES")
      ?.cell(row);
  assert.equal(cell(true), places.join(", "));
  assert.match(cell(false) ?? "", /^(\S+, ){2}\S+ and 17 more$/);
});
