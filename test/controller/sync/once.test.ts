// --once: passes until nothing is due, and what the program then ends with. On a fake clock.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Once } from "../../../src/controller/sync/once.ts";
import type { ApiRequest } from "../../../packages/kube/rest/api-client.ts";
import { statusError } from "../../../packages/kube/rest/api-error.ts";
import { sleep } from "../../../packages/kube/time/clock.ts";
import { createLog } from "../../../src/controller/report/log.ts";
import { FakeClock } from "../../../packages/kube/testing/fake-clock.ts";
import { watched } from "../../../packages/kube/testing/queue-takers.ts";
import { refusal } from "../../support/controller/memory-api.ts";
import { Rig, type Started } from "../../support/controller/fake-clock-controller.ts";

const isCreateIn = ({ method, path }: ApiRequest, namespace: string): boolean =>
  method === "POST" && path.includes(`/${namespace}/`);

function once(rig: Rig, given = {}, before?: Parameters<Rig["start"]>[0]): Started {
  return rig.start({ ...before, given: { once: true, ...given } });
}

test("--once ends converged when everything wanted is there, with its watches closed", async () => {
  const rig = new Rig("team-a", "team-b");
  const started = once(rig);
  await rig.clock.advance(5000);
  assert.equal(await started.ended(), "converged");
  assert.deepEqual(rig.api.writes, ["POST team-a", "POST team-b"]);
  assert.equal(rig.api.openWatches, 0);
  assert.equal(rig.clock.timers, 0);
});

test("--once ends unconverged where an unmanaged object is in the way", async () => {
  const rig = new Rig("team-a", "team-b");
  rig.api.secret("team-a/registry", {}, { mine: "x" });
  const started = once(rig);
  await rig.clock.advance(5000);
  assert.equal(await started.ended(), "unconverged");
  assert.deepEqual(rig.api.writes, ["POST team-b"]);
});

test("--once ends unconverged where a write fails, after one try of it", async () => {
  const rig = new Rig("team-a", "team-b");
  const before = async (
    request: Parameters<typeof refusal>[0] & { path: string; method: string },
  ) => {
    if (request.method === "POST" && request.path.includes("/team-a/"))
      throw refusal(request, "forbidden");
  };
  const started = once(rig, {}, { before });
  await rig.clock.advance(5000);
  assert.equal(await started.ended(), "unconverged");
  assert.deepEqual(rig.api.writes, ["POST team-a", "POST team-b"]);
});

for (const kind of ["throttled", "unavailable", "timeout"] as const)
  test(`--once tries again what the API server had no room or time for (${kind})`, async () => {
    const rig = new Rig("team-a", "team-b");
    let refusals = 0;
    const before = async (request: ApiRequest): Promise<void> => {
      if (isCreateIn(request, "team-a") && refusals++ < 4) throw refusal(request, kind);
    };
    const started = once(rig, {}, { before });
    await rig.clock.advance(60_000);
    assert.equal(await started.ended(), "converged");
    assert.equal(refusals, 5);
    assert.ok(rig.api.get("team-a/registry"));
  });

test("--once gives up after a minute without room at the API server", async () => {
  const rig = new Rig("team-a", "team-b");
  const before = async (request: ApiRequest): Promise<void> => {
    if (isCreateIn(request, "team-a")) throw refusal(request, "unavailable");
  };
  const started = once(rig, {}, { before });
  await rig.clock.advance(55_000);
  assert.equal(await started.ended(), "pending");
  await rig.clock.advance(70_000);
  assert.equal(await started.ended(), "unconverged");
  assert.ok(rig.api.get("team-b/registry"));
});

