// What the log says while the API server is away or a right is, and when that is over. On a fake clock.
import assert from "node:assert/strict";
import { test } from "node:test";
import { ApiError } from "../../../packages/kube/rest/api-error.ts";
import {
  faults,
  inOutage,
  Rig,
  unavailable,
  refuse,
} from "../../support/controller/fake-clock-controller.ts";
import type { Started } from "../../support/controller/fake-clock-controller.ts";

const WATCH = "list or watch failed, will try again";
const LEASE = "lease not taken, renewed or released";

const said = ({ lines }: Started, message: string): readonly string[] =>
  lines.filter(({ msg }) => msg === message).map(({ resource }) => String(resource));

test("the end of an outage is reported once for each failed watch", async () => {
  const rig = new Rig("team-a");
  const { outage, started } = await inOutage(rig);
  await rig.clock.advance(600_000);
  assert.deepEqual(said(started, `resolved: ${WATCH}`), []);
  const lines = said(started, WATCH).length;
  assert.ok(lines >= 10 && lines <= 90, `${lines} lines in ten minutes of three watches`);
  outage.on = false;
  await rig.clock.advance(60_000);
  const resources = ["namespaces", "secrets", "source list"];
  assert.deepEqual(said(started, `resolved: ${WATCH}`).toSorted(), resources);
  const over = started.lines.find(({ msg }) => msg === `resolved: ${WATCH}`);
  assert.ok(Number(over?.["afterMs"]) >= 600_000);
  await rig.clock.advance(3_600_000);
  assert.equal(said(started, `resolved: ${WATCH}`).length, resources.length, "a quiet hour");
});

test("an outage with ten listed namespaces is three lines a minute and resource", async () => {
  const rig = new Rig();
  const teams = Array.from({ length: 10 }, (_, at) => `team-${at}`);
  rig.teams(...teams);
  const given = { namespaces: ["shared", ...teams].join(","), "source-list": "" };
  const { outage, started } = await inOutage(rig, given);
  await rig.clock.advance(59_000);
  assert.deepEqual(said(started, WATCH).toSorted(), [
    ...Array.from({ length: 3 }, () => "namespaces"),
    ...Array.from({ length: 3 }, () => "secrets"),
  ]);
  outage.on = false;
  await rig.clock.advance(60_000);
  assert.deepEqual(said(started, `resolved: ${WATCH}`).toSorted(), ["namespaces", "secrets"]);
});

test("a stand-by with an unreadable Lease reports it three times a minute", async () => {
  const rig = new Rig("team-a");
  const given = { "leader-elect": true };
  await rig.run(5000, { given });
  const forbidden = faults(() => true, refuse("forbidden"));
  const standBy = await rig.run(10_000, { given, beforeLease: forbidden.before });
  forbidden.on = true;
  await rig.clock.advance(59_000);
  assert.equal(said(standBy, LEASE).length, 3);
  forbidden.on = false;
  await rig.clock.advance(10_000);
  assert.equal(said(standBy, `resolved: ${LEASE}`).length, 1);
  assert.equal(standBy.controller.leading, false);
});

test("a leader's missed renewal is reported, and that the Lease is renewed again", async () => {
  const rig = new Rig("team-a");
  const outage = faults(() => true, unavailable);
  const started = await rig.run(5000, {
    given: { "leader-elect": true },
    beforeLease: outage.before,
  });
  outage.on = true;
  await rig.clock.advance(5000);
  outage.on = false;
  await rig.clock.advance(5000);
  assert.equal(said(started, `resolved: ${LEASE}`).length, 1);
  assert.ok(said(started, LEASE).length >= 1);
});

test("Events that the API server refuses are reported, three a minute and the rest counted", async () => {
  const rig = new Rig("team-a");
  for (let at = 0; at < 40; at++) rig.source(`shared/bad-${at}`, { k: "v" }, "Team");
  const forbidden = faults(
    ({ path }) => path.includes("/events"),
    ({ what }) => {
      throw new ApiError(what, { kind: "forbidden", status: 403, reason: "Forbidden" });
    },
    true,
  );
  const started = await rig.run(5000, { before: forbidden.before });
  const lost = (): typeof started.lines =>
    started.lines.filter(({ msg, level }) => msg === "event not sent" && level === "warn");
  assert.equal(lost().length, 3);
  assert.ok(lost().every(({ reason }) => reason === "refused"));
  await rig.clock.advance(60_000);
  rig.source("shared/late", { k: "v" }, "Team");
  await rig.clock.advance(5000);
  assert.ok(Number(lost().at(-1)?.["count"]) >= 38, "those between are counted");
});
