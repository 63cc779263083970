// Writes on a cluster state that has moved: a cache that is behind, another writer, places that fail, sources
// that flap, and copies whose source may be gone. On a fake clock.
import assert from "node:assert/strict";
import { test } from "node:test";
import { secretPath } from "../../support/controller/memory-api.ts";
import {
  faults,
  hang,
  isWrite,
  Rig,
  unavailable,
  refuse,
} from "../../support/controller/fake-clock-controller.ts";

const TEAMS = ["team-a", "team-b", "team-c"] as const;

test("LV-06 LV-12 a create against the cache reads the object that it meets", async () => {
  const rig = new Rig("team-a");
  const started = await rig.run(5000);
  rig.api.lose = ({ metadata }) => metadata.name === "registry";
  rig.api.namespace("team-b");
  rig.api.secret("team-b/registry", {}, { mine: "x" });
  await rig.clock.advance(600_000);
  const sent = rig.api.seen.filter(({ path }) => path.includes("/team-b/"));
  assert.deepEqual(Array.from(new Set(sent.map(({ method }) => method))), ["POST", "GET"]);
  assert.equal(sent.filter(({ method }) => method === "POST").length, 1);
  assert.ok(sent.length < 30, "less and less often, then twice a minute");
  assert.deepEqual(rig.api.get("team-b/registry")?.["data"], { mine: btoa("x") });
  assert.equal(started.syncs.at(-1)?.plan.states.conflict, 1);
  rig.api.removeSecret("team-b/registry");
  await rig.clock.advance(31_000);
  assert.deepEqual(rig.api.get("team-b/registry")?.["data"], { password: btoa("one") });
});

test("LV-06 a place that is both taken and free is not asked for without a pause", async () => {
  const rig = new Rig("team-a");
  const torn = faults(isWrite, refuse("alreadyExists"), true);
  await rig.run(60_000, { before: torn.before });
  const tries = rig.api.writes.length;
  assert.ok(tries > 5 && tries < 25, `${tries} tries in a minute`);
  torn.on = false;
  await rig.clock.advance(5000);
  assert.ok(rig.api.get("team-a/registry"));
});

test("LV-14 what was written is not written again though the watch says nothing of it", async () => {
  const rig = new Rig(...TEAMS);
  rig.api.lose = ({ metadata }) => metadata.namespace?.startsWith("team-") ?? false;
  await rig.run(60_000, { given: { resync: "10s", "delete-grace": "0" } });
  assert.deepEqual(
    rig.api.writes,
    TEAMS.map((team) => `POST ${team}`),
  );
  rig.api.removeSecret("shared/registry");
  await rig.clock.advance(60_000);
  assert.equal(
    rig.api.writes.length,
    2 * TEAMS.length,
    "and what was removed is not removed again",
  );
});

test("LV-10 LV-13 a write on an old cache is retried after 100 ms, then later", async () => {
  const rig = new Rig("team-a");
  await rig.converge();
  const started = await rig.run(5000);
  rig.api.lose = ({ metadata }) => metadata.namespace === "team-a";
  rig.api.put(secretPath("team-a/registry"), { metadata: { labels: { somebody: "else" } } });
  const writes = rig.api.seen.length;
  rig.source("shared/registry", { password: "two" });
  await rig.clock.advance(60_000);
  const times = rig.api.seen
    .slice(writes)
    .flatMap(({ at, path }) => (path.includes("/team-a/") ? [at] : []));
  const waits = times.slice(1).map((at, n) => at - (times[n] ?? 0));
  assert.deepEqual(waits.slice(0, 7), [100, 300, 900, 2700, 5000, 5000, 5000]);
  assert.equal(started.syncs.at(-1)?.plan.states.failed, 0);
  assert.equal(started.outcomes.filter(({ kind }) => kind === "failed").length, 0);
  rig.api.lose = () => false;
  rig.api.expireWatches();
  await rig.clock.advance(10_000);
  assert.deepEqual(rig.api.get("team-a/registry")?.["data"], { password: btoa("two") });
  await started.stop();
  await rig.assertRight();
});

