// Copies that others hold, hide, rewrite or make something else of. On a fake clock.
import assert from "node:assert/strict";
import { test } from "node:test";
import { objectOf } from "../../../src/controller/model/unstructured.ts";
import type { FlagValues } from "../../../src/controller/settings/config.ts";
import { isAllCurrent } from "../../../src/controller/sync/sync-result.ts";
import { secretPath } from "../../support/controller/memory-api.ts";
import { faults, isWrite, Rig, refuse } from "../../support/controller/fake-clock-controller.ts";

const COPY = "team-a/registry";

test("a copy behind a finalizer is made again within a second of its end", async () => {
  const rig = new Rig("team-a");
  const started = await rig.run(5000);
  const path = secretPath(COPY);
  rig.api.put(path, {
    metadata: { finalizers: ["example.com/hold"], deletionTimestamp: "2026-01-01T00:00:00Z" },
  });
  await rig.clock.advance(20_000);
  assert.deepEqual(
    started.syncs.at(-1)?.plan.rows.map(({ verdict }) => verdict),
    ["wait"],
  );
  assert.deepEqual(rig.api.writes, ["POST team-a"]);
  rig.api.remove(path);
  await rig.clock.advance(1000);
  assert.ok(rig.api.get(COPY));
  assert.equal(started.syncs.at(-1)?.plan.states.conflict, 0);
});

test("a source with copies that a webhook changes ends in Fought, also after a restart", async () => {
  const rig = new Rig("team-a");
  // A mutating webhook, as the object that is stored and answered shows.
  rig.api.admit = (object) =>
    object.metadata.namespace === "team-a" ? { ...object, data: { password: "b3RoZXI=" } } : object;
  for (let start = 1; start <= 2; start++) {
    const from = rig.api.writes.length;
    const started = await rig.run(25_000);
    assert.ok(rig.api.writes.length - from <= 1, "one try before the first back-off");
    assert.deepEqual(
      started.syncs.at(-1)?.plan.rows.map(({ verdict }) => verdict),
      ["backoff"],
    );
    await rig.clock.advance(600_000);
    const tries = rig.api.writes.length - from;
    assert.ok(tries >= 3 && tries < 10, `${tries} tries in ten minutes`);
    const reported = rig.api.history.filter(({ object }) => object["reason"] === "Fought");
    assert.equal(reported.length, start);
    await started.stop();
  }
});

const FOUGHT = "copies are repeatedly changed by another client";

test("a copy that a webhook changes is one line at each end of it", async () => {
  const rig = new Rig("team-a", "team-b");
  const admit = rig.api.admit;
  rig.api.admit = (object) =>
    object.metadata.namespace === "team-a" ? { ...object, data: { password: "b3RoZXI=" } } : object;
  const started = rig.start();
  const reported = (message: string) => started.lines.filter(({ msg }) => msg === message);
  await rig.clock.advance(3_600_000);
  const [line, ...more] = reported(FOUGHT);
  assert.deepEqual(more, []);
  assert.deepEqual(
    [line?.level, line?.["source"], line?.["places"], line?.["reason"]],
    [
      "warn",
      "shared/registry",
      ["team-a/registry"],
      "an admission webhook or policy changes the copy",
    ],
  );
  const [event] = rig.api.history.filter(({ object }) => object["reason"] === "Fought");
  assert.equal(
    event?.object["note"],
    "what is written to copies in 1 namespace (team-a) is altered by a webhook or policy; backing off",
  );
  assert.deepEqual(reported(`resolved: ${FOUGHT}`), []);
  rig.api.admit = admit;
  await rig.clock.advance(5_400_000);
  assert.equal(reported(`resolved: ${FOUGHT}`).length, 1);
});

test("a copy that is edited for an hour is one line in the log", async () => {
  const rig = new Rig("team-a");
  const started = await rig.run(5000);
  for (let second = 0; second < 3600; second += 2) {
    rig.api.secret(COPY, {}, { password: `edit ${second}` });
    await rig.clock.advance(2000);
  }
  const reported = started.lines.filter(({ msg }) => msg.endsWith(FOUGHT));
  assert.deepEqual(
    reported.map(({ level, reason }) => [level, reason]),
    [["warn", "repaired again and again: another client keeps changing it"]],
  );
});

