// What the log says of copies that go. On a fake clock.
import { because } from "../../../src/controller/model/reasons.ts";
import assert from "node:assert/strict";
import { test } from "node:test";
import { CopyObject } from "../../../src/controller/model/cluster.ts";
import { createLog } from "../../../src/controller/report/log.ts";
import {
  OutcomeJournal,
  type OutcomeGroup,
} from "../../../src/controller/report/outcome-journal.ts";
import { Cluster } from "../../support/planner/planner-cluster.ts";
import { FakeClock } from "../../../packages/kube/testing/fake-clock.ts";
import { secretPath } from "../../support/controller/memory-api.ts";
import { Rig } from "../../support/controller/fake-clock-controller.ts";

type TestLine = {
  readonly msg: string;
  readonly count: number;
  readonly sources?: number;
  readonly source?: string;
};

const MINUTE_MS = 60_000;
const GONE = "0d8a3c5e-5f1b-4a51-9a55-000000000001";

test("copies of one source that are removed singly are five lines a minute", async () => {
  const rig = new Rig("team-a");
  await rig.converge();
  const started = await rig.run(5000, { given: { "delete-grace": "0" } });
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

test("of copies that a finalizer still holds the line says how many they are", async () => {
  const rig = new Rig("team-a", "team-b");
  const started = await rig.run(5000);
  rig.api.put(secretPath("team-b/registry"), { metadata: { finalizers: ["example.com/hold"] } });
  rig.api.removeSecret("shared/registry");
  await rig.clock.advance(60_000);
  const lines = started.lines.filter(({ msg }) => msg === "copies removed");
  assert.deepEqual(
    lines.map(({ count, waitingForFinalizers }) => [count, waitingForFinalizers]),
    [[2, 1]],
  );
});

/** Copies in `team-a` go, each of another of these. */
function removed(sources: readonly { readonly name: string; readonly uid: string }[]): {
  readonly reported: (msg: string) => readonly TestLine[];
  readonly events: readonly OutcomeGroup[];
  readonly pass: (ms: number) => Promise<void>;
  readonly stop: () => void;
} {
  const clock = new FakeClock();
  const lines: TestLine[] = [];
  const write = (line: string): boolean => lines.push(JSON.parse(line)) > 0;
  const log = createLog({ logLevel: "info", logFormat: "json" }, { write });
  const events: OutcomeGroup[] = [];
  const removals = new OutcomeJournal(log, clock, (group) => events.push(group));
  const cluster = new Cluster().withNamespaces("shared", "team-a");
  cluster.secret("shared/registry", { to: "team-*" });
  cluster.sync();
  const target = cluster.cached("team-a/registry");
  assert.equal(target.role, "copy");
  const { namespace, name } = target;
  const common = {
    objectKind: "Secret",
    place: { namespace, name },
    cause: "gone",
    reason: because("SourceGone", { source: "shared/registry" }),
    decisionKey: "",
  } as const;
  for (const { name: of, uid } of sources) {
    const copy = new CopyObject(target, { ...target.template, sourceUid: uid });
    const action = { ...common, kind: "delete", target: copy } as const;
    const source = { namespace: "shared", name: of };
    removals.onOutcome({ kind: "removed", action: { ...action, source } });
  }
  return {
    reported: (msg) => lines.filter((line) => line.msg === msg),
    events,
    stop: () => removals.onStop(),
    pass: async (ms) => {
      await clock.advance(ms);
      removals.report(true);
    },
  };
}

const uids = (name: string, count: number) =>
  Array.from({ length: count }, (_, n) => ({ name, uid: `uid-${n}` }));

test("reports of removed copies with many source names are bounded, and the rest is counted", async () => {
  const names = Array.from({ length: 3000 }, (_, n) => ({ name: `source-${n}`, uid: GONE }));
  const { reported, events, pass } = removed(names);
  await pass(6000);
  assert.deepEqual(
    reported("further copies removed").map(({ count }) => count),
    [2000],
  );
  assert.equal(reported("copies removed").length, 100);
  assert.deepEqual(
    reported("copies of further sources removed").map(({ sources }) => sources),
    [900],
  );
  assert.equal(events.length, 1000);
});

test("a source that vanishes repeatedly takes no room of others", async () => {
  const { reported, events, pass } = removed([
    ...uids("registry", 3000),
    { name: "certificate", uid: GONE },
  ]);
  await pass(6000);
  assert.equal(
    reported("copies removed").filter(({ source }) => source === "shared/certificate").length,
    1,
  );
  for (let minute = 0; minute < 10; minute++) await pass(MINUTE_MS);
  assert.deepEqual(
    reported("further copies removed").map(({ count }) => count),
    [2980],
  );
  assert.equal(reported("copies removed").length, 21);
  assert.equal(events.length, 21);
});

test("what waits when the controller stops is logged with the number without room", () => {
  const names = Array.from({ length: 1200 }, (_, n) => ({ name: `source-${n}`, uid: GONE }));
  const { reported, stop } = removed(names);
  stop();
  assert.equal(reported("copies removed").length, 1000);
  assert.deepEqual(
    reported("further copies removed").map(({ count }) => count),
    [200],
  );
});