for (const kind of ["forbidden", "unavailable", "throttled"] as const)
  test(`--once gives up where a cache cannot be filled for two minutes (${kind})`, async () => {
    const rig = new Rig("team-a");
    const before = async (request: ApiRequest): Promise<void> => {
      if (request.method === "GET" && request.path.endsWith("/secrets"))
        throw refusal(request, kind);
    };
    const started = once(rig, {}, { before });
    await rig.clock.advance(115_000);
    assert.equal(await started.ended(), "pending");
    await rig.clock.advance(10_000);
    assert.equal(await started.ended(), "unconverged");
    const last = started.lines.find(({ msg }) => msg === "caches cannot be filled, giving up");
    assert.deepEqual(last?.["resources"], ["secrets"]);
    assert.equal(rig.clock.timers, 0);
  });

test("--once gives up after half an hour without a filled cache", async () => {
  const clock = new FakeClock();
  const reported: unknown[] = [];
  const write = (line: string): void => void reported.push(JSON.parse(line));
  const log = createLog({ logLevel: "info", logFormat: "json" }, { write });
  const once = new Once({ clock, log });
  const never = new Promise<never>(() => undefined);
  const watches = {
    secrets: {
      hasSynced: false,
      get lastActivityMs() {
        return clock.monotonic();
      },
    },
    namespaces: { hasSynced: true, lastActivityMs: 0 },
  };
  const filled = watched(once.fills(never, watches, new AbortController().signal));
  await clock.advance(1_795_000);
  assert.equal(await filled.value(), "pending");
  await clock.advance(10_000);
  assert.equal(await filled.value(), false);
  assert.match(JSON.stringify(reported), /cannot be filled, giving up/);
  assert.equal(clock.timers, 0);
});

test("--once waits for an API server that is away for a minute", async () => {
  const rig = new Rig("team-a");
  const before = async (request: ApiRequest): Promise<void> => {
    if (rig.clock.monotonic() < 60_000) throw refusal(request, "unavailable");
  };
  const started = once(rig, {}, { before });
  await rig.clock.advance(150_000);
  assert.equal(await started.ended(), "converged");
});

test("--once ends although a copy is rewritten faster than it can be updated", async () => {
  const rig = new Rig("team-a", "team-b");
  once(rig);
  await rig.clock.advance(5000);
  rig.source("shared/registry", { password: "two" });
  const before = async (request: ApiRequest): Promise<void> => {
    if (request.method === "PATCH" && request.path.includes("/team-a/"))
      throw refusal(request, "conflict");
  };
  const started = once(rig, { "delete-grace": "1s" }, { before });
  await rig.clock.advance(70_000);
  assert.equal(await started.ended(), "unconverged");
  const gaveUp = started.lines.find(({ msg }) => msg.startsWith("not everything is current"));
  assert.match(String(gaveUp?.["open"]), /^Secret team-a\/registry: update, /);
  assert.deepEqual(rig.api.get("team-b/registry")?.["data"], { password: btoa("two") });
});

test("--once ends although sources change so fast that no sync finds nothing to do", async () => {
  const rig = new Rig("team-a", "team-b");
  const change = (at: number): void => rig.source(`shared/s-${at % 100}`, { password: String(at) });
  for (let at = 0; at < 100; at++) change(at);
  const before = (request: ApiRequest): Promise<void> =>
    request.method === "GET" ? Promise.resolve() : sleep(rig.clock, 200);
  const started = once(rig, {}, { before });
  for (let at = 0; at < 2000; at++) {
    change(at);
    await rig.clock.advance(10);
  }
  assert.equal(await started.ended(), "unconverged");
  assert.ok(rig.api.writes.length < 2000, "each place some four times");
  assert.ok(started.said.includes("sources keep changing; giving up"));
});

test("--once makes every copy, those too whose writes were slow and cut off for others", async () => {
  const rig = new Rig();
  const teams = Array.from({ length: 40 }, (_, at) => `team-${at}`);
  rig.teams(...teams);
  let sent = 0;
  // So many as there is room for are slow, and the others wait for them.
  const before = (request: ApiRequest): Promise<void> =>
    request.method === "POST" ? sleep(rig.clock, sent++ < 32 ? 1000 : 50) : Promise.resolve();
  const started = once(rig, {}, { before });
  await rig.clock.advance(90_000);
  assert.equal(await started.ended(), "converged");
  assert.ok(started.outcomes.some(({ kind }) => kind === "failed"));
  assert.deepEqual(
    teams.filter((team) => !rig.api.get(`${team}/registry`)),
    [],
  );
});

