// Who received a value, in the log. On a fake clock and an API server in memory.
import assert from "node:assert/strict";
import { test } from "node:test";
import { secretPath } from "../../support/controller/memory-api.ts";
import { Rig } from "../../support/controller/fake-clock-controller.ts";

type Line = { readonly msg: string; readonly count?: number; readonly places?: readonly string[] };

const of = (lines: readonly unknown[], msg: string): readonly Line[] =>
  (lines as readonly Line[]).filter((line) => line.msg === msg);
const placesOf = (lines: readonly Line[]): readonly string[] =>
  lines.flatMap(({ places = [] }) => places).toSorted();

test("a line `copied` names every namespace that receives a value, a hundred at most", async () => {
  const rig = new Rig();
  const teams = Array.from({ length: 250 }, (_, n) => `team-${String(n).padStart(3, "0")}`);
  rig.teams(...teams);
  const started = await rig.run(20_000);
  const wanted = teams.map((team) => `${team}/registry`);
  const first = of(started.lines, "copied");
  assert.deepEqual(placesOf(first), wanted);
  assert.ok(first.every(({ places = [] }) => places.length <= 100));

  rig.api.put(secretPath("shared/registry"), { data: { token: "cm90YXRlZA==" } });
  await rig.clock.advance(20_000);
  const second = of(started.lines, "copied").slice(first.length);
  assert.deepEqual(placesOf(second), wanted, "a rotation names all of them again");
});

test("an edited or deleted copy is a line `repaired` with the field manager", async () => {
  const rig = new Rig("team-a", "team-b");
  const started = await rig.run(5000);
  rig.api.put(secretPath("team-a/registry"), {
    data: { token: "ZWRpdGVk" },
    metadata: {
      managedFields: [
        { manager: "secretcast", operation: "Update", time: "2020-01-01T00:00:00Z" },
        { manager: "kubectl-edit", operation: "Update", time: "2100-01-01T00:00:00Z" },
      ],
    },
  });
  await rig.clock.advance(5000);
  rig.api.removeSecret("team-b/registry");
  await rig.clock.advance(5000);
  assert.deepEqual(
    (of(started.lines, "repaired") as readonly (Line & { managers?: unknown })[]).map(
      ({ count, places, managers }) => ({ count, places, managers }),
    ),
    [
      { count: 1, places: ["team-a/registry"], managers: ["kubectl-edit"] },
      { count: 1, places: ["team-b/registry"], managers: undefined },
    ],
  );
});

test("a copy edited in a loop has five lines a minute with every repair counted", async () => {
  const rig = new Rig();
  rig.teams(...Array.from({ length: 12 }, (_, n) => `team-${n}`));
  const started = await rig.run(5000);
  for (let n = 0; n < 12; n++) {
    rig.api.put(secretPath(`team-${n}/registry`), { data: { token: "ZWRpdGVk" } });
    await rig.clock.advance(3000);
  }
  assert.equal(of(started.lines, "repaired").length, 5);
  await started.stop();
  const all = of(started.lines, "repaired");
  assert.equal(
    all.reduce((sum, { count = 0 }) => sum + count, 0),
    12,
    "what waited is logged when the controller stops",
  );
  assert.equal(new Set(placesOf(all)).size, 12);
});

test("a source that changes without a pause has six lines a minute at most", async () => {
  const rig = new Rig("team-a", "team-b");
  const started = await rig.run(5000);
  for (let n = 0; n < 20; n++) {
    rig.api.put(secretPath("shared/registry"), { data: { token: btoa(`value ${n}`) } });
    await rig.clock.advance(2000);
  }
  await started.stop();
  const lines = of(started.lines, "copied") as readonly (Line &
    Readonly<Record<string, unknown>>)[];
  assert.equal(lines.length, 6);
  assert.equal(
    lines.reduce((sum, { count = 0 }) => sum + count, 0),
    42,
    "every write is counted",
  );
  const versions = lines.at(-1)?.["sourceVersions"];
  assert.ok(Array.isArray(versions) && versions.length === 10, "the newest versions");
});
