// What syncs say of themselves: each thing once, and nothing on a quiet cluster. On a fake clock.
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  faults,
  isWrite,
  Rig,
  type Line,
  type Started,
  refuse,
} from "../../support/controller/fake-clock-controller.ts";

const warnings = (started: Started): readonly Line[] =>
  started.lines.filter(({ level }) => level === "warn");

test("CL-17 passes, repairs and propagation are counted, from zero on", async () => {
  const rig = new Rig("team-a", "team-b");
  const started = rig.start();
  assert.equal(await started.metric("secretcast_syncs_total", { result: "error" }), 0);
  assert.equal(await started.metric("secretcast_drift_repaired_total", { kind: "deleted" }), 0);
  await rig.clock.advance(5000);
  assert.ok((await started.metric("secretcast_syncs_total", { result: "ok" })) >= 2);
  assert.equal(await started.metric("secretcast_copies", { state: "current" }), 2);
  assert.equal(await started.metric("secretcast_writes_total", { verb: "create" }), 2);
  rig.api.removeSecret("team-a/registry");
  await rig.clock.advance(5000);
  assert.equal(await started.metric("secretcast_drift_repaired_total", { kind: "deleted" }), 1);
  const converged = await started.metric("secretcast_last_converged_timestamp_seconds");
  assert.ok(rig.clock.now() / 1000 - converged <= 5);
});

test("CL-17 propagation runs from the change of a source or namespace, and not from drift", async () => {
  const rig = new Rig("team-a");
  const slow = faults(
    isWrite,
    () => new Promise((resolve) => rig.clock.setTimeout(() => resolve(0), 2000)),
  );
  const started = await rig.run(5000, { before: slow.before });
  slow.on = true;
  const count = (): Promise<number> => started.metric("secretcast_propagation_seconds_count");
  rig.api.removeSecret("team-a/registry");
  await rig.clock.advance(10_000);
  assert.equal(await count(), 0, "drift is none");
  rig.api.namespace("elsewhere");
  await rig.clock.advance(600_000);
  rig.api.removeSecret("team-a/registry");
  await rig.clock.advance(10_000);
  assert.equal(await count(), 0, "nor long after a change that asked for nothing");
  rig.api.namespace("team-b");
  await rig.clock.advance(10_000);
  assert.equal(await count(), 1);
  assert.equal(await started.metric("secretcast_propagation_seconds_sum"), 2);
});

test("a sync that wrote is one line with its counts, unlike a quiet hour", async () => {
  const rig = new Rig("team-a", "team-b", "team-c");
  const started = await rig.run(5000);
  const synced = started.lines.filter(({ msg }) => msg === "synced");
  assert.deepEqual(
    synced.map(({ create, current }) => ({ create, current })),
    [{ create: 3, current: 3 }],
  );
  const lines = started.lines.length;
  await rig.clock.advance(3_600_000);
  assert.deepEqual(started.lines.slice(lines), []);
});

test("a conflict, a refusal and a failure are reported when they begin and return", async () => {
  const rig = new Rig("team-a", "team-b");
  rig.api.secret("team-a/registry", {}, { mine: "hunter2" });
  rig.source("shared/bad", { password: "hunter2" }, "team-[a]");
  const sick = faults(isWrite, refuse("forbidden"));
  const started = await rig.run(3_600_000, { before: sick.before });
  assert.deepEqual(
    warnings(started).map(({ msg }) => msg),
    ["source refused", "in conflict with unmanaged Secrets"],
  );
  rig.api.removeSecret("team-a/registry");
  await rig.clock.advance(5000);
  rig.api.removeSecret("team-a/registry");
  rig.api.secret("team-a/registry", {}, { mine: "hunter2" });
  await rig.clock.advance(5000);
  const conflicts = warnings(started).filter(({ msg }) => msg.startsWith("in conflict"));
  assert.deepEqual(
    conflicts.map(({ reason }) => String(reason).slice(0, 44)),
    [
      "a Secret of that name already exists. Delete",
      "a Secret that the cache does not show is in ",
      "a Secret of that name already exists. Delete",
    ],
  );
  const over = started.lines.filter(({ msg }) => msg.startsWith("resolved: in conflict"));
  assert.equal(over.length, 1, "another reason is no end");
  sick.on = true;
  rig.source("shared/registry", { password: "hunter2" });
  await rig.clock.advance(1000);
  assert.equal(warnings(started).at(-1)?.msg, "write failed, will try again");
  assert.doesNotMatch(JSON.stringify(started.lines), /hunter2|aHVudGVyMg/);
});

test("a dry run tells each write once and makes none", async () => {
  const rig = new Rig("team-a", "team-b");
  const started = await rig.run(600_000, { given: { "dry-run": true, resync: "1m" } });
  assert.deepEqual(rig.api.writes, []);
  const reported = started.lines
    .filter(({ msg }) => msg === "would write")
    .map(({ place }) => place);
  assert.equal(reported.length, 2);
  assert.deepEqual(new Set(reported), new Set(["team-a/registry", "team-b/registry"]));
});