test("a webhook that strips our marks ends in Fought and one conflict", async () => {
  const rig = new Rig("team-a");
  await rig.converge();
  rig.api.admit = (object) =>
    object.metadata.namespace === "team-a"
      ? { ...object, metadata: { ...object.metadata, labels: {} } }
      : object;
  const started = await rig.run(5000);
  const from = rig.api.writes.length;
  rig.api.put(secretPath("shared/registry"), { immutable: true, type: "example.com/other" });
  await rig.clock.advance(600_000);
  assert.ok(rig.api.writes.length - from <= 3, rig.api.writes.slice(from).join());
  const reported = rig.api.history.filter(({ object }) => object["reason"] === "Fought");
  assert.equal(reported.length, 1);
  assert.equal(started.syncs.at(-1)?.plan.states.conflict, 1);
});

test("a copy that is rewritten faster than its delete is deleted while it is ours", async () => {
  for (const [change, goes] of [
    [{ metadata: { labels: { note: "n" } } }, true],
    [{ metadata: { labels: { "app.kubernetes.io/managed-by": null } } }, false],
  ] as const) {
    const rig = new Rig("team-a");
    await rig.converge();
    let n = 0;
    const started = await rig.run(3000, {
      given: { "delete-grace": "0" },
      before: async (request) => {
        // Just before the delete arrives, twice out of three times.
        if (request.method === "DELETE" && isWrite(request) && n++ % 3 < 2)
          rig.api.put(secretPath(COPY), change);
      },
    });
    rig.source("shared/registry", { password: "one" }, "nowhere");
    await rig.clock.advance(3000);
    assert.equal(rig.api.get(COPY) === undefined, goes);
    if (!goes) assert.equal(rig.api.writes.filter((write) => write.startsWith("DELETE")).length, 1);
    await started.stop();
  }
});

test("a stand-by remembers nothing of copies that vanish", async () => {
  const rig = new Rig("team-a");
  const given = { "leader-elect": true, "lease-namespace": "shared" };
  const first = await rig.run(5000, { given });
  const second = await rig.run(5000, { given });
  rig.api.removeSecret(COPY);
  await rig.clock.advance(5000);
  await first.stop();
  await rig.clock.advance(30_000);
  assert.equal(second.controller.leading, true);
  assert.equal(await second.metric("secretcast_drift_repaired_total", { kind: "deleted" }), 0);
  rig.api.removeSecret(COPY);
  await rig.clock.advance(5000);
  assert.equal(await second.metric("secretcast_drift_repaired_total", { kind: "deleted" }), 1);
});

/** Two sources for one place; the administrator puts `first` before `shared`. */
function contested(rig: Rig, type = "Opaque"): { readonly given: FlagValues } {
  rig.teams("team-a");
  rig.api.namespace("first");
  rig.source("first/registry", { password: "two" });
  rig.api.put(secretPath("first/registry"), { type });
  return { given: { "source-namespaces": "first,shared" } };
}

test("a place that another source has is a conflict of the source that lost it", async () => {
  const rig = new Rig();
  const started = await rig.run(5000, contested(rig));
  const copies = (state: string): Promise<number> => {
    return started.metric("secretcast_copies", { state, resource: "secrets" });
  };
  assert.deepEqual([await copies("current"), await copies("conflict")], [1, 1]);
  const plan = started.syncs.at(-1)?.plan;
  assert.ok(plan);
  const loser = plan.sources.find(({ source }) => source.namespace === "shared");
  assert.equal(loser?.counts.conflict, 1, "the source that lost the place says so");
  assert.equal(isAllCurrent(plan), false);
  rig.api.secret("team-a/other", {}, { mine: "x" });
  rig.source("shared/other", { password: "one" });
  rig.source("first/other", { password: "two" });
  await rig.clock.advance(5000);
  assert.deepEqual(
    [await copies("current"), await copies("conflict")],
    [1, 3],
    "an unmanaged Secret in the way of two sources is a conflict of each",
  );
});

