// From the first list to work: when passes run, and what becomes of one that fails. On a fake clock.
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  faults,
  hang,
  inOutage,
  isWrite,
  Rig,
  type Started,
  refuse,
} from "../../support/controller/fake-clock-controller.ts";

test("CL-03 LV-16 no sync runs before both caches are complete, and then one does", async () => {
  const rig = new Rig("team-a");
  const namespaces = faults(({ path }) => path.endsWith("/namespaces"), hang, true);
  const started = await rig.run(20_000, { before: namespaces.before });
  assert.deepEqual(started.controller.ready(), ["namespaces: cache not filled yet"]);
  assert.equal(started.syncs.length, 0);
  namespaces.on = false;
  await rig.clock.advance(60_000);
  assert.deepEqual(started.controller.ready(), []);
  assert.deepEqual(rig.api.writes, ["POST team-a"]);
  assert.equal(await started.stop(), "stopped");
});

test("CL-03 CL-19 a cache that cannot be filled is named, and tried again until it can", async () => {
  const rig = new Rig("team-a");
  const forbidden = faults(({ path }) => path.endsWith("/namespaces"), refuse("forbidden"), true);
  const started = rig.start({ before: forbidden.before });
  for (let minute = 0; minute < 30; minute++) {
    await rig.clock.advance(60_000);
    assert.deepEqual(started.controller.live(), [], "a restart would not help");
  }
  assert.deepEqual(started.controller.ready(), ["namespaces: cache not filled yet"]);
  const reported = started.lines.filter(({ resource }) => resource === "namespaces");
  assert.equal(reported[0]?.level, "warn");
  assert.match(String(reported[0]?.["error"]), /^(?:list|watch) namespaces: Forbidden/);
  assert.equal(started.syncs.length, 0);
  forbidden.on = false;
  await rig.clock.advance(60_000);
  assert.deepEqual(rig.api.writes, ["POST team-a"]);
});

test("CL-19 a stop while the caches fill is an ordinary end", async () => {
  const rig = new Rig();
  const started = await rig.run(1000, { before: hang });
  assert.equal(await started.stop(), "stopped");
  assert.equal(rig.clock.timers, 0);
});

test("CL-18 a controller that has been started cannot be started again", async () => {
  const rig = new Rig();
  const started = rig.start();
  const again = started.controller.run(new AbortController().signal);
  await assert.rejects(again, /^Error: Cannot run a controller twice: make a new one$/);
});

test("CL-02 an event that cannot change the plan requests no sync", async () => {
  const rig = new Rig("team-a");
  const started = await rig.run(5000);
  assert.equal(started.syncs.length, 2, "one that wrote, one that found nothing more");
  rig.api.secret("team-a/unrelated", {}, { a: "b" });
  rig.api.put("/api/v1/namespaces/team-a/secrets/unrelated", { data: { a: "Yw==" } });
  rig.api.removeSecret("team-a/unrelated");
  await rig.clock.advance(60_000);
  assert.equal(started.syncs.length, 2);
  rig.api.secret("elsewhere/registry", {}, { a: "b" });
  await rig.clock.advance(1000);
  assert.equal(started.syncs.length, 3, "a name that somebody wants");
});

test("CL-04 what flies is not written twice, whatever happens during a sync", async () => {
  const rig = new Rig("team-a");
  const slow = faults(isWrite, hang, true);
  const started = await rig.run(100, { before: slow.before });
  for (const label of ["x", "y", "z"]) rig.api.namespace("team-b", { labels: { label } });
  await rig.clock.advance(100);
  assert.equal(started.syncs.length, 2, "the events behind the first share a sync");
  slow.on = false;
  await rig.clock.advance(1000);
  assert.deepEqual(rig.api.writes, ["POST team-a", "POST team-b"]);
});

