// What only the running controller knows is explained from its page; everything else from the cluster.
import assert from "node:assert/strict";
import { test } from "node:test";
import { explanationItems } from "../../../src/cli/explain/explanation-items.ts";
import { withLiveRows } from "../../../src/cli/explain/live-rows.ts";
import { explain } from "../../../src/cli/explanation/explain.ts";
import type { Verdict } from "../../../src/controller/model/verdicts.ts";
import type { StatusGroup } from "../../../src/page/groups.ts";
import { cluster } from "../../support/planner/explained.ts";

function group(verdict: Verdict, reason: string, ...places: readonly string[]): StatusGroup {
  return {
    kind: "Secret",
    source: "shared/one",
    verdict,
    state: "failed",
    code: undefined,
    reason,
    cause: verdict === "backoff" ? "quota" : undefined,
    places: { total: places.length, shown: places },
    dueMs: undefined,
    dueAt: undefined,
    dueWords: undefined,
    hold: undefined,
    unless: undefined,
    since: { ms: 0, orBefore: false },
    triedMs: undefined,
    differing: undefined,
  };
}

function explained(...groups: readonly StatusGroup[]) {
  const made = cluster({ to: "team-a,shared-x" });
  const clusterState = made.clusterState();
  const status = { groups: { total: groups.length, shown: groups } };
  const plan = withLiveRows(made.plan(), clusterState, status);
  const subject = { namespace: "shared", name: "one" };
  return explain(clusterState, made.settings, plan, subject, { namespace: "team-a" }).places[0];
}

test("a write that failed is reported with its cause, and what to do", () => {
  const place = explained(group("backoff", "quota secrets would be exceeded", "team-a/one"));
  assert.deepEqual([place?.verdict, place?.reason], ["backoff", "quota secrets would be exceeded"]);
  assert.match(place?.decided.change ?? "", /^Raise secrets in the quota, /);
});

test("what is held stays held, whatever the page says", () => {
  const held = explained(
    group("held", "3 places need 9 bytes, more than 8 (--fanout-limit)", "team-a/one"),
  );
  assert.equal(held?.verdict, "held");
  assert.equal(explained(group("conflict", "of a moment ago", "team-a/one"))?.verdict, "create");
});

test("a copy that the controller may not read is frozen, whatever the user may read", () => {
  const frozen = explained(group("frozen", "objects named one cannot be read", "team-a/one"));
  assert.deepEqual(
    [frozen?.verdict, frozen?.reason],
    ["frozen", "objects named one cannot be read"],
  );
});

test("what is no place, or of another kind, is passed over", () => {
  const odd = group("backoff", "x", "no place", "../etc/passwd", "team-a/one/two");
  assert.equal(explained(odd)?.verdict, "create");
  const other = { ...group("backoff", "x", "team-a/one"), kind: "ConfigMap" as const };
  assert.equal(explained(other)?.verdict, "create");
});

test("a removal that the controller holds has its time, and what prevents it", () => {
  const dueMs = Date.UTC(2026, 10, 25, 1, 40, 30);
  const held = explained({
    ...group("held", "no longer wanted; held", "team-a/one"),
    dueMs,
    dueWords: "will be released",
    hold: "edit",
  });
  assert.deepEqual(held?.due, { dueAt: dueMs, removal: { end: "release", hold: "edit" } });
  const [item] = held ? explanationItems({ kind: "Secret", places: [held] }) : [];
  assert.deepEqual(
    [item?.dueAt, item?.dueWords, item?.hold, item?.unless],
    ["2026-11-25T01:40:30.000Z", "will be released", "edit", "the change is undone"],
  );
});

test("a copy that waits for its successor is called so, and no deletion is announced", () => {
  const dueMs = Date.UTC(2026, 10, 25, 1, 40, 30);
  const dueWords = "will be taken over";
  const gone = group("held", "source shared/one is gone; held", "team-a/one");
  const held = explained({ ...gone, dueMs, dueWords, hold: "gone" });
  assert.deepEqual(held?.due.removal, { end: "takeover", hold: "gone" });
});