test("a takeover with another type is one replace, and its refusal leaves the copy", async () => {
  const rig = new Rig("team-a");
  await rig.converge();
  const held = rig.api.get(COPY)?.metadata.uid;
  const options = contested(rig, "example.com/other");
  const refusing = faults(
    ({ method, path }) => method === "POST" && path.includes("/team-a/"),
    refuse("forbidden"),
    true,
  );
  const from = rig.api.writes.length;
  await rig.run(20_000, { ...options, before: refusing.before });
  assert.equal(rig.api.get(COPY)?.metadata.uid, held, "nothing was deleted");
  assert.ok(!rig.api.writes.slice(from).some((write) => write.startsWith("DELETE")));
  rig.source("shared/registry", { password: "three" });
  await rig.clock.advance(5000);
  assert.deepEqual(
    rig.api.get(COPY)?.["data"],
    { password: btoa("three") },
    "the holder continues to be served",
  );
  refusing.on = false;
  const then = rig.api.writes.length;
  await rig.clock.advance(300_000);
  assert.deepEqual(
    rig.api.writes.slice(then),
    ["POST team-a", `DELETE ${COPY}`, "POST team-a"],
    "a dry run, and one replace",
  );
  assert.equal(rig.api.get(COPY)?.["type"], "example.com/other");
});

test("a copy that was edited repeatedly and is then deleted returns within a second", async () => {
  const rig = new Rig("team-a");
  const started = await rig.run(5000);
  for (let edit = 0; edit < 8; edit++) {
    rig.api.secret(COPY, {}, { password: `edit ${edit}` });
    await rig.clock.advance(5000);
  }
  const rows = started.syncs.at(-1)?.plan.rows ?? [];
  assert.deepEqual(
    rows.map(({ verdict }) => verdict),
    ["backoff"],
  );
  rig.api.removeSecret(COPY);
  await rig.clock.advance(1000);
  assert.deepEqual(rig.api.get(COPY)?.["data"], { password: btoa("one") });
});

for (const [type, empty] of [
  ["kubernetes.io/tls", ""],
  ["kubernetes.io/dockerconfigjson", "e30="],
] as const) {
  test(`entries of a pulling ${type} Secret that a manifest empties are filled by one write`, async () => {
    const keys = type === "kubernetes.io/tls" ? ["tls.crt", "tls.key"] : [".dockerconfigjson"];
    const manifest = Object.fromEntries(keys.map((key) => [key, empty]));
    const rig = new Rig("team-a");
    const values = Object.fromEntries(keys.map((key) => [key, '{"auths":{}}']));
    rig.api.secret("shared/typed", { annotations: { "secretcast.io/allow": "*" } }, values);
    rig.api.put(secretPath("shared/typed"), { type });
    const pull = { "secretcast.io/from": "shared/typed" };
    const path = secretPath("team-a/typed");
    rig.api.put(path, { metadata: { annotations: pull }, type, data: manifest });
    const started = await rig.run(10_000);
    const from = rig.api.writes.length;
    for (let turn = 1; turn <= 60; turn++) {
      rig.api.put(path, { data: manifest });
      await rig.clock.advance(2000);
      const { data } = objectOf(rig.api.get("team-a/typed"));
      assert.notDeepEqual(data, manifest, `filled after turn ${turn}`);
      await rig.clock.advance(8000);
      assert.equal(rig.api.writes.length - from, turn, "one write for each emptying");
    }
    // A value that somebody wrote is in dispute.
    for (let turn = 1; turn <= 10; turn++) {
      const other = Object.fromEntries(keys.map((key) => [key, "eyJ4IjoxfQ=="]));
      rig.api.put(path, { data: other });
      await rig.clock.advance(5000);
    }
    assert.equal(started.syncs.at(-1)?.plan.rows.at(-1)?.verdict, "backoff");
  });
}
