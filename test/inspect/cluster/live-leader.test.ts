// A Lease says whether a replica leads, although its times come from the clock of another machine.
import assert from "node:assert/strict";
import { test } from "node:test";
import { readLiveLeader, type LiveLeader } from "../../../src/inspect/cluster/live-leader.ts";
import type { ApiClient } from "../../../packages/kube/rest/api-client.ts";
import { Reachability } from "../../../packages/kube/rest/reachability.ts";
import { systemClock } from "../../../packages/kube/time/clock.ts";
import { FakeClock } from "../../../packages/kube/testing/fake-clock.ts";

const LEASE = { namespace: "secretcast", name: "secretcast" };
const NOW = Date.UTC(2026, 0, 1);

/** Read where the holder's clock is an hour behind. `renews`: at each read after the first. */
async function read(renews: boolean, holder = "replica_1"): Promise<LiveLeader> {
  const clock = new FakeClock(NOW);
  let reads = 0;
  const client: ApiClient = {
    server: "https://test",
    reachability: new Reachability(systemClock),
    request: <T>() => {
      const spec = { holderIdentity: holder, renewTime: "2025-12-31T23:00:00.000000Z" };
      const resourceVersion = String(renews ? reads++ : 0);
      return Promise.resolve({ metadata: { ...LEASE, resourceVersion }, spec } as T);
    },
    open: () => Promise.reject(new Error("test: nothing is opened")),
    close: () => Promise.resolve(),
  };
  const leader = readLiveLeader({
    client,
    installed: { kind: "none" },
    lease: LEASE,
    clock,
    nowMs: () => NOW,
    signal: new AbortController().signal,
  });
  await clock.advance(10_000);
  return leader;
}

test("a Lease whose times are an hour old is live if its holder renews it", async () => {
  assert.equal((await read(true)).kind, "live");
});

test("a Lease that nobody renews says since when, and what to do", async () => {
  const { kind, says, advice } = await read(false);
  assert.equal(kind, "none");
  assert.match(says, /^no replica leads since 2025-12-31T23:00:00Z: replica_1 no longer renews/);
  assert.match(advice ?? "", /kubectl get pods -n secretcast/);
});

test("a Lease without a holder was released, and is not watched", async () => {
  assert.match((await read(true, "")).says, /the last one released the Lease/);
});
