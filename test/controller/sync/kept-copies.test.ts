// A copy that cannot be updated is replaced only where a create would be made as well, so that no crash between the
// delete and the create loses it. On a fake clock.
import { whyOf } from "../../support/planner/why-of.ts";
import assert from "node:assert/strict";
import { test } from "node:test";
import type { FlagValues } from "../../../src/controller/settings/config.ts";
import { secretPath } from "../../support/controller/memory-api.ts";
import {
  faults,
  hang,
  isWrite,
  Rig,
  unavailable,
} from "../../support/controller/fake-clock-controller.ts";

const TEAMS = ["team-a", "team-b", "team-c"] as const;
/** Every namespace may publish, so that a namespace without `accept` accepts nothing new. */
const OPT_IN: FlagValues = { "source-namespaces": "*", "delete-grace": "1s" };

function accept(rig: Rig, value: string, ...teams: readonly string[]): void {
  for (const team of teams)
    rig.api.put(`/api/v1/namespaces/${team}`, {
      metadata: { annotations: { "secretcast.io/accept": value } },
    });
}

/** Immutable copies; then their source is recreated, and an older source wants the same places. */
async function recreated(rig: Rig): Promise<void> {
  rig.api.namespace("evil");
  rig.source("evil/registry", { password: "evil" }, "nowhere");
  rig.teams(...TEAMS);
  rig.api.put(secretPath("shared/registry"), { immutable: true });
  await rig.converge();
  assert.ok(rig.api.get("team-a/registry"));
  rig.source("evil/registry", { password: "evil" });
  rig.api.removeSecret("shared/registry");
  rig.source("shared/registry", { password: "two" });
  rig.api.put(secretPath("shared/registry"), { immutable: true });
}

/** What each team has, and of which source. */
function copies(rig: Rig): readonly unknown[] {
  return TEAMS.map((team) => {
    const copy = rig.api.get(`${team}/registry`);
    const data = copy?.["data"] as Readonly<Record<string, string>> | undefined;
    return [copy?.metadata.annotations?.["secretcast.io/source"], atob(data?.["password"] ?? "")];
  });
}

const NEW = TEAMS.map(() => ["shared/registry", "two"]);
const OLD = TEAMS.map(() => ["shared/registry", "one"]);

/** Requests are served until the nth; of the next the server never hears. */
function dyingAfter(count: number) {
  let left = count;
  const before = async (): Promise<void> => {
    if (left-- <= 0) await hang();
  };
  return { before, beforeLease: before };
}

async function killedAt(nth: number, given: FlagValues) {
  const rig = new Rig();
  await recreated(rig);
  accept(rig, "shared/*", ...TEAMS);
  const before = rig.api.seen.length;
  const victim = await rig.run(5000, { ...dyingAfter(nth), given });
  const requests = rig.api.seen.length - before;
  const missing = copies(rig).some((copy) => JSON.stringify(copy).startsWith("[null"));
  await victim.stop();
  const fresh = await rig.run(60_000, { given });
  return { rig, fresh, requests, missing };
}

for (const elected of [true, false])
  test(`killed with any request, ${elected ? "a leader" : "a process without election"} loses no copy`, async () => {
    const given = { ...OPT_IN, concurrency: "2", "leader-elect": elected };
    const { requests } = await killedAt(Infinity, given);
    let lost = 0;
    for (let nth = 0; nth <= requests; nth++) {
      const { rig, fresh, missing } = await killedAt(nth, given);
      if (missing) lost++;
      assert.deepEqual(copies(rig), NEW, `killed after ${nth} of ${requests} requests`);
      await fresh.stop();
    }
    assert.ok(lost >= 3, `a copy was missing after ${lost} of the kills`);
  });

/** The creates after the deletes fail. */
function failing() {
  let deleted = false;
  return faults(
    (request) => {
      deleted ||= request.method === "DELETE" && isWrite(request);
      return deleted && request.method === "POST" && request.query?.["dryRun"] === undefined;
    },
    (request) => (isWrite(request) ? unavailable(request) : undefined),
  );
}

test("after a failed replace, no other source of the rank gets the place", async () => {
  const rig = new Rig();
  await recreated(rig);
  accept(rig, "true", ...TEAMS);
  const broken = failing();
  broken.on = true;
  const started = await rig.run(20_000, { given: OPT_IN, before: broken.before });
  assert.deepEqual(
    copies(rig),
    TEAMS.map(() => [undefined, ""]),
  );
  broken.on = false;
  await rig.clock.advance(120_000);
  assert.deepEqual(copies(rig), NEW);
  await started.stop();
});

test("a namespace without accept keeps its copy under opt-in with the remedy as reason", async () => {
  const rig = new Rig();
  await recreated(rig);
  const started = await rig.run(60_000, { given: OPT_IN });
  assert.deepEqual(copies(rig), OLD);
  const frozen = started.syncs.at(-1)?.plan.rows.filter(({ verdict }) => verdict === "frozen");
  assert.equal(frozen?.length, TEAMS.length);
  for (const row of frozen)
    assert.match(
      whyOf(row),
      /kubectl annotate namespace NAMESPACE secretcast\.io\/accept=shared\/registry$/,
    );
  accept(rig, "shared/registry", "team-a");
  await rig.clock.advance(10_000);
  assert.deepEqual(copies(rig), [NEW[0], OLD[1], OLD[2]]);
  await rig.clock.advance(600_000);
  assert.deepEqual(copies(rig), [NEW[0], OLD[1], OLD[2]]);
});
