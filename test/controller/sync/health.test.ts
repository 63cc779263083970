// Each row of /healthz, at the minute it begins.
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  livenessProblems,
  readinessProblems,
  type LivenessInputs,
} from "../../../src/controller/sync/health.ts";

const MINUTE = 60_000;

function at(now: number, changes: Partial<LivenessInputs> = {}): readonly string[] {
  const alive = { lastSignOfLifeMs: now };
  return livenessProblems(now, {
    watches: { secrets: alive, namespaces: alive },
    syncStartedMs: undefined,
    lastWriteMs: Number.NEGATIVE_INFINITY,
    elector: undefined,
    ...changes,
  });
}

test("CL-26 a watch without a sign of life for ten minutes is named", () => {
  const watches = { secrets: { lastSignOfLifeMs: 0 } };
  assert.deepEqual(at(10 * MINUTE, { watches }), []);
  assert.deepEqual(at(11 * MINUTE, { watches }), ["secrets: no sign of life for 660 s"]);
});

test("CL-26 a sync without a write for ten minutes is named", () => {
  const syncStartedMs = 0;
  assert.deepEqual(at(10 * MINUTE, { syncStartedMs }), []);
  assert.deepEqual(at(11 * MINUTE, { syncStartedMs }), ["sync: nothing has moved for 660 s"]);
  assert.deepEqual(at(300 * MINUTE, { syncStartedMs, lastWriteMs: 295 * MINUTE }), []);
  assert.deepEqual(at(300 * MINUTE), [], "no pass is running");
});

test("CL-26 LE-20 a lease that we hold and do not renew is named", () => {
  assert.deepEqual(at(0, { elector: { healthy: () => true } }), []);
  assert.deepEqual(at(0, { elector: { healthy: () => false } }), ["lease: held but not renewed"]);
});

test("a replica is ready with filled caches, and for half a minute of outage", () => {
  const since = (disconnectedSinceMs?: number) => ({ hasSynced: true, disconnectedSinceMs });
  const secrets = since();
  const empty = { hasSynced: false, disconnectedSinceMs: 0 };
  assert.deepEqual(readinessProblems(MINUTE, { secrets, namespaces: empty }), [
    "namespaces: cache not filled yet",
  ]);
  assert.deepEqual(readinessProblems(MINUTE, { secrets }), []);
  assert.deepEqual(readinessProblems(MINUTE, { secrets: since(MINUTE / 2) }), []);
  assert.deepEqual(readinessProblems(MINUTE, { secrets: since(MINUTE / 2 - 1000) }), [
    "secrets: watch disconnected for 31 s, its cache grows old",
  ]);
});