test("CL-05 CL-07 CL-10 a sync that throws is counted and tried again, with longer and longer waits", async () => {
  const rig = new Rig("team-a");
  let broken = true;
  const onPlan = (): void => {
    if (broken) throw new TypeError("Unexpected token 'h', \"hunter2\" is not valid JSON");
  };
  const started = await rig.run(0, { observer: { onPlan } });
  const failuresAfter = async (ms: number): Promise<number> => {
    await rig.clock.advance(ms);
    return started.metric("secretcast_syncs_total", { result: "error" });
  };
  assert.equal(await failuresAfter(0), 1);
  // 5, 10, 20 ... ms after one another.
  assert.equal(await failuresAfter(4), 1);
  assert.equal(await failuresAfter(1), 2);
  assert.equal(await failuresAfter(9), 2);
  assert.equal(await failuresAfter(1), 3);
  const waited = await waitsOf(rig, started, 3 * 3_600_000);
  const [longest = 0] = waited.slice(-1);
  assert.ok(longest <= 300_000 && longest > 240_000, "five minutes at most");
  broken = false;
  await rig.clock.advance(300_000);
  assert.equal((await started.metric("secretcast_syncs_total", { result: "ok" })) > 0, true);
  const failed = started.lines.filter(({ msg }) => msg === "sync failed, will try again");
  assert.match(String(failed[0]?.["error"]), /^unexpected TypeError at controller\.test\.ts:\d+/);
  assert.doesNotMatch(JSON.stringify(started.lines), /hunter2/);
});

async function waitsOf(rig: Rig, started: Started, ms: number): Promise<readonly number[]> {
  const before = started.syncs.length;
  await rig.clock.advance(ms);
  const times = started.syncs.slice(before).map(({ at }) => at);
  return times.slice(1).map((at, n) => at - (times[n] ?? 0));
}

test("CL-06 after a sync without error the waits begin anew", async () => {
  const rig = new Rig("team-a");
  let broken = 4;
  const onPlan = (): void => {
    if (broken-- > 0) throw new Error("broken");
  };
  await rig.run(10_000, { observer: { onPlan } });
  broken = 2;
  rig.api.namespace("team-b");
  await rig.clock.advance(4);
  assert.equal(broken, 1);
  await rig.clock.advance(1);
  assert.equal(broken, 0);
  await rig.clock.advance(10);
  assert.deepEqual(rig.api.writes, ["POST team-a", "POST team-b"]);
});

test("a new namespace does not wait for syncs that repair copies", async () => {
  const teams = Array.from({ length: 60 }, (_, at) => `team-${at}`);
  const rig = new Rig(...teams);
  const started = await rig.run(5000);
  for (const team of teams.slice(0, 40)) {
    rig.api.put(`/api/v1/namespaces/${team}/secrets/registry`, { data: { password: "eA==" } });
    await rig.clock.advance(10);
  }
  const before = started.syncs.length;
  await rig.clock.advance(1);
  assert.equal(started.syncs.length, before, "repairs wait for their share");
  rig.api.namespace("team-new");
  await rig.clock.advance(1);
  assert.ok(rig.api.get("team-new/registry"));
});

test("CL-12 what is due later stays due whatever passes run before", async () => {
  const rig = new Rig("team-a");
  await rig.run(5000, { given: { "delete-grace": "10s" } });
  rig.api.removeSecret("shared/registry");
  for (let second = 0; second < 9; second++) {
    await rig.clock.advance(1000);
    rig.api.namespace("elsewhere", { labels: { second: String(second) } });
  }
  assert.ok(rig.api.get("team-a/registry"), "the grace is not over");
  await rig.clock.advance(1000);
  assert.equal(rig.api.get("team-a/registry"), undefined);
});

test("LV-20 a full sync runs at least each resync, counted from the last one", async () => {
  const rig = new Rig("team-a");
  const started = await rig.run(5000, { given: { resync: "10m" } });
  assert.deepEqual(await waitsOf(rig, started, 3_600_000), Array(5).fill(600_000));
  await rig.clock.advance(300_000);
  rig.api.namespace("elsewhere");
  await rig.clock.advance(0);
  const before = started.syncs.length;
  await rig.clock.advance(599_000);
  assert.equal(started.syncs.length, before);
  await rig.clock.advance(1000);
  assert.equal(started.syncs.length, before + 1);
  assert.deepEqual(rig.api.writes, ["POST team-a"], "none of them writes");
});

test("CL-26 an outage of an hour leaves /healthz alone, and what was missed is made good", async () => {
  const rig = new Rig("team-a");
  const { outage, started } = await inOutage(rig);
  for (let minute = 0; minute < 60; minute++) {
    await rig.clock.advance(60_000);
    assert.deepEqual(started.controller.live(), []);
  }
  rig.api.namespace("team-b");
  rig.api.removeSecret("team-a/registry");
  outage.on = false;
  await rig.clock.advance(120_000);
  assert.ok(rig.api.get("team-a/registry"));
  assert.ok(rig.api.get("team-b/registry"));
});
