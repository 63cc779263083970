// A Lease that somebody edited: whatever stands in it, the election goes on by itself once the nonsense
// is no longer written, and nothing that is written is refused for what stood there.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { LeaseSpec } from "./lease-record.ts";
import { alone, candidate, election } from "../testing/candidate.ts";

const MOST = 2 ** 31 - 1;
const FUTURE = "2126-01-01T00:00:00.000000Z";

test("LE-05 a record that would last for years is believed for a minute", async () => {
  const { clock, server } = election();
  server.put({ holderIdentity: "nobody", leaseDurationSeconds: MOST, renewTime: FUTURE });
  const { elector } = candidate(clock, server, "me");
  await clock.advance(60_000);
  assert.equal(elector.isLeader, false);
  await clock.advance(4401);
  assert.equal(elector.isLeader, true);
  assert.equal(server.spec.leaseDurationSeconds, 15);
});

test("LE-05 a live holder keeps its Lease, whatever duration the record has", async () => {
  for (const leaseDurationSeconds of [MOST, 0, -5, 15]) {
    const { clock, server, elector } = alone();
    for (let at = 0; at < 60; at++) {
      server.put({ holderIdentity: "other", leaseDurationSeconds, renewTime: String(at) });
      await clock.advance(2000);
    }
    assert.equal(elector.isLeader, false, String(leaseDurationSeconds));
  }
});

test("LE-08 take-overs that cannot be counted any further are counted anew", async () => {
  for (const [before, after] of [
    [MOST, 0],
    [MOST - 1, MOST],
    [-3, 0],
    [7, 8],
  ] as const) {
    const { clock, server } = election();
    server.put({ holderIdentity: "", leaseTransitions: before });
    const { elector } = candidate(clock, server, "me");
    await clock.advance(0);
    assert.equal(elector.isLeader, true);
    assert.equal(server.spec.leaseTransitions, after);
  }
});

const EDITS: Readonly<Record<string, LeaseSpec>> = {
  "its renewTime far in the future": { holderIdentity: "me", renewTime: FUTURE },
  "its duration the longest there is": { holderIdentity: "me", leaseDurationSeconds: MOST },
  "its duration nothing": { holderIdentity: "me", leaseDurationSeconds: 0 },
  "its duration negative": { holderIdentity: "me", leaseDurationSeconds: -1 },
  "its take-overs at the end of counting": { holderIdentity: "me", leaseTransitions: MOST },
  "its holder empty": { holderIdentity: "", leaseDurationSeconds: 15 },
  "nothing left in it": {},
};

for (const [what, spec] of Object.entries(EDITS))
  test(`LE-06 a Lease edited under its leader, ${what}, is mended by the next renewal`, async () => {
    const { clock, server, elector, result } = alone();
    const standby = candidate(clock, server, "standby", { retryPeriodMs: 3000 });
    await clock.advance(2000);
    server.put(spec);
    await clock.advance(0);
    await clock.advance(2000);
    assert.equal(await result.value(), "pending");
    assert.equal(elector.isLeader, true);
    assert.equal(standby.elector.isLeader, false);
    const { holderIdentity, leaseDurationSeconds, renewTime } = server.spec;
    assert.deepEqual([holderIdentity, leaseDurationSeconds], ["me", 15]);
    assert.notEqual(renewTime, FUTURE);
  });

test("LE-07 a Lease without a living holder ends the lead, and another leads a minute later", async () => {
  const { clock, server } = election();
  const leader = candidate(clock, server, "me");
  await clock.advance(2000);
  const standby = candidate(clock, server, "standby");
  server.put({ holderIdentity: "nobody", leaseDurationSeconds: MOST, leaseTransitions: MOST });
  await clock.advance(2000);
  assert.equal(await leader.result.value(), "lost");
  await clock.advance(66_000);
  assert.equal(standby.elector.isLeader, true);
  assert.equal(server.holder, "standby");
});

test("LE-04 one of two candidates creates the Lease that was deleted under their leader", async () => {
  const { clock, server } = election();
  const leader = candidate(clock, server, "me");
  await clock.advance(2000);
  const standby = candidate(clock, server, "standby");
  await clock.advance(100);
  // The stand-by is the first to see that it is gone.
  server.lease = undefined;
  clock.chance = () => 0;
  for (let at = 0; at < 10; at++) await clock.advance(1000);
  const leads = [leader, standby].filter(({ elector }) => elector.isLeader);
  assert.equal(leads.length, 1);
  const ended = [await leader.result.value(), await standby.result.value()].toSorted();
  assert.ok(ended.includes("pending"));
  assert.equal(server.holder, leads[0] === leader ? "me" : "standby");
});
