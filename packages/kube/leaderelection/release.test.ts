import assert from "node:assert/strict";
import { test } from "node:test";
import { alone, candidate, election, leading, untilAborted } from "../testing/candidate.ts";

test("LE-11 a cancel frees the Lease: no holder, one second, transitions kept", async () => {
  const { clock, server, cancel, elector, log, result } = alone();
  await clock.advance(4000);
  cancel();
  assert.equal(await result.value(), "cancelled");
  assert.equal(elector.isLeader, false);
  assert.equal(server.holder, "");
  assert.equal(server.spec.leaseDurationSeconds, 1);
  assert.equal(server.spec.leaseTransitions, 0);
  assert.deepEqual(log, ["leader me", "started", "work ended", "stopped"]);
  assert.deepEqual(server.requests.slice(-2), ["get", "update"], "it reads before it releases");
  assert.equal(clock.timers, 0);
});

test("LE-11 a stand-by takes over within 4.4 s of a release", async () => {
  const { clock, server } = election();
  const first = candidate(clock, server, "first");
  await clock.advance(1000);
  const second = candidate(clock, server, "second");
  await clock.advance(1000);
  first.cancel();
  await clock.advance(4400);
  assert.equal(second.elector.isLeader, true);
  assert.equal(server.spec.leaseTransitions, 1);
});

test("LE-11 a release that meets a conflict reads again and is tried again", async () => {
  const { server, cancel, result } = await leading();
  server.afterGet = () => server.put(server.spec, { labels: { a: "b" } });
  cancel();
  assert.equal(await result.value(), "cancelled");
  assert.equal(server.holder, "");
  assert.deepEqual(server.lease?.metadata["labels"], { a: "b" });
});

test("LE-11 a release that meets nothing but conflicts is given up after a few tries", async () => {
  const { server, cancel, errors, result } = await leading();
  server.fail("update", "conflict", 1000);
  const before = server.requests.length;
  cancel();
  assert.equal(await result.value(), "cancelled");
  assert.equal(server.requests.length - before, 10, "each try reads, and asks once");
  assert.equal(errors.length, 1);
});

test("LE-11 nothing to release: the Lease is gone", async () => {
  const { server, cancel, errors, result } = await leading();
  server.lease = undefined;
  cancel();
  assert.equal(await result.value(), "cancelled");
  assert.equal(server.lease, undefined);
  assert.deepEqual(errors, []);
});

test("LE-11 a release whose requests hang ends within the renew deadline", async () => {
  for (const ignoreSignals of [false, true]) {
    const { clock, server, cancel, client, errors, result } = await leading();
    Object.assign(client, { hang: true, ignoreSignals });
    cancel();
    await clock.advance(10_000);
    assert.equal(await result.value(), "cancelled");
    assert.equal(server.holder, "me");
    assert.equal(errors.length, 1);
    assert.equal(clock.timers, 0);
  }
});

test("LE-11 an update that hangs while releasing ends within the renew deadline", async () => {
  const { clock, server, cancel, client, result } = await leading();
  server.afterGet = () => void (client.hang = true);
  cancel();
  await clock.advance(10_000);
  assert.equal(await result.value(), "cancelled");
  assert.equal(server.requests.at(-1), "update");
});

test("LE-11 a release can be switched off", async () => {
  const { server, cancel, result } = await leading({ releaseOnCancel: false });
  cancel();
  assert.equal(await result.value(), "cancelled");
  assert.equal(server.holder, "me");
});

test("LE-11 a missed deadline releases nothing: the record runs out by itself", async () => {
  const { clock, server, result } = await leading();
  server.fail("update", "server");
  await clock.advance(10_000);
  assert.equal(await result.value(), "lost");
  await clock.advance(60_000);
  assert.equal(server.holder, "me");
});

