// What the log says of copies that go. On a fake clock.
import assert from "node:assert/strict";
import { test } from "node:test";
import { CopyObject } from "../../src/core/model/cluster.ts";
import { createLog } from "../../src/telemetry/log.ts";
import { RemovalLog, type RemovedCopies } from "../../src/telemetry/removal-log.ts";
import { Cluster } from "../support/planner/planner-cluster.ts";
import { FakeClock } from "../support/time/fake-clock.ts";
import { secretPath } from "../support/controller/memory-api.ts";
import { Rig } from "../support/controller/fake-clock-controller.ts";

const MINUTE_MS = 60_000;
const GONE = "0d8a3c5e-5f1b-4a51-9a55-000000000001";

test("copies of one source that go one after the other are five lines a minute, and none is left uncounted", async () => {
  const rig = new Rig();
  rig.teams("team-a");
  await rig.converge();
  const started = rig.start({ given: { "delete-grace": "0", "delete-limit": "0" } });
  await rig.clock.advance(5000);
  const copies = Array.from({ length: 12 }, (_, n) => `team-a/forged-${n}`);
  for (const place of copies) {
    rig.api.secret(place, {
      labels: { "app.kubernetes.io/managed-by": "secretcast" },
      annotations: {
        "secretcast.io/source": "shared/registry",
        "secretcast.io/source-uid": GONE,
        "secretcast.io/placed-at": place,
      },
    });
    await rig.clock.advance(4000);
  }
  const lines = () => started.lines.filter(({ msg }) => msg === "copies removed");
  assert.ok(copies.every((place) => rig.api.get(place) === undefined));
  assert.equal(lines().length, 5);
  await rig.clock.advance(15 * MINUTE_MS);
  const count = lines().reduce((sum, line) => sum + Number(line["count"]), 0);
  assert.equal(count, copies.length);
  await started.stop();
  await rig.assertRight();
});

test("of copies that a finalizer still holds the line says how many they are", async () => {
  const rig = new Rig();
  rig.teams("team-a", "team-b");
  const started = rig.start();
  await rig.clock.advance(5000);
  rig.api.put(secretPath("team-b/registry"), { metadata: { finalizers: ["example.com/hold"] } });
  rig.api.removeSecret("shared/registry");
  await rig.clock.advance(60_000);
  const lines = started.lines.filter(({ msg }) => msg === "copies removed");
  assert.deepEqual(
    lines.map(({ count, waitingForFinalizers }) => [count, waitingForFinalizers]),
    [[2, 1]],
  );
  await started.stop();
});

test("however many sources and UIDs are named on copies that go, what waits to be told has a bound", async () => {
  const clock = new FakeClock();
  const lines: { readonly msg: string; readonly count: number }[] = [];
  const write = (line: string): boolean => lines.push(JSON.parse(line)) > 0;
  const log = createLog({ logLevel: "info", logFormat: "json" }, { write });
  const events: RemovedCopies[] = [];
  const removals = new RemovalLog(log, clock, (removed) => events.push(removed));
  const cluster = new Cluster();
  cluster.namespace("shared");
  cluster.namespace("team-a");
  cluster.secret("shared/registry", { to: "team-*" });
  cluster.pass();
  const target = cluster.cached("team-a/registry");
  assert.equal(target.role, "copy");
  const plan = cluster.plan();
  const { namespace, name } = target;
  const source = { namespace: "shared", name: "registry" };
  const common = {
    objectKind: "Secret",
    place: { namespace, name },
    source,
    cause: "gone",
    reason: "gone",
    inputs: "",
  } as const;
  for (let n = 0; n < 3000; n++) {
    const face = { ...target.face, sourceUid: `uid-${n}` };
    const action = { ...common, kind: "delete", target: new CopyObject(target, face) } as const;
    removals.onOutcome({ kind: "removed", action });
  }
  for (let minute = 0; minute < 300; minute++) {
    await clock.advance(MINUTE_MS);
    removals.onPlan(plan, { settled: true, dryRun: false, planMs: 0, tookMs: 0 });
  }
  const told = (msg: string) => lines.filter((line) => line.msg === msg);
  assert.deepEqual(
    told("further copies removed").map(({ count }) => count),
    [2000],
  );
  assert.equal(told("copies removed").length, 1000);
  assert.equal(events.length, 1000);
});
