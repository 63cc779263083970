// From work to the end: stand-by, stop, grace and the loss of the lease. On a fake clock.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { ApiRequest } from "../../../packages/kube/rest/api-client.ts";
import { withinGrace } from "../../../src/run/run.ts";
import { createLog } from "../../../src/controller/report/log.ts";
import { FakeClock } from "../../../packages/kube/testing/fake-clock.ts";
import { refusal, secretPath } from "../../support/controller/memory-api.ts";
import { watched } from "../../../packages/kube/testing/queue-takers.ts";
import {
  faults,
  hang,
  isWrite,
  Rig,
  unavailable,
} from "../../support/controller/fake-clock-controller.ts";

test("CL-30 the log tells the life of a controller in order", async () => {
  const rig = new Rig("team-a");
  const started = await rig.run(5000, { given: { "leader-elect": true } });
  await started.stop();
  const life = started.lines.filter(({ level }) => level === "info").map(({ msg }) => msg);
  assert.deepEqual(life, [
    "starting informers",
    "waiting for caches",
    "caches filled",
    "waiting for the lease",
    "new leader",
    "leading",
    "started worker",
    "synced",
    "copied",
    "stopped worker",
    "stopped",
  ]);
});

test("CL-25 CL-26 a stand-by keeps its caches warm, is ready, and works from the lease on", async () => {
  const rig = new Rig("team-a");
  const given = { "leader-elect": true };
  const first = await rig.run(5000, { given });
  const second = await rig.run(3_600_000, { given });
  rig.api.namespace("team-b");
  await rig.clock.advance(5000);
  assert.deepEqual(second.controller.ready(), []);
  assert.equal(second.syncs.length, 0);
  assert.equal(second.controller.leading, false);
  await first.stop();
  const requests = rig.api.seen.length;
  rig.api.namespace("team-c");
  await rig.clock.advance(5000);
  assert.equal(second.controller.leading, true);
  assert.ok(rig.api.get("team-c/registry"));
  const lists = rig.api.seen
    .slice(requests)
    .filter(({ path }) => /(?:secrets|namespaces)$/.test(path));
  assert.deepEqual(
    lists.map(({ method }) => method),
    ["POST"],
    "nothing is listed anew",
  );
  assert.ok(
    (await second.metric("secretcast_propagation_seconds_sum")) < 10,
    "waiting is no propagation",
  );
});

test("a stand-by forgets the copies that it saw vanish", async () => {
  const rig = new Rig("team-a", "team-b");
  const given = { "leader-elect": true };
  const first = await rig.run(5000, { given });
  const second = await rig.run(5000, { given });
  rig.api.remove(secretPath("team-a/registry"));
  await rig.clock.advance(5000);
  assert.ok(rig.api.get("team-a/registry"), "the leader has repaired it");
  await first.stop();
  rig.api.remove(secretPath("team-b/registry"));
  await rig.clock.advance(10_000);
  assert.ok(rig.api.get("team-b/registry"));
  assert.deepEqual(
    second.outcomes.map(({ action }) => [action.kind, action.cause]),
    [["create", "new"]],
  );
  await second.stop();
  await rig.assertRight();
});

test("CL-22 the end stops write, Lease, watches and Events in this order", async () => {
  const rig = new Rig("team-a");
  const order: string[] = [];
  let landing = (): void => {};
  const before = async (request: ApiRequest): Promise<void> => {
    if (request.path.includes("/events")) {
      if (order.length === 0) throw refusal(request, "unavailable");
      order.push(`event, ${rig.api.openWatches} watches`);
    }
    if (!request.path.includes("/team-b/")) return;
    await new Promise<void>((resolve) => (landing = resolve));
    order.push("write");
  };
  const beforeLease = async ({ body }: ApiRequest): Promise<void> => {
    const { holderIdentity } = (body as { spec?: { holderIdentity?: string } })?.spec ?? {};
    if (holderIdentity === "") order.push(`lease, ${rig.api.openWatches} watches`);
  };
  const started = await rig.run(5000, { given: { "leader-elect": true }, before, beforeLease });
  rig.api.namespace("team-b");
  await rig.clock.advance(1000);
  started.signal();
  await rig.clock.advance(5000);
  assert.deepEqual(order, [], "the write has not landed");
  landing();
  await rig.clock.advance(5000);
  assert.equal(await started.ended(), "stopped");
  assert.deepEqual(order, ["write", "lease, 3 watches", "event, 0 watches"]);
  assert.equal(rig.clock.timers, 0);
});

