// What the log, the metrics and the page say of writes that fail. On a fake clock.
import assert from "node:assert/strict";
import { test } from "node:test";
import { statusError } from "../../../packages/kube/rest/api-error.ts";
import { groupRows } from "../../../src/page/groups.ts";
import {
  faults,
  isWrite,
  Rig,
  type Line,
  type Started,
} from "../../support/controller/fake-clock-controller.ts";

const about = (started: Started, what: RegExp): readonly Line[] =>
  started.lines.filter(({ msg }) => what.test(msg));

const POLICY = "ValidatingAdmissionPolicy 'no-copies' with binding 'here' denied request: hunter2";
/** As the API server says it, of writes in namespaces for which `sick` holds. */
function denied(sick: (namespace: string) => boolean) {
  return faults(isWrite, async ({ path, what }) => {
    const namespace = path.split("/")[4] ?? "";
    if (!sick(namespace)) return;
    const message = `secrets "registry" is forbidden: ${POLICY}`;
    throw statusError(what, 422, { kind: "Status", code: 422, reason: "Invalid", message });
  });
}

test("a policy's refusal in thirty namespaces is one row and line, whatever the tries", async () => {
  const rig = new Rig();
  const teams = Array.from({ length: 30 }, (_, n) => `team-${n}`);
  rig.teams(...teams);
  let healed = new Set<string>();
  const sick = denied((namespace) => !healed.has(namespace));
  sick.on = true;
  const started = rig.start({ given: { resync: "0" }, before: sick.before });
  const said = () => started.lines.filter(({ level }) => level !== "debug").slice(4);
  await rig.clock.advance(20_000);
  const metric = (cause: string) => started.metric("secretcast_write_failures_total", { cause });
  assert.ok((await metric("policy")) >= 4 * 30);
  const [line] = said();
  assert.equal(said().length, 1, JSON.stringify(said()));
  assert.equal(line?.msg, "write failed, will try again");
  assert.equal(line["cause"], "policy");
  assert.equal(line["reason"], "policy no-copies with binding here refused it");
  assert.equal(line["count"], 30);
  assert.deepEqual(
    line["places"],
    ["0", "1", "10", "11", "12"].map((n) => `team-${n}/registry`),
  );
  await rig.clock.advance(600_000);
  assert.equal(said().length, 1, "a retry that changes nothing says nothing");
  assert.ok((await metric("policy")) >= 30 * 8);
  assert.equal(await metric("quota"), 0);
  const rows = started.syncs.at(-1)?.plan.rows ?? [];
  const groups = await groupRows(rows, { offsetMs: 0, beganAt: 0 });
  assert.deepEqual(
    groups.map(({ state, cause, reason, places }) => ({ state, cause, reason, n: places.total })),
    [{ state: "failed", cause: "policy", reason: line["reason"], n: 30 }],
  );

  healed = new Set(teams.slice(10));
  rig.source("shared/registry", { password: "two" });
  await rig.clock.advance(600_000);
  const changes = said()
    .slice(1)
    .filter(({ msg }) => msg !== "synced" && msg !== "copied");
  assert.deepEqual(
    changes.map(({ msg, count, cause }) => ({ msg, count, cause })),
    [{ msg: "write failed, will try again", count: 10, cause: "policy" }],
  );
  assert.ok(Number(changes[0]?.["tries"]) >= 30, "what was not said is counted");

  healed = new Set(teams);
  await rig.clock.advance(600_000);
  const [over, ...more] = said().filter(({ msg }) => msg.startsWith("resolved: "));
  assert.equal(over?.msg, "resolved: write failed, will try again");
  assert.deepEqual(over["reasons"], [line["reason"]]);
  assert.deepEqual(over["places"], changes[0]?.["places"], "where it was");
  assert.deepEqual(more, []);
  assert.doesNotMatch(JSON.stringify(started.lines), /hunter2/);
});

test("another cause is a change at once, and no end", async () => {
  const rig = new Rig("team-a");
  let code = 500;
  const sick = faults(
    isWrite,
    async ({ what }) => {
      throw statusError(what, code, {});
    },
    true,
  );
  const started = await rig.run(20_000, { given: { resync: "0" }, before: sick.before });
  code = 413;
  await rig.clock.advance(60_000);
  const lines = about(started, /write failed/);
  assert.deepEqual(
    lines.map(({ msg, reason }) => `${msg}: ${String(reason)}`),
    [
      "write failed, will try again: the API server itself failed (500)",
      "write failed, will try again: reason withheld (413 RequestEntityTooLarge)",
    ],
  );
});

test("a hundred causes of one source are five lines a minute at most", async () => {
  const rig = new Rig();
  const teams = Array.from({ length: 100 }, (_, n) => `team-${n}`);
  rig.teams(...teams);
  const sick = faults(
    isWrite,
    async ({ path, what }) => {
      const policy = path.split("/")[4];
      const message = `secrets "registry" is forbidden: ValidatingAdmissionPolicy '${policy}' denied request: no`;
      throw statusError(what, 422, { kind: "Status", code: 422, reason: "Invalid", message });
    },
    true,
  );
  const started = await rig.run(300_000, { given: { resync: "0" }, before: sick.before });
  const lines = about(started, /^write failed/);
  assert.ok(lines.length >= 10 && lines.length <= 30, `${lines.length} lines in five minutes`);
  sick.on = false;
  await rig.clock.advance(600_000);
  const over = about(started, /^resolved: write failed/);
  assert.ok(over.length >= 1 && over.length <= lines.length, `${over.length} ends`);
  assert.equal(started.syncs.at(-1)?.plan.states.current, 100);
});

test("quotas with a name for each tenant are one row, one line and one cause", async () => {
  const rig = new Rig();
  const teams = Array.from({ length: 250 }, (_, n) => `team-${String(n).padStart(3, "0")}`);
  rig.teams(...teams);
  const sick = faults(
    isWrite,
    async ({ path, what }) => {
      const quota = `q-${path.split("/")[4]}`;
      const message = `secrets "registry" is forbidden: exceeded quota: ${quota}, requested: secrets=1`;
      throw statusError(what, 403, { kind: "Status", code: 403, reason: "Forbidden", message });
    },
    true,
  );
  const started = await rig.run(60_000, { given: { resync: "0" }, before: sick.before });
  const [line, ...more] = about(started, /^write failed, will try again/);
  assert.deepEqual(more, []);
  const reason =
    "quota q-team-000, q-team-001, q-team-002, q-team-003, q-team-004 and 245 more would be exceeded";
  assert.equal(line?.["reason"], reason);
  const all = about(started, /^write failed/);
  const named = all.flatMap((each) => [each["places"], each["others"] ?? []].flat());
  assert.deepEqual(
    named.map(String).toSorted((a, b) => (a < b ? -1 : 1)),
    teams.map((team) => `${team}/registry`),
  );
  const times = { offsetMs: 0, beganAt: 0 };
  const rows = started.syncs.at(-1)?.plan.rows ?? [];
  const [group, ...others] = await groupRows(rows, times, 10_000);
  assert.deepEqual(others, []);
  assert.equal(group?.reason, reason);
  assert.equal(group.places.shown.length, 250);
  assert.equal((await groupRows(rows, times))[0]?.places.shown.length, 50);
});