test("LE-12 two controllers at once write each place once for each change", async () => {
  const rig = new Rig(...TEAMS);
  rig.api.secret("team-b/tls", {}, { mine: "x" });
  rig.source("shared/tls", { key: "k" });
  const both = [rig.start(), rig.start()];
  await rig.clock.advance(60_000);
  const uids = TEAMS.map((team) => rig.api.get(`${team}/registry`)?.metadata.uid);
  for (let round = 0; round < 5; round++) {
    rig.source("shared/registry", { password: `${round}` });
    rig.api.removeSecret("team-a/tls");
    await rig.clock.advance(60_000);
  }
  assert.deepEqual(
    TEAMS.map((team) => rig.api.get(`${team}/registry`)?.metadata.uid),
    uids,
  );
  const made = rig.api.history.filter(
    ({ object }) => object.metadata.name === "registry" && object.metadata.namespace !== "shared",
  );
  assert.equal(made.length, TEAMS.length * 6, "one create and five updates each");
  assert.deepEqual(rig.api.get("team-b/tls")?.["data"], { mine: btoa("x") });
  for (const one of both) await one.stop();
  await rig.assertRight();
});

test("LV-24 a place that fails holds up no other, and is tried again by itself", async () => {
  const rig = new Rig(...TEAMS);
  const sick = faults(
    (request) => isWrite(request) && request.path.includes("/team-a"),
    unavailable,
    true,
  );
  await rig.run(60_000, { before: sick.before });
  assert.ok(rig.api.get("team-b/registry") && rig.api.get("team-c/registry"));
  assert.equal(rig.api.writes.filter((write) => write === "POST team-b").length, 1);
  const tries = rig.api.seen.filter(({ path }) => path.includes("/team-a/")).map(({ at }) => at);
  const waits = tries.slice(1).map((at, n) => at - (tries[n] ?? 0));
  assert.deepEqual(waits, [1000, 2000, 4000, 8000, 16_000]);
  sick.on = false;
  await rig.clock.advance(60_000);
  assert.ok(rig.api.get("team-a/registry"));
});

test("LV-23 LV-25 a write that hangs holds up no fresh work", async () => {
  const rig = new Rig("team-a");
  const sick = faults(
    (request) => isWrite(request) && request.path.includes("/team-a"),
    hang,
    true,
  );
  await rig.run(5000, { before: sick.before });
  rig.api.namespace("team-b");
  await rig.clock.advance(1000);
  assert.ok(rig.api.get("team-b/registry"));
});

test("LV-26 a source that changes ten times a second costs a place one write a second", async () => {
  const rig = new Rig(...TEAMS);
  await rig.run(5000);
  const before = rig.api.writes.length;
  for (let tenth = 0; tenth < 300; tenth++) {
    rig.source("shared/registry", { password: `${tenth}` });
    await rig.clock.advance(100);
  }
  const each = (rig.api.writes.length - before) / TEAMS.length;
  assert.ok(each >= 25 && each <= 31, `${each} writes a place in 30 s`);
  await rig.clock.advance(2000);
  assert.deepEqual(rig.api.get("team-a/registry")?.["data"], { password: btoa("299") });
});

test("LV-28 LV-12 a copy goes only after a live GET says that its source is gone", async () => {
  const rig = new Rig("team-a", "team-b");
  const deaf = faults(
    ({ method, path }) => method === "GET" && path.endsWith("/shared/secrets/registry"),
    unavailable,
  );
  const started = await rig.run(5000, { before: deaf.before });
  deaf.on = true;
  rig.api.removeSecret("shared/registry");
  await rig.clock.advance(60_000);
  assert.ok(rig.api.get("team-a/registry"), "nobody could be asked");
  assert.equal(started.syncs.at(-1)?.plan.states.frozen, 2);
  deaf.on = false;
  await rig.clock.advance(300_000);
  assert.equal(rig.api.get("team-a/registry"), undefined);
  const asked = rig.api.seen.filter(({ path }) => path === secretPath("shared/registry"));
  const gone = rig.api.writes.filter((write) => write.startsWith("DELETE"));
  assert.deepEqual(gone.toSorted(), ["DELETE team-a/registry", "DELETE team-b/registry"]);
  assert.ok(asked.length >= 2, "asked again and again");
});

test("LV-28 a source that only the cache has lost keeps its copies", async () => {
  const rig = new Rig("team-a");
  await rig.run(5000);
  // The watch says that it is deleted, and is wrong.
  const path = secretPath("shared/registry");
  const source = rig.api.objects.get(path);
  rig.api.removeSecret("shared/registry");
  if (source) rig.api.objects.set(path, source);
  await rig.clock.advance(120_000);
  assert.ok(rig.api.get("team-a/registry"));
  assert.deepEqual(rig.api.writes, ["POST team-a"]);
});
