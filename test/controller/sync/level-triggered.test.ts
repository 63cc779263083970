// What follows from the state and not from the events: events lost, doubled or out of order, and
// crashes between any two requests all end in the same state. On a fake clock.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { ApiRequest } from "../../../packages/kube/rest/api-client.ts";
import { secretPath } from "../../support/controller/memory-api.ts";
import { pick, seeded } from "../../../packages/kube/testing/random.ts";
import { hang, Rig } from "../../support/controller/fake-clock-controller.ts";

const TEAMS = ["team-a", "team-b", "team-c"] as const;
const NAMES = ["registry", "tls"] as const;

/** One change that users make, at random. */
function meddle(rig: Rig, chance: () => number): void {
  const [team, name] = [pick(chance, TEAMS), pick(chance, NAMES)];
  const data = { password: String(Math.floor(chance() * 1000)) };
  const changes = [
    () => rig.source(`shared/${name}`, data, pick(chance, ["team-*", "team-a,team-b", "!team-b"])),
    () => rig.source(`shared/${name}`, data),
    () => rig.api.removeSecret(`shared/${name}`),
    () => rig.api.removeSecret(`${team}/${name}`),
    () =>
      rig.api.namespace(team, {
        annotations: { "secretcast.io/accept": pick(chance, ["true", "false"]) },
      }),
    () => {
      if (rig.api.get(`${team}/${name}`))
        rig.api.put(secretPath(`${team}/${name}`), { data: { password: "ZQ==" } });
    },
  ] as const;
  pick(chance, changes)();
}

/** What is there but for what no two runs share: UIDs, versions, times, leases, Events. */
function state(rig: Rig): ReadonlyMap<string, string> {
  const secrets = Array.from(rig.api.objects).filter(([path]) => path.includes("/secrets/"));
  return new Map(
    secrets
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([path, { metadata, data, type }]) => {
        const { "secretcast.io/source": source, "secretcast.io/to": to } =
          metadata.annotations ?? {};
        return [path, JSON.stringify({ source, to, type, data })];
      }),
  );
}

test("LV-01 events dropped at random are made good by the lists alone", async () => {
  for (let seed = 1; seed <= 10; seed++) {
    const rig = new Rig();
    const chance = seeded(seed);
    rig.teams(...TEAMS);
    const started = rig.start();
    rig.api.lose = () => chance() < 0.5;
    for (let step = 0; step < 40; step++) {
      meddle(rig, chance);
      await rig.clock.advance(chance() * 3000);
      if (step % 10 === 9) rig.api.expireWatches();
    }
    rig.api.lose = () => false;
    rig.api.expireWatches();
    await rig.clock.advance(120_000);
    await started.stop();
    await rig.assertRight();
  }
});

test("LV-02 what changed while no controller ran is made good when one starts", async () => {
  const rig = new Rig(...TEAMS);
  await rig.converge();
  rig.source("shared/tls", { key: "k" }, "team-a");
  const chance = seeded(2);
  for (let step = 0; step < 30; step++) meddle(rig, chance);
  const started = await rig.run(60_000);
  await started.stop();
  await rig.assertRight();
});

test("LV-04 LV-20 LV-29 a resync, a relist and a restart write nothing where all is right", async () => {
  const rig = new Rig(...TEAMS);
  const started = await rig.run(5000, { given: { resync: "1m" } });
  const writes = rig.api.writes.length;
  await rig.clock.advance(600_000);
  const passes = started.syncs.length;
  assert.ok(passes > 8);
  rig.api.expireWatches();
  await rig.clock.advance(30_000);
  assert.equal(started.syncs.length, passes, "versions that did not change ask for no pass");
  await started.stop();
  await rig.assertRight();
  assert.equal(rig.api.writes.length, writes);
});

test("LV-05 the same changes in another order, or doubled, end in the same state", async () => {
  const changes = [
    (rig: Rig) => rig.source("shared/registry", { password: "two" }),
    (rig: Rig) => rig.source("shared/tls", { key: "k" }, "team-*,!team-b"),
    (rig: Rig) => rig.api.removeSecret("team-a/registry"),
    (rig: Rig) => rig.api.namespace("team-d"),
    (rig: Rig) => rig.api.remove("/api/v1/namespaces/team-c"),
  ];
  const ends: ReadonlyMap<string, string>[] = [];
  for (let seed = 1; seed <= 20; seed++) {
    const rig = new Rig();
    const chance = seeded(seed);
    rig.teams(...TEAMS);
    const started = rig.start();
    const order = [...changes, ...(chance() < 0.5 ? changes : [])];
    for (const change of order.toSorted(() => chance() - 0.5)) {
      change(rig);
      await rig.clock.advance(chance() * 300);
    }
    await rig.clock.advance(60_000);
    await started.stop();
    for (const path of rig.api.objects.keys())
      if (path.includes("/team-c/")) rig.api.objects.delete(path);
    ends.push(state(rig));
  }
  for (const end of ends) assert.deepEqual(end, ends[0]);
});

/** Requests are served until the nth; of the next the server never hears. */
function dyingAfter(count: number): (request: ApiRequest) => Promise<void> {
  let left = count;
  return async () => {
    if (left-- <= 0) await hang();
  };
}

/** Copies of three sources, and then everything that makes each kind of write due. */
async function upheaval(rig: Rig): Promise<void> {
  rig.teams(...TEAMS);
  for (const name of ["tls", "old", "typed"]) rig.source(`shared/${name}`, { key: "k" });
  await rig.converge();
  rig.source("shared/registry", { password: "two" });
  rig.source("shared/tls", { key: "k" }, "team-b");
  rig.api.removeSecret("shared/old");
  rig.api.put(secretPath("shared/typed"), { type: "example.com/other" });
  rig.api.removeSecret("team-c/registry");
  rig.api.namespace("team-d");
}

test("LV-07 killed after any request, it is followed by one that reaches the goal", async () => {
  const given = { concurrency: "2", "delete-grace": "0" };
  let goal: ReadonlyMap<string, string> | undefined;
  let requests = 1;
  for (let nth = 0; nth <= requests; nth++) {
    const rig = new Rig();
    await upheaval(rig);
    const before = rig.api.seen.length;
    const victim = await rig.run(5000, { before: dyingAfter(nth === 0 ? Infinity : nth), given });
    if (nth === 0) requests = rig.api.seen.length - before;
    await victim.stop();
    const fresh = await rig.run(60_000, { given });
    await fresh.stop();
    goal ??= state(rig);
    assert.deepEqual(state(rig), goal, `killed after ${nth} of ${requests} requests`);
    await rig.assertRight();
  }
  assert.ok(requests > 15, "there was something to be killed in");
});

test("a new version of every object with the same content causes no write", async () => {
  const rig = new Rig(...TEAMS);
  rig.api.secret("team-a/unmanaged", {}, { key: "value" });
  await rig.run(10_000);
  const before = rig.api.writes.length;
  assert.equal(before, TEAMS.length);
  for (const path of rig.api.objects.keys()) rig.api.put(path);
  await rig.clock.advance(60_000);
  assert.equal(rig.api.writes.length, before);
});
