// What users and administrators are told of removals that wait for the hold.
import { because, followedBy } from "../../../src/controller/model/reasons.ts";
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Plan, Row } from "../../../src/controller/model/verdicts.ts";
import { heldBy } from "../../../src/controller/model/removal-holds.ts";
import { Rig } from "../../support/controller/fake-clock-controller.ts";
import { Cluster } from "../../support/planner/planner-cluster.ts";
import { reporterOf } from "../../support/telemetry/sent-events.ts";
import { heldRow, type HeldRow } from "../../support/planner/held-row.ts";

const NOON_MS = Date.UTC(2026, 10, 25, 12);
const LEASE = { namespace: "tools", name: "secretcast", uid: "uid-of-lease" };
const LIST = { namespace: "secretcast", name: "secretcast-sources" };
const IN_28_MIN = 28 * 60_000;
const DUE = "at 2026-11-25 12:28:00 UTC (in 28m)";

/** Events of plans with these rows, on a clock that starts at noon. */
function narrator({
  elected = true,
  mayName = (namespace: string): boolean => namespace === "shared",
} = {}) {
  let now = 0;
  const empty = new Cluster().plan();
  const { onPlan } = reporterOf({
    mayName,
    uidOf: (_, { namespace, name }) => (namespace === "platform" ? undefined : `uid-of-${name}`),
    lease: () => (elected ? LEASE : undefined),
    now: () => now,
    startMs: NOON_MS,
  });
  return {
    advance: (ms: number) => void (now += ms),
    /** `OBJECT: NOTE` of each Event that is new. */
    settle: (rows: readonly Row[], changes: Partial<Plan> = {}): readonly string[] =>
      onPlan({ ...empty, ...changes, rows }).map(({ kind, on, type, reason, note }) => {
        return `${kind} ${on.namespace}/${on.name} ${type} ${reason}: ${note}`;
      }),
  };
}

const list: Plan["list"] = {
  state: "read",
  reason: undefined,
  ref: LIST,
  uid: "uid-of-list",
  entries: 1,
  refused: [],
  absent: [],
};

test("a held removal is reported once on its source, with time and duration", () => {
  const { settle, advance } = narrator();
  const rows = ["team-b", "team-a"].map((name) => heldRow(name, { dueAt: IN_28_MIN }));
  assert.deepEqual(settle(rows), [
    `Secret shared/registry Warning Held: not deleted in 2 namespaces (team-a, team-b): source shared/registry no longer wants this place; held, because the source stopped wanting copies in many namespaces, or in most; will be deleted ${DUE} unless the change is undone`,
  ]);
  advance(10 * 60_000);
  assert.deepEqual(settle(rows), [], "the time that is left is no news");
  const later = rows.map((row) => ({ ...row, dueAt: 2 * IN_28_MIN }));
  assert.match(settle(later).join(), /will be deleted at 2026-11-25 12:56:00 UTC \(in 46m\)/);
});

test("removals of missing sources are one Event on the Lease a minute", () => {
  const { settle, advance } = narrator();
  const lost = (n: number, changes: HeldRow): Row => {
    const source = { namespace: "platform", name: `s${n}` };
    const reason = followedBy(
      because("SourceGone", { source: `platform/s${n}` }),
      heldBy(changes.hold ?? "gone"),
    );
    return heldRow("team-a", { source, reason, lost: true, dueAt: IN_28_MIN + n, ...changes });
  };
  const rows = [0, 1, 2, 3, 4].map((n) => lost(n, { hold: "gone" }));
  assert.deepEqual(settle(rows), [
    `Lease tools/secretcast Warning Held: not deleted in 1 namespace (team-a); sources: platform/s0, platform/s1, platform/s2 and 2 more: source platform/s0 is gone; held, because the source no longer exists; will be deleted ${DUE} unless the source is created again`,
  ]);
  assert.deepEqual(settle(rows), []);
  const more = [...rows, lost(9, { hold: "gone" })];
  assert.deepEqual(settle(more), []);
  advance(60_000);
  assert.equal(settle(more).length, 1);
});

test("a controller without a Lease sends no Event about sources that no longer exist", () => {
  const rows = [heldRow("team-a", { hold: "gone", lost: true, dueAt: IN_28_MIN })];
  assert.equal(narrator().settle(rows).length, 1);
  assert.deepEqual(narrator({ elected: false }).settle(rows), []);
});

test("removals of a list entry are reported on the list with its key", () => {
  const { settle } = narrator();
  const entry = heldRow("team-a", { hold: "entry", entry: "wildcard", dueAt: IN_28_MIN });
  const forged = heldRow("team-b", { hold: "gone", entry: "a b\n", lost: true });
  const lines = settle([entry, forged], { list });
  assert.equal(lines.length, 2);
  assert.match(
    lines[0] ?? "",
    /^ConfigMap secretcast\/secretcast-sources Warning Held: entry wildcard: not deleted in 1 namespace \(team-a\): .*the source list no longer has the entry that made the copy; will be deleted at .* unless the entry is put back$/,
  );
  assert.match(lines[1] ?? "", /^Lease tools\/secretcast /);
});

test("a source in a namespace that publishes by * alone is told counts, no names", () => {
  const source = { namespace: "anyone", name: "registry" };
  const rows = [heldRow("team-a", { source, dueAt: IN_28_MIN })];
  const [line = ""] = narrator({ mayName: () => false }).settle(rows);
  assert.match(line, / Held: not deleted in 1 namespace: /);
});

test("a pulling Secret learns when its entries are to be removed", () => {
  const source = { namespace: "platform", name: "tls" };
  const place = { namespace: "shared", name: "mine" };
  const pulling = heldRow("shared", { place, source, pulling: true, dueAt: IN_28_MIN });
  const [line = ""] = narrator().settle([
    { ...pulling, reason: because("EntryRefused", { problem: "not for its owner" }) },
  ]);
  assert.match(line, /^Secret shared\/mine Warning Held: its entries stay for now: there is/);
  assert.match(line, /; will be emptied at 2026-11-25 12:28:00 UTC \(in 28m\)/);
  assert.doesNotMatch(line, /not for its owner/);
});

test("the log says when held removals are made, in UTC and as a duration", async () => {
  const rig = new Rig();
  rig.teams(...Array.from({ length: 3 }, (_, n) => `team-${n}`));
  const started = await rig.run(10_000, {
    given: { "delete-hold": "5m", resync: "0" },
  });
  rig.source("shared/registry", { password: "one" }, "other");
  await rig.clock.advance(30_000);
  const lines = started.lines.filter(({ msg }) => msg === "held");
  assert.equal(lines.length, 1, JSON.stringify(started.lines));
  const [line] = lines;
  assert.match(String(line?.["due"]), /^will be deleted at \d{4}-\S+ \S+ UTC \(in .*\) unless /);
  assert.match(String(line?.["dueAt"]), /^\d{4}-\d\d-\d\dT.*Z$/);
});
