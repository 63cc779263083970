// A leader whose process is stopped and goes on, or whose machine sleeps and wakes, may not know of it:
// no timer has run, and answers lie there unread. By then another may lead.
import assert from "node:assert/strict";
import { test } from "node:test";
import { candidate, election, leading } from "../testing/candidate.ts";
import { systemClock } from "../time/clock.ts";
import { readFileSync } from "node:fs";

test("LE-12 leading ends while the machine sleeps, which the monotonic clock does not count", async () => {
  const { clock, server, elector, result } = await leading();
  clock.suspend(9999);
  assert.equal(elector.isLeader, true);
  clock.suspend(1);
  assert.equal(elector.isLeader, false);
  assert.equal(elector.msSinceRenewal, 10_000);
  const requests = server.requests.length;
  await clock.advance(2000);
  assert.equal(await result.value(), "lost");
  assert.equal(server.requests.length, requests, "too late a renewal is not even tried");
});

test("LE-12 a renewal whose answer was slept through is of no use", async () => {
  const { clock, server } = election();
  const client = server.client();
  let wake = (): void => undefined;
  const { elector, result } = candidate(clock, server, "me", {
    client: {
      ...client,
      update: async (lease, signal) => {
        const saved = await client.update(lease, signal);
        await new Promise<void>((resolve) => (wake = resolve));
        return saved;
      },
    },
  });
  await clock.advance(2000);
  assert.equal(server.written.length, 2, "the renewal has arrived");
  clock.suspend(10_000);
  wake();
  await clock.advance(0);
  assert.equal(elector.isLeader, false);
  assert.equal(await result.value(), "lost");
});

test("LE-05 a stand-by that slept still watches a Lease for as long as it lasts", async () => {
  const { clock, server } = election();
  server.put({ holderIdentity: "other", leaseDurationSeconds: 15 });
  const { elector } = candidate(clock, server, "me");
  await clock.advance(2000);
  clock.suspend(3_600_000);
  await clock.advance(12_000);
  assert.equal(elector.isLeader, false, "the other may have slept as long");
  await clock.advance(8000);
  assert.equal(elector.isLeader, true);
});

test(
  "the machine's time since its start is the kernel's",
  { skip: process.platform !== "linux" },
  () => {
    const seconds = (): number => Number(readFileSync("/proc/uptime", "utf8").split(" ")[0]);
    const before = seconds();
    const said = systemClock.boottime() / 1000;
    assert.ok(before <= said && said <= seconds(), `${before} ${said}`);
  },
);
