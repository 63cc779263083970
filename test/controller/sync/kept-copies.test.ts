// A copy in a namespace that keeps its copies and accepts nothing new is never lost inside a replace: the
// reservation of its place is on the Lease before the copy is deleted. On a fake clock.
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
  type Started,
} from "../../support/controller/fake-clock-controller.ts";
import type { ApiRequest } from "../../../src/kube/rest/api-client.ts";

const LEASE = "/apis/coordination.k8s.io/v1/namespaces/secretcast/leases/secretcast";
const KEY = "secretcast.io/reservations";
const TEAMS = ["team-a", "team-b", "team-c"] as const;
/** Every namespace may publish, so that a namespace without `accept` accepts nothing new. */
const OPT_IN: FlagValues = { "source-namespaces": "*", "delete-grace": "1s" };

/** Immutable copies, kept; then their source is recreated, and an older source wants the same places. */
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

function reservations(rig: Rig): string | undefined {
  return rig.api.objects.get(LEASE)?.metadata.annotations?.[KEY];
}

const leaseWrites = (rig: Rig): number =>
  rig.api.seen.filter(({ method, path }) => method !== "GET" && path.includes("/leases")).length;

/** Both clients' requests are served until the nth; of the next the server never hears. */
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
  const before = rig.api.seen.length;
  const victim = await rig.run(5000, { ...dyingAfter(nth), given });
  const requests = rig.api.seen.length - before;
  const missing = copies(rig).some((copy) => JSON.stringify(copy).startsWith("[null"));
  await victim.stop();
  const fresh = await rig.run(60_000, { given });
  return { rig, fresh, requests, missing };
}

