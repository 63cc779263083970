import assert from "node:assert/strict";
import { test } from "node:test";
import { microTime } from "./lease-record.ts";
import type { LeaseSpec } from "./lease-record.ts";
import { FakeClock } from "../testing/fake-clock.ts";
import { alone, candidate, election } from "../testing/candidate.ts";
import { LeaseServer } from "../testing/lease-server.ts";

const MICRO_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/;

function other(clock: FakeClock, leaseDurationSeconds = 15): LeaseSpec {
  const time = microTime(clock.now());
  return {
    holderIdentity: "other",
    leaseDurationSeconds,
    acquireTime: time,
    renewTime: time,
    leaseTransitions: 3,
  };
}

test("LE-04 no Lease: it is created at once, with every field and our labels", async () => {
  const { clock, server, elector, log } = alone({ labels: { app: "x" } });
  await clock.advance(0);
  assert.equal(elector.isLeader, true);
  const time = microTime(clock.now());
  assert.deepEqual(server.spec, {
    holderIdentity: "me",
    leaseDurationSeconds: 15,
    acquireTime: time,
    renewTime: time,
    leaseTransitions: 0,
  });
  assert.deepEqual(server.lease?.metadata["labels"], { app: "x" });
  assert.deepEqual(log, ["leader me", "started"]);
});

test("LE-01 times of the Lease have exactly six digits of a second", async () => {
  const clock = new FakeClock(Date.UTC(2026, 4, 17, 1, 2, 3, 4));
  const server = new LeaseServer();
  candidate(clock, server, "me");
  await clock.advance(2000);
  assert.equal(server.spec.acquireTime, "2026-05-17T01:02:03.004000Z");
  assert.match(server.spec.renewTime ?? "", MICRO_TIME);
});

test("LE-04 a Lease without a spec is taken", async () => {
  const { clock, server } = election();
  server.put(undefined);
  const { elector } = candidate(clock, server, "me");
  await clock.advance(0);
  assert.equal(elector.isLeader, true);
  assert.equal(server.holder, "me");
});

test("LE-04 an empty holder is taken at once, though renewed a moment ago", async () => {
  const { clock, server } = election();
  server.put({ ...other(clock), holderIdentity: "" });
  const { elector } = candidate(clock, server, "me");
  await clock.advance(0);
  assert.equal(elector.isLeader, true);
});

test("LE-04 a live Lease of somebody else is left alone", async () => {
  const { clock, server } = election();
  server.put(other(clock));
  const { elector, log } = candidate(clock, server, "me");
  for (let renewals = 0; renewals < 10; renewals++) {
    await clock.advance(10_000);
    server.put({ ...other(clock) });
  }
  assert.equal(elector.isLeader, false);
  assert.deepEqual(server.written, []);
  assert.deepEqual(log, ["leader other"]);
});

test("LE-04 who loses the race to take it over, or to create it, does not lead", async () => {
  const clock = new FakeClock();
  for (const existing of [undefined, { holderIdentity: "" }]) {
    const server = new LeaseServer();
    if (existing) server.put(existing);
    const rivals = ["a", "b"].map((name) => candidate(clock, server, name));
    await clock.advance(0);
    assert.deepEqual(
      rivals.map((rival) => rival.elector.isLeader),
      [true, false],
    );
    await clock.advance(60_000);
    assert.equal(server.holder, "a");
    assert.deepEqual(rivals[1]?.log, ["leader a"]);
  }
});

test("LE-05 a dead holder's Lease is taken after its own duration, watched from our first sight", async () => {
  const { clock, server } = election();
  server.put(other(clock, 3));
  const { elector } = candidate(clock, server, "me");
  await clock.advance(3000);
  assert.equal(elector.isLeader, false);
  await clock.advance(4400);
  assert.equal(elector.isLeader, true);
});

test("LE-05 times in the record do not matter, neither old ones nor those of the future", async () => {
  for (const skewMs of [-3_600_000, 3_600_000]) {
    const { clock, server } = election();
    server.put({ ...other(clock), renewTime: microTime(clock.now() + skewMs) });
    const { elector } = candidate(clock, server, "me");
    await clock.advance(15_000);
    assert.equal(elector.isLeader, false);
    await clock.advance(4400);
    assert.equal(elector.isLeader, true);
  }
});