test("LE-15 a release after a partition leaves the new leader's record as it is", async () => {
  const { server, cancel, result } = await leading();
  server.put({ holderIdentity: "new leader", leaseDurationSeconds: 15 });
  const record = structuredClone(server.lease);
  cancel();
  assert.equal(await result.value(), "cancelled");
  assert.deepEqual(server.lease, record);
});

test("LE-15 a new leader between the read and the write of a release is left alone", async () => {
  const { server, cancel, result } = await leading();
  server.afterGet = () => server.put({ holderIdentity: "new leader", leaseDurationSeconds: 15 });
  cancel();
  assert.equal(await result.value(), "cancelled");
  assert.equal(server.holder, "new leader");
});

test("LE-15 the Lease is renewed, not offered, until the work has ended", async () => {
  const { clock, server } = election();
  const me = candidate(clock, server, "me", { windDownMs: 25_000 });
  await clock.advance(2000);
  const other = candidate(clock, server, "other");
  me.cancel();
  for (let second = 0; second < 24; second++) {
    await clock.advance(1000);
    assert.equal(server.holder, "me");
    assert.equal(me.elector.isLeader, true);
    assert.equal(other.elector.isLeader, false);
  }
  await clock.advance(1000);
  assert.equal(await me.result.value(), "cancelled");
  assert.equal(server.holder, "");
  assert.deepEqual(me.log.slice(-2), ["work ended", "stopped"]);
});

test("LE-15 a lease lost while the work is ending is a loss, not a release", async () => {
  const { clock, server, cancel, result } = await leading({ windDownMs: 25_000 });
  cancel();
  server.fail("any", "server");
  await clock.advance(10_000);
  assert.equal(await result.value(), "lost");
});

test("LE-15 a missed deadline aborts the work before anything else is asked of the server", async () => {
  const { clock, server } = election();
  let requestsAtAbort = -1;
  const work = async (signal: AbortSignal): Promise<void> => {
    await untilAborted(signal);
    requestsAtAbort = server.requests.length;
    assert.match(String(signal.reason), /The lease "lock" is lost/);
  };
  const { result } = candidate(clock, server, "me", { work });
  await clock.advance(2000);
  server.fail("any", "server");
  await clock.advance(10_000);
  assert.equal(await result.value(), "lost");
  assert.equal(requestsAtAbort, server.requests.length);
});

test("LE-09 work that fails ends the run with its error, the Lease released", async () => {
  const { clock, server } = election();
  const broken = new AbortController();
  const work = async (): Promise<void> => {
    await untilAborted(broken.signal);
    throw new Error("bug in the work");
  };
  const { elector, log, result } = candidate(clock, server, "me", { work });
  await clock.advance(2000);
  broken.abort();
  await assert.rejects(result.value(), /bug in the work/);
  assert.equal(elector.isLeader, false);
  assert.equal(server.holder, "");
  assert.deepEqual(log, ["leader me", "started", "stopped"]);
});

test("LE-09 work that answers a cancel with the signal's reason has not failed", async () => {
  const { clock, server } = election();
  const work = async (signal: AbortSignal): Promise<void> => {
    await untilAborted(signal);
    signal.throwIfAborted();
  };
  const { cancel, result } = candidate(clock, server, "me", { work });
  await clock.advance(2000);
  cancel();
  assert.equal(await result.value(), "cancelled");
  assert.equal(server.holder, "");
});

test("LE-09 work that ends early goes on leading until the cancel", async () => {
  const { clock, server, cancel, elector, result } = alone({ work: async () => {} });
  await clock.advance(60_000);
  assert.equal(elector.isLeader, true);
  cancel();
  assert.equal(await result.value(), "cancelled");
  assert.equal(server.holder, "");
});

test("LE-11 a claim whose answer never came is released when the candidate is cancelled", async () => {
  const { clock, server } = election();
  server.loseAnswer("create");
  const { cancel, result } = candidate(clock, server, "me");
  await clock.advance(0);
  assert.equal(server.holder, "me");
  cancel();
  assert.equal(await result.value(), "cancelled");
  assert.equal(server.holder, "");
});
