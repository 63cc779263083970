// What happens in some namespaces delays nobody elsewhere, and no write outlives its reasons. On a fake
// clock; the same with a webhook of flesh and blood is in test/cluster/isolation.test.ts.
import assert from "node:assert/strict";
import { test } from "node:test";
import { ApiError } from "../../../packages/kube/rest/api-error.ts";
import type { ApiRequest } from "../../../packages/kube/rest/api-client.ts";
import { hang, isWrite, Rig, refuse } from "../../support/controller/fake-clock-controller.ts";

const TEAMS = Array.from({ length: 80 }, (_, n) => `team-${n}`);
/** A quarter of them. */
const SICK = new Set(TEAMS.filter((_, n) => n % 4 === 0));
const isSick = ({ path }: ApiRequest): boolean => SICK.has(path.split("/")[4] ?? "");

const FAULTS: Readonly<Record<string, (request: ApiRequest) => unknown>> = {
  "whose writes are never answered": hang,
  "whose webhook refuses": refuse("forbidden"),
  "that answer 500": refuse("unavailable"),
};

for (const [what, fault] of Object.entries(FAULTS))
  test(`beside a quarter of namespaces ${what}, a fresh one has its copies within a second`, async () => {
    const rig = new Rig(...TEAMS);
    const quick = (): Promise<void> =>
      new Promise((resolve) => rig.clock.setTimeout(() => resolve(), 10));
    await rig.run(300, {
      before: async (request) => {
        if (!isWrite(request)) return;
        if (isSick(request)) await fault(request);
        else await quick();
      },
    });
    const waits: number[] = [];
    for (let n = 0; n < 40; n++) {
      if (n % 10 === 0) rig.source("shared/registry", { password: `${n}` });
      if (n % 10 === 5) rig.source(`shared/more-${n}`, { password: `${n}` });
      rig.api.namespace(`team-fresh-${n}`);
      const began = rig.clock.monotonic();
      while (!rig.api.get(`team-fresh-${n}/registry`) && rig.clock.monotonic() - began < 5000)
        await rig.clock.advance(10);
      waits.push(rig.clock.monotonic() - began);
      await rig.clock.advance(200);
    }
    assert.ok(Math.max(...waits) < 1000, `waited ${waits.join()}`);
  });

test("a namespace with a hanging webhook delays neither the end nor the reports", async () => {
  const rig = new Rig("team-0", "team-1");
  const started = await rig.run(8000, {
    before: async (request) => {
      if (isWrite(request) && request.path.includes("/team-0/")) await hang();
    },
  });
  assert.equal(started.said.filter((line) => line === "synced").length, 1);
  started.signal();
  await rig.clock.advance(11_000);
  assert.equal(await started.ended(), "stopped");
});

const PAUSE_MS = 20_000;

/** Every write is refused while it is on. */
function pausing(rig: Rig) {
  const state = { on: true };
  const before = async (request: ApiRequest): Promise<void> => {
    if (!state.on || !isWrite(request)) return;
    throw new ApiError(request.what, {
      kind: "throttled",
      reason: "TooManyRequests",
      retryAfterMs: PAUSE_MS,
    });
  };
  return { rig, before, state };
}

test("nothing unwanted is created after a pause", async () => {
  const rig = new Rig(...TEAMS.slice(0, 40));
  rig.source("shared/other", { k: "v" });
  const { before, state } = pausing(rig);
  await rig.run(1000, { before, given: { concurrency: "1" } });
  assert.equal(rig.api.writes.length, 20, "then it takes nothing, and is left alone");
  state.on = false;
  rig.api.namespace("team-7", { annotations: { "secretcast.io/accept": "false" } });
  rig.source("shared/registry", { password: "two" }, "team-1*");
  rig.api.removeSecret("shared/other");
  const from = rig.api.writes.length;
  await rig.clock.advance(PAUSE_MS + 5000);
  const made = rig.api.writes.slice(from);
  assert.ok(made.length > 0);
  const names = TEAMS.slice(0, 40).filter((team) => team.startsWith("team-1"));
  assert.deepEqual(
    made.filter((write) => !names.some((name) => write === `POST ${name}`)),
    [],
  );
});

test("after a pause nothing is deleted that was planned before and is wanted again", async () => {
  const rig = new Rig(...TEAMS.slice(0, 5));
  await rig.converge();
  const { before, state } = pausing(rig);
  state.on = false;
  await rig.run(5000, { before, given: { concurrency: "1", "delete-grace": "0" } });
  state.on = true;
  const from = rig.api.writes.length;
  rig.source("shared/registry", { password: "one" }, "nowhere");
  await rig.clock.advance(5000);
  assert.equal(rig.api.writes.length, from + 5, "each is refused once, and waits");
  rig.source("shared/registry", { password: "one" }, "team-*");
  state.on = false;
  await rig.clock.advance(PAUSE_MS + 5000);
  assert.deepEqual(rig.api.writes.slice(from + 5), []);
  assert.equal(
    TEAMS.slice(0, 5).every((team) => rig.api.get(`${team}/registry`)),
    true,
  );
});

test("a source that is updated faster than its copies starves no namespace", async () => {
  const rig = new Rig(...TEAMS);
  rig.source("shared/other", { k: "v" }, "team-3");
  await rig.converge();
  rig.start({
    given: { concurrency: "1", "delete-grace": "0" },
    before: async (request) => {
      if (isWrite(request))
        await new Promise<void>((resolve) => rig.clock.setTimeout(() => resolve(), 100));
    },
  });
  await rig.clock.advance(5000);
  rig.source("shared/other", { k: "v" }, "nowhere");
  let gone: number | undefined;
  const began = rig.clock.monotonic();
  for (let n = 0; n < 300; n++) {
    rig.source("shared/registry", { password: `${n}` });
    await rig.clock.advance(100);
    if (!rig.api.get("team-3/other")) gone ??= rig.clock.monotonic() - began;
  }
  assert.ok(gone !== undefined && gone < 6000, `deleted after ${gone} ms`);
  const written = new Set(rig.api.writes.filter((write) => write.startsWith("PATCH")));
  assert.equal(written.size, TEAMS.length, "each place had its turn");
});