test("--once makes no removal whose wait is not zero, names it, and exits unconverged", async () => {
  const rig = new Rig("team-a", "team-b", "team-c");
  once(rig);
  await rig.clock.advance(5000);
  rig.source("shared/registry", { password: "one" }, "team-c");
  const before = rig.api.writes.length;
  for (const given of [{ "delete-grace": "10s" }, { "delete-grace": "0", "delete-hold": "5m" }]) {
    const started = once(rig, given);
    await rig.clock.advance(5000);
    assert.equal(await started.ended(), "unconverged");
    assert.equal(rig.api.writes.length, before);
    assert.ok(started.lines.some(({ open }) => String(open).includes("Secret team-a/registry")));
  }
  const started = once(rig, { "delete-grace": "0", "delete-hold": "0" });
  await rig.clock.advance(5000);
  assert.equal(await started.ended(), "converged");
  assert.deepEqual(rig.api.writes.slice(before).toSorted(), [
    "DELETE team-a/registry",
    "DELETE team-b/registry",
  ]);
});

test("--once does not wait for a finalizer that somebody else put on a copy", async () => {
  const rig = new Rig("team-a");
  once(rig);
  await rig.clock.advance(5000);
  rig.api.put("/api/v1/namespaces/team-a/secrets/registry", {
    metadata: { deletionTimestamp: "2026-01-01T00:00:00Z", finalizers: ["example.com/held"] },
  });
  const started = once(rig);
  await rig.clock.advance(5000);
  assert.equal(await started.ended(), "unconverged");
});

test("--once --dry-run says what it would do, writes nothing and ends unconverged", async () => {
  const rig = new Rig("team-a", "team-b");
  const started = once(rig, { "dry-run": true });
  await rig.clock.advance(5000);
  assert.equal(await started.ended(), "unconverged");
  assert.deepEqual(rig.api.writes, []);
  assert.equal(started.said.filter((message) => message === "would write").length, 2);
});

test("--once takes the lease where one is elected, and gives it back", async () => {
  const rig = new Rig("team-a");
  const leader = await rig.run(5000, { given: { "leader-elect": true } });
  rig.api.namespace("team-b");
  await rig.clock.advance(1000);
  const started = once(rig, { "leader-elect": true });
  await rig.clock.advance(60_000);
  assert.equal(await started.ended(), "pending", "another holds the lease");
  await leader.stop();
  await rig.clock.advance(10_000);
  assert.equal(await started.ended(), "converged");
  const lease = Array.from(rig.api.objects.values()).find(({ kind }) => kind === "Lease");
  assert.match(JSON.stringify(lease), /"holderIdentity":""/);
});

const NO_LEASE = {
  kind: "Status",
  code: 403,
  reason: "Forbidden",
  message:
    'leases.coordination.k8s.io "secretcast" is forbidden: User "u" cannot get resource "leases" in API group "coordination.k8s.io" in the namespace "secretcast"',
};

test("--once gives up on an unreadable Lease after two minutes and names the right", async () => {
  const rig = new Rig("team-a");
  const beforeLease = async ({ what }: ApiRequest): Promise<void> => {
    throw statusError(what, 403, NO_LEASE);
  };
  const started = once(rig, { "leader-elect": true }, { beforeLease });
  await rig.clock.advance(110_000);
  assert.equal(await started.ended(), "pending");
  await rig.clock.advance(20_000);
  assert.equal(await started.ended(), "unconverged");
  assert.deepEqual(rig.api.writes, []);
  assert.equal(rig.clock.timers, 0);
  const errors = started.lines.map((line) => String(line["error"]));
  const advice =
    /no right to get leases.*grant create on leases, and get and update on the Lease secretcast, or run a single replica with --no-leader-elect/;
  assert.ok(errors.some((error) => advice.test(error)));
});
