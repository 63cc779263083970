// What the log says of copies that go. On a fake clock.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Rig } from "../support/controller/fake-clock-controller.ts";

const MINUTE_MS = 60_000;
const GONE = "0d8a3c5e-5f1b-4a51-9a55-000000000001";

test("copies of one source that go one after the other are five lines a minute, and none is left uncounted", async () => {
  const rig = new Rig();
  rig.teams("team-a");
  await rig.converge();
  const started = rig.start({ given: { "delete-grace": "0", "delete-limit": "0" } });
  await rig.clock.advance(5000);
  const copies = Array.from({ length: 12 }, (_, n) => `team-a/forged-${n}`);
  for (const place of copies) {
    rig.api.secret(place, {
      labels: { "app.kubernetes.io/managed-by": "secretcast" },
      annotations: {
        "secretcast.io/source": "shared/registry",
        "secretcast.io/source-uid": GONE,
        "secretcast.io/placed-at": place,
      },
    });
    await rig.clock.advance(4000);
  }
  const lines = () => started.lines.filter(({ msg }) => msg === "copies removed");
  assert.ok(copies.every((place) => rig.api.get(place) === undefined));
  assert.equal(lines().length, 5);
  await rig.clock.advance(15 * MINUTE_MS);
  const count = lines().reduce((sum, line) => sum + Number(line["count"]), 0);
  assert.equal(count, copies.length);
  await started.stop();
  await rig.assertRight();
});