for (const elected of [true, false])
  test(`killed with any request, ${elected ? "a leader" : "a process without election"} loses no kept copy (A7)`, async () => {
    const given = { ...OPT_IN, concurrency: "2", "leader-elect": elected };
    const { requests } = await killedAt(Infinity, given);
    let lost = 0;
    for (let nth = 0; nth <= requests; nth++) {
      const { rig, fresh, missing } = await killedAt(nth, given);
      if (missing) lost++;
      assert.deepEqual(copies(rig), NEW, `killed after ${nth} of ${requests} requests`);
      assert.equal(reservations(rig), undefined, "nothing is left on the Lease");
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

test("a stand-by that takes the Lease over creates the kept copies that the leader deleted (A7)", async () => {
  const rig = new Rig();
  await recreated(rig);
  const given = { ...OPT_IN, "leader-elect": true };
  const broken = failing();
  broken.on = true;
  const leader = await rig.run(3000, { given, before: broken.before });
  assert.equal(rig.api.get("team-a/registry"), undefined);
  assert.match(
    String(reservations(rig)),
    /"place":"team-a\/registry".*"source":"shared\/registry"/,
  );
  const standby = await rig.run(5000, { given });
  await leader.stop();
  await rig.clock.advance(30_000);
  assert.equal(standby.controller.leading, true);
  assert.deepEqual(copies(rig), NEW);
  assert.equal(reservations(rig), undefined);
});

for (const elected of [true, false])
  test(`${elected ? "a leader" : "a process without election"} creates the copies whose places a restored etcd has reserved (A7)`, async () => {
    const rig = new Rig();
    await recreated(rig);
    const broken = failing();
    broken.on = true;
    const given = { ...OPT_IN, "leader-elect": elected };
    await rig.run(3000, { given, before: broken.before });
    const backup = new Map(rig.api.objects);
    broken.on = false;
    await rig.clock.advance(120_000);
    assert.deepEqual(copies(rig), NEW);
    assert.equal(reservations(rig), undefined);
    // With higher versions than before, as etcdutl's --bump-revision does, so that no version reveals it.
    rig.api.objects.clear();
    for (const [path, object] of backup) rig.api.objects.set(path, object);
    rig.api.expireWatches();
    assert.equal(rig.api.get("team-a/registry"), undefined);
    await rig.clock.advance(60_000);
    assert.deepEqual(copies(rig), NEW);
    assert.equal(reservations(rig), undefined, "nothing is left on the Lease");
  });

test("a process that is told to stop while the Lease is not answered for a new list stops at once (A7)", async () => {
  const rig = new Rig(...TEAMS);
  const away = faults(({ path }: ApiRequest) => path.includes("/leases"), hang);
  const started = await rig.run(5000, { given: OPT_IN, before: away.before });
  away.on = true;
  rig.api.expireWatches();
  await rig.clock.advance(3000);
  rig.source("shared/other", { key: "k" });
  await rig.clock.advance(500);
  assert.equal(rig.api.get("team-a/other"), undefined, "the sync waits for the Lease");
  started.signal();
  await rig.clock.advance(500);
  assert.equal(await started.ended(), "stopped");
});

test("after a failed replace, no other source of the rank gets the place (B2)", async () => {
  for (const accept of [undefined, "true"]) {
    const rig = new Rig();
    await recreated(rig);
    if (accept !== undefined)
      for (const team of TEAMS)
        rig.api.put(`/api/v1/namespaces/${team}`, {
          metadata: { annotations: { "secretcast.io/accept": accept } },
        });
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
  }
});

test("where the Lease cannot be written, a kept copy stays as it is and says what to do (A7)", async () => {
  const rig = new Rig();
  await recreated(rig);
  const denied = faults(
    ({ path, method }) => path.includes("/leases") && method !== "GET",
    unavailable,
    true,
  );
  const started = await rig.run(60_000, { given: OPT_IN, before: denied.before });
  assert.deepEqual(copies(rig), OLD);
  const rows = started.passes.at(-1)?.plan.rows.filter(({ verdict }) => verdict === "backoff");
  assert.equal(rows?.length, TEAMS.length);
  assert.match(
    whyOf(rows[0]),
    /recorded on the Lease secretcast\/secretcast .*secretcast\.io\/accept/,
  );
  rig.api.put("/api/v1/namespaces/team-a", {
    metadata: { annotations: { "secretcast.io/accept": "shared/*" } },
  });
  await rig.clock.advance(400_000);
  assert.deepEqual(copies(rig), [NEW[0], OLD[1], OLD[2]], "accept makes the record unnecessary");
  denied.on = false;
  await rig.clock.advance(400_000);
  assert.deepEqual(copies(rig), NEW);
});

/** The state of a run in which the reservations of all three copies are on the Lease and no copy exists. */
async function interrupted(rig: Rig): Promise<void> {
  await recreated(rig);
  const broken = failing();
  broken.on = true;
  const victim: Started = rig.start({ given: OPT_IN, before: broken.before });
  await rig.clock.advance(3000);
  assert.notEqual(reservations(rig), undefined);
  await victim.stop();
}

test("a quiet cluster sees no write to the Lease for reservations, and a batch costs few (A7)", async () => {
  const rig = new Rig();
  await interrupted(rig);
  const before = leaseWrites(rig);
  const started = await rig.run(60_000, { given: OPT_IN });
  assert.deepEqual(copies(rig), NEW);
  assert.ok(leaseWrites(rig) - before <= 2, `${leaseWrites(rig) - before} writes to the Lease`);
  const quiet = leaseWrites(rig);
  await rig.clock.advance(3_600_000);
  assert.equal(leaseWrites(rig), quiet);
  await started.stop();
  assert.equal(leaseWrites(rig), quiet);
});

test("other annotations and the holder of the Lease stay as they are, and forged reservations do nothing (A7)", async () => {
  const rig = new Rig();
  await interrupted(rig);
  rig.api.put(LEASE, {
    metadata: { annotations: { note: "mine", [KEY]: '[{"kind":"Secret","place":"team-a/x"},7' } },
    spec: { holderIdentity: "somebody", leaseDurationSeconds: 15 },
  });
  await rig.run(60_000, { given: OPT_IN });
  assert.deepEqual(
    copies(rig),
    TEAMS.map(() => [undefined, ""]),
    "nothing is known of them",
  );
  const lease = rig.api.objects.get(LEASE);
  assert.equal(lease?.metadata.annotations?.["note"], "mine");
  assert.deepEqual(lease["spec"], { holderIdentity: "somebody", leaseDurationSeconds: 15 });
});

test("a dry run neither reads nor writes reservations (A7)", async () => {
  const rig = new Rig();
  await interrupted(rig);
  const before = rig.api.seen.length;
  await rig.run(60_000, { given: { ...OPT_IN, "dry-run": true } });
  const requests = rig.api.seen.slice(before).filter(({ path }) => path.includes("/leases"));
  assert.deepEqual(requests, []);
});

test("what the API server fails to show of reservations at the start is read before anything is written over it (A7)", async () => {
  const rig = new Rig();
  await interrupted(rig);
  const away = faults(({ path }: ApiRequest) => path.includes("/leases"), unavailable, true);
  const started = await rig.run(30_000, { given: OPT_IN, before: away.before });
  away.on = false;
  // Something else is replaced, for which the Lease is written.
  rig.source("shared/other", { key: "k" });
  await rig.clock.advance(600_000);
  await started.stop();
  await rig.run(60_000, { given: OPT_IN });
  assert.deepEqual(copies(rig), NEW);
});
