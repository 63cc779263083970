// Events on a fake clock: they do not wait for a quiet moment, and Normal ones take no room from Warnings.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { ApiRequest } from "../../../packages/kube/rest/api-client.ts";
import { sleep } from "../../../packages/kube/time/clock.ts";
import { hang, isWrite, Rig } from "../../support/controller/fake-clock-controller.ts";
import { refusal } from "../../support/controller/memory-api.ts";

/** The notes of the Events with this reason on an object of this name, as they arrived. */
function notes(rig: Rig, name: string, reason: string): readonly unknown[] {
  return rig.api.history
    .filter(({ object }) => object["reason"] === reason)
    .filter(({ object }) => (object["regarding"] as { readonly name?: string }).name === name)
    .map(({ object }) => object["note"]);
}

test("Refused, Conflict, Failed and Copied arrive within ten seconds although no plan is settled", async () => {
  const rig = new Rig();
  const teams = Array.from({ length: 60 }, (_, n) => `team-${n}`);
  rig.teams(...teams);
  rig.api.secret("team-0/registry", {}, { mine: "x" });
  const before = async (request: ApiRequest): Promise<void> => {
    if (!isWrite(request)) return;
    await sleep(rig.clock, 100);
    if (request.path.includes("/team-1/")) throw refusal(request, "forbidden");
  };
  const started = rig.start({ given: { concurrency: "2" }, before });
  let changes = 0;
  const change = async (ms: number): Promise<void> => {
    for (let past = 0; past < ms; past += 300) {
      rig.api.secret("shared/registry", {}, { password: `change ${changes++}` });
      await rig.clock.advance(300);
    }
  };
  await change(5000);
  rig.source("shared/wrong", { a: "1" }, "Team_A");
  const since = rig.clock.monotonic();
  await change(10_000);
  const settled = started.syncs.filter(({ at, note }) => at >= since && note.settled);
  assert.equal(settled.length, 0, "the changes leave no plan settled");
  assert.equal(notes(rig, "wrong", "Refused").length, 1);
  for (const reason of ["Conflict", "Failed", "Copied"])
    assert.ok(notes(rig, "registry", reason).length > 0, reason);
});

test("a write that is never answered keeps no Event back for more than ten seconds", async () => {
  const rig = new Rig("team-0");
  await rig.run(1000, {
    before: async (request) => {
      if (isWrite(request) && request.path.includes("/team-0/")) await hang();
    },
  });
  rig.source("shared/wrong", { a: "1" }, "Team_A");
  await rig.clock.advance(1000);
  rig.source("shared/wrong", { a: "1" }, "Team_B");
  await rig.clock.advance(11_000);
  assert.match(String(notes(rig, "wrong", "Refused").at(-1)), /Team_B/);
});

test("after 26 namespaces one by one, a conflict and a refusal still have their Events", async () => {
  const rig = new Rig();
  rig.teams();
  await rig.run(1000);
  for (let n = 0; n < 26; n++) {
    rig.api.namespace(`team-${n}`);
    await rig.clock.advance(2000);
  }
  rig.api.namespace("taken");
  rig.api.secret("taken/registry", {}, { mine: "x" });
  rig.source("shared/registry", { password: "one" }, "team-*,taken");
  await rig.clock.advance(5000);
  assert.equal(notes(rig, "registry", "Conflict").length, 1);
  rig.source("shared/registry", { password: "one" }, "Team_A");
  await rig.clock.advance(5000);
  assert.equal(notes(rig, "registry", "Refused").length, 1);
  const copied = notes(rig, "registry", "Copied").length;
  assert.ok(copied >= 1 && copied <= 8, `${copied} Events for 26 namespaces`);
});

test("changes in one namespace each are reported together a minute later", async () => {
  const rig = new Rig();
  rig.teams();
  await rig.run(1000);
  for (let n = 0; n < 10; n++) {
    rig.api.namespace(`team-${n}`);
    await rig.clock.advance(1000);
  }
  await rig.clock.advance(120_000);
  const reported = notes(rig, "registry", "Copied");
  assert.deepEqual(
    reported.slice(0, 5),
    Array.from({ length: 5 }, (_, n) => `copied to 1 namespace (team-${n})`),
  );
  assert.deepEqual(reported.slice(5), [
    "copied to 5 namespaces (team-5, team-6, team-7, team-8, team-9)",
  ]);
});

test("a Warning without room is sent later, if its state still holds", async () => {
  const rig = new Rig("team-0");
  const started = await rig.run(1000);
  for (let n = 0; n < 30; n++) {
    rig.source("shared/registry", { password: "one" }, `Team_${n}`);
    await rig.clock.advance(2000);
  }
  assert.equal(notes(rig, "registry", "Refused").length, 25);
  await rig.clock.advance(6 * 60_000);
  const reported = notes(rig, "registry", "Refused");
  assert.equal(reported.length, 26);
  assert.match(String(reported.at(-1)), /Team_29/, "the state that still holds");
  await started.stop();
  assert.equal(rig.clock.timers, 0, "nothing is waited for any more");
});

test("a Warning that no server took arrives after the outage", async () => {
  const rig = new Rig("team-0");
  rig.source("shared/wrong", { a: "1" }, "Team_A");
  let away = true;
  rig.start({
    before: async (request) => {
      if (away && request.path.includes("/events")) throw refusal(request, "unavailable");
    },
  });
  await rig.clock.advance(5 * 60_000);
  assert.equal(notes(rig, "wrong", "Refused").length, 0);
  away = false;
  await rig.clock.advance(60_000);
  assert.equal(notes(rig, "wrong", "Refused").length, 1);
});