test("LE-05 a change of labels is no renewal", async () => {
  const { clock, server } = election();
  server.put(other(clock));
  const { elector } = candidate(clock, server, "me");
  for (let i = 0; i < 4; i++) {
    await clock.advance(5000);
    server.put(server.spec, { labels: { i: `${i}` } });
  }
  await clock.advance(0);
  assert.equal(elector.isLeader, true);
});

test("LE-05 a holder without a duration is given ours", async () => {
  const { clock, server } = election();
  server.put({ holderIdentity: "other" });
  const { elector } = candidate(clock, server, "me");
  await clock.advance(14_000);
  assert.equal(elector.isLeader, false);
  await clock.advance(5400);
  assert.equal(elector.isLeader, true);
});

test("LE-03 tries are 2 s to 4.4 s apart, the first at once", async () => {
  for (const [chance, ms] of [
    [0, 2000],
    [0.999999, 4399.9],
  ] as const) {
    const clock = new FakeClock();
    clock.chance = () => chance;
    const server = new LeaseServer();
    server.put(other(clock));
    candidate(clock, server, "me");
    await clock.advance(0);
    assert.equal(server.requests.length, 1);
    await clock.advance(ms - 0.5);
    assert.equal(server.requests.length, 1);
    await clock.advance(1);
    assert.equal(server.requests.length, 2);
  }
});

test("LE-08 a take-over counts a transition and sets a new acquire time", async () => {
  const { clock, server } = election();
  server.put(other(clock));
  const first = server.spec.acquireTime;
  candidate(clock, server, "me");
  await clock.advance(20_000);
  assert.equal(server.spec.leaseTransitions, 4);
  assert.notEqual(server.spec.acquireTime, first);
  const acquired = server.spec.acquireTime;
  await clock.advance(20_000);
  assert.equal(server.spec.leaseTransitions, 4);
  assert.equal(server.spec.acquireTime, acquired);
  assert.equal(server.spec.renewTime, microTime(clock.now()));
});

test("LE-04 a Lease that names us already is ours: an answer may have been lost", async () => {
  const { clock, server } = election();
  server.loseAnswer("create");
  const { elector, errors } = candidate(clock, server, "me");
  await clock.advance(0);
  assert.equal(elector.isLeader, false);
  assert.equal(errors.length, 1);
  await clock.advance(4400);
  assert.equal(elector.isLeader, true);
  assert.equal(server.spec.leaseTransitions, 0);
});

test("LE-04 an answer that is no Lease is a failed try without a write", async () => {
  const { clock, server } = election();
  server.lease = { metadata: { namespace: "ns", name: "lock" } };
  const { elector, errors } = candidate(clock, server, "me");
  await clock.advance(20_000);
  assert.equal(elector.isLeader, false);
  assert.deepEqual(server.written, []);
  assert.match(String(errors[0]), /no metadata.resourceVersion/);
});

test("LE-30 fields and metadata that we do not know are kept on every update", async () => {
  const { clock, server } = election();
  const foreign = { strategy: "OldestEmulationVersion", preferredHolder: "someone" };
  server.put({ holderIdentity: "", ...foreign }, { labels: { a: "b" }, uid: "u1" });
  const { cancel, result } = candidate(clock, server, "me");
  await clock.advance(5000);
  cancel();
  assert.equal(await result.value(), "cancelled");
  assert.ok(server.written.length >= 3);
  for (const { spec, metadata } of server.written) {
    assert.equal(spec?.["strategy"], "OldestEmulationVersion");
    assert.equal(spec?.["preferredHolder"], "someone");
    assert.deepEqual(metadata["labels"], { a: "b" });
    assert.equal(metadata["uid"], "u1");
  }
});

test("LE-09 a cancelled candidate that never led is told that it stopped, and wrote nothing", async () => {
  const { clock, server } = election();
  server.put(other(clock));
  const { cancel, log, result } = candidate(clock, server, "me");
  await clock.advance(1000);
  cancel();
  assert.equal(await result.value(), "cancelled");
  assert.deepEqual(log, ["leader other", "stopped"]);
  assert.deepEqual(server.written, []);
  assert.equal(clock.timers, 0);
});

test("LE-09 each new leader is reported once", async () => {
  const { clock, server } = election();
  server.put(other(clock));
  const { log } = candidate(clock, server, "me");
  await clock.advance(10_000);
  server.put({ ...other(clock), holderIdentity: "third" });
  await clock.advance(10_000);
  server.put({ ...other(clock), holderIdentity: "" });
  await clock.advance(4400);
  assert.deepEqual(log, ["leader other", "leader third", "leader me", "started"]);
});