test("CL-23 the end comes within 30 s though nothing answers any more", async () => {
  const rig = new Rig("team-a", "team-b");
  const dead = faults(() => true, hang);
  const options = { before: dead.before, beforeLease: dead.before };
  const started = await rig.run(5000, { given: { "leader-elect": true }, ...options });
  dead.on = true;
  rig.source("shared/registry", { password: "two" });
  await rig.clock.advance(2000);
  started.signal();
  await rig.clock.advance(29_000);
  assert.notEqual(await started.ended(), "pending");
  assert.equal(rig.clock.timers, 0);
});

test("CL-23 a write in flight has ten seconds to land, and is cut off then", async () => {
  const rig = new Rig("team-a");
  const slow = faults(isWrite, hang, true);
  const started = await rig.run(1000, { before: slow.before });
  started.signal();
  await rig.clock.advance(9000);
  assert.equal(await started.ended(), "pending");
  await rig.clock.advance(1000);
  assert.equal(await started.ended(), "stopped");
  assert.equal(rig.clock.timers, 0);
});

test("CL-24 a lost lease stops the writes at once and ends the run as lost", async () => {
  const rig = new Rig("team-a");
  const slow = faults(isWrite, hang);
  const started = await rig.run(5000, { given: { "leader-elect": true }, before: slow.before });
  slow.on = true;
  for (const name of ["team-b", "team-c"]) rig.api.namespace(name);
  await rig.clock.advance(100);
  const lease = Array.from(rig.api.objects.keys()).find((path) => path.includes("/leases/")) ?? "";
  const taken = rig.api.put(lease, { spec: { holderIdentity: "another" } });
  await rig.clock.advance(2000);
  assert.equal(await started.ended(), "lost", "without waiting for what hangs");
  assert.equal(rig.api.objects.get(lease), taken, "the other's lease is left alone");
  const writes = rig.api.writes.length;
  slow.on = false;
  rig.source("shared/registry", { password: "two" });
  await rig.clock.advance(60_000);
  assert.equal(rig.api.writes.length, writes);
  assert.equal(rig.api.get("team-b/registry"), undefined);
  assert.equal(rig.clock.timers, 0);
});

test("CL-24 LE-12 no write begins after the renew deadline, and none has time to outlive it", async () => {
  const rig = new Rig("team-a", "team-b");
  const noLease = faults(() => true, unavailable);
  const started = await rig.run(5000, {
    given: { "leader-elect": true },
    beforeLease: noLease.before,
  });
  noLease.on = true;
  const from = rig.api.seen.length;
  const isLease = (path: string): boolean => path.includes("/leases");
  const renewed = rig.api.seen.findLast(({ path }) => isLease(path))?.at ?? Number.NaN;
  for (let step = 0; step < 60; step++) {
    await rig.clock.advance(250);
    rig.source("shared/registry", { password: `${step}` });
    rig.api.removeSecret("team-b/registry");
  }
  const writes = rig.api.seen
    .slice(from)
    .filter(({ method, path }) => method !== "GET" && path.includes("/secrets"));
  assert.ok(
    writes.some(({ at }) => at > renewed + 5000),
    "it goes on while it may",
  );
  for (const { at, timeoutMs = Infinity } of writes) assert.ok(at + timeoutMs <= renewed + 10_000);
  assert.equal(await started.ended(), "lost");
});

test("CL-23 a run that does not end within the grace is an error that says so", async () => {
  const clock = new FakeClock();
  const stop = new AbortController();
  const log = createLog({ logLevel: "error", logFormat: "json" }, { write: () => true });
  const running = watched(withinGrace(new Promise(() => {}), stop.signal, clock, log));
  await clock.advance(3_600_000);
  stop.abort();
  await clock.advance(29_999);
  assert.equal(await running.value(), "pending");
  await clock.advance(1);
  await assert.rejects(running.value(), /^Error: shutdown took longer than 30 s, giving up$/);
});

test("CL-23 the grace counts too when the signal came before the run", async () => {
  const clock = new FakeClock();
  const log = createLog({ logLevel: "error", logFormat: "json" }, { write: () => true });
  const running = watched(withinGrace(new Promise(() => {}), AbortSignal.abort(), clock, log));
  await clock.advance(30_000);
  await assert.rejects(running.value(), /^Error: shutdown took longer than 30 s, giving up$/);
});

test("CL-23 a run that ends in time leaves no timer, whatever it ends with", async () => {
  const clock = new FakeClock();
  const log = createLog({ logLevel: "error", logFormat: "json" }, { write: () => true });
  const work = Promise.reject(new Error("broken"));
  await assert.rejects(withinGrace(work, AbortSignal.abort(), clock, log), /^Error: broken$/);
  assert.equal(clock.timers, 0);
});
