// --max-value-age: sources are counted by the age of their value, which no label makes younger. Without the flag,
// nothing is kept and no series exists.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Rig } from "../../support/controller/fake-clock-controller.ts";

const MINUTE = 60_000;
const DATA = { "f:data": { "f:k": {} } };
const LABEL = { "f:metadata": { "f:labels": { "f:x": {} } } };
const counted = (certainty: string) =>
  ["secretcast_old_values", { certainty, resource: "secrets" }] as const;

function stage(): Rig {
  const rig = new Rig("team-a");
  const time = (minutes: number): string =>
    new Date(rig.clock.now() - minutes * MINUTE).toISOString().replace(/\.\d+Z$/, "Z");
  const source = (name: string, managedFields: readonly object[], created = 90): void =>
    rig.api.secret(
      `shared/${name}`,
      {
        annotations: { "secretcast.io/to": "team-*" },
        creationTimestamp: time(created),
        managedFields,
      },
      { k: "v" },
    );
  const old = { manager: "create", time: time(90), fieldsV1: DATA };
  source("old", [old]);
  source("labelled", [old, { manager: "label", time: time(1), fieldsV1: LABEL }]);
  source("mixed", [{ manager: "operator", time: time(1), fieldsV1: { ...DATA, ...LABEL } }]);
  source("cleared", []);
  source("rotated", [{ manager: "rotator", time: time(1), fieldsV1: DATA }]);
  source("young", [{ manager: "create", time: time(1), fieldsV1: { ...DATA, ...LABEL } }], 1);
  rig.api.secret("shared/plain", { creationTimestamp: time(90), managedFields: [old] }, { k: "v" });
  return rig;
}

test("sources with an old value are counted, for certain or possibly", async () => {
  const rig = stage();
  const started = await rig.run(10_000, { given: { "max-value-age": "30m" } });
  assert.equal(await started.metric(...counted("certain")), 2);
  assert.equal(await started.metric(...counted("possible")), 2);
  await rig.clock.advance(30 * MINUTE);
  assert.equal(await started.metric(...counted("certain")), 5, "they grow old");
});

test("without --max-value-age there is no series, and no object keeps a time", async () => {
  const rig = stage();
  const started = await rig.run(10_000);
  assert.doesNotMatch(await started.scrape(), /^secretcast_old_values\{/m);
});
