// A user ends the wait of a failed write by a change of its source, its Namespace or the pulling object. On a
// fake clock and an API server in memory.
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  faults,
  isWrite,
  Rig,
  type Started,
  refuse,
} from "../../support/controller/fake-clock-controller.ts";

const PLACE = "team-a/registry";

/** A source whose copies in team-a and team-b have failed for ten minutes. */
async function failing(rig: Rig, kind: "forbidden" | "unavailable" = "forbidden") {
  rig.teams("team-a", "team-b");
  const quota = faults(isWrite, refuse(kind), true);
  const started = await rig.run(600_000, { before: quota.before });
  return { quota, started };
}

const triesIn = ({ outcomes }: Started, namespace: string): number =>
  outcomes.filter(({ kind, action }) => kind === "failed" && action.place.namespace === namespace)
    .length;

test("a change of the source ends the wait of all its failed places", async () => {
  const rig = new Rig();
  const { quota } = await failing(rig);
  quota.on = false;
  rig.api.secret("shared/registry", { annotations: { "retried-at": "1" } });
  await rig.clock.advance(1000);
  assert.ok(rig.api.get(PLACE) && rig.api.get("team-b/registry"));
});

test("a change of the Namespace ends the wait of the failed places in it alone", async () => {
  const rig = new Rig();
  const { quota } = await failing(rig);
  quota.on = false;
  rig.api.namespace("team-a", { annotations: { "retried-at": "1" } });
  await rig.clock.advance(1000);
  assert.ok(rig.api.get(PLACE));
  assert.equal(rig.api.get("team-b/registry"), undefined);
});

test("a change of a pulling Secret ends the wait of its own fill", async () => {
  const rig = new Rig();
  rig.teams();
  rig.api.namespace("team-a");
  rig.api.secret("shared/ca", { annotations: { "secretcast.io/allow": "*" } }, { ca: "one" });
  rig.api.secret("team-a/pulled", { annotations: { "secretcast.io/from": "shared/ca" } });
  const quota = faults(isWrite, refuse("forbidden"), true);
  await rig.run(600_000, { before: quota.before });
  quota.on = false;
  const before = rig.api.writes.length;
  rig.api.secret("team-a/pulled", { annotations: { "retried-at": "1" } });
  await rig.clock.advance(1000);
  assert.ok(rig.api.writes.length > before);
});

test("a source whose `to` was removed ends the wait of a failed removal", async () => {
  const rig = new Rig("team-a");
  const denied = faults(isWrite, refuse("forbidden"));
  await rig.run(5000, { before: denied.before });
  denied.on = true;
  rig.api.secret("shared/registry", { annotations: { "secretcast.io/to": null } });
  await rig.clock.advance(600_000);
  assert.ok(rig.api.get(PLACE));
  denied.on = false;
  rig.api.secret("shared/registry", { annotations: { "retried-at": "1" } });
  await rig.clock.advance(2000);
  assert.equal(rig.api.get(PLACE), undefined);
});

for (const [what, touch] of Object.entries({
  "a source": (rig: Rig, round: number) =>
    rig.api.secret("shared/registry", { annotations: { note: `${round}` } }),
  "a Namespace": (rig: Rig, round: number) =>
    rig.api.namespace("team-a", { annotations: { note: `${round}` } }),
}))
  test(`${what} that changes without a pause keeps back-off, with one early try in ten seconds`, async () => {
    const rig = new Rig();
    const { started } = await failing(rig);
    const before = triesIn(started, "team-a");
    for (let round = 0; round < 600; round++) {
      touch(rig, round);
      await rig.clock.advance(100);
    }
    const tries = triesIn(started, "team-a") - before;
    assert.ok(tries >= 2 && tries <= 7, `${tries} tries in a minute`);
  });
