import assert from "node:assert/strict";
import { test } from "node:test";
import { LeaderElector, newIdentity } from "./leader-elector.ts";
import type { LeaseClient } from "./elector-options.ts";
import type { Lease } from "./lease-record.ts";
import { Reachability } from "../rest/reachability.ts";
import { FakeClock } from "../testing/fake-clock.ts";
import { seeded } from "../testing/random.ts";
import { alone, candidate, election, leading } from "../testing/candidate.ts";
import { LeaseServer } from "../testing/lease-server.ts";

/** A clock on which time can pass without any timer running, as when the event loop is held up. */
class StallingClock extends FakeClock {
  stalledMs = 0;
  override monotonic(): number {
    return super.monotonic() + this.stalledMs;
  }
}

test("LE-06 a renewal is one update every 2 s, without jitter", async () => {
  const { clock, server, elector } = alone();
  await clock.advance(0);
  await clock.advance(1999);
  assert.deepEqual(server.requests, ["get", "create"]);
  await clock.advance(1);
  await clock.advance(2000);
  assert.deepEqual(server.requests, ["get", "create", "update", "update"]);
  assert.equal(elector.msSinceRenewal, 0);
});

test("LE-06 a renewal that meets another version reads the Lease and updates it", async () => {
  const { clock, server } = election();
  let slow = 0;
  const metrics = { leading: () => {}, slowPath: () => void slow++ };
  const { elector } = candidate(clock, server, "me", { metrics });
  await clock.advance(2000);
  server.put(server.spec, { labels: { touched: "by somebody" } });
  await clock.advance(4000);
  const [acquired, fallback, short] = ["get create update", "update get update", "update"];
  assert.equal(server.requests.join(" "), `${acquired} ${fallback} ${short}`);
  assert.equal(slow, 1);
  assert.equal(elector.isLeader, true);
  assert.deepEqual(server.lease?.metadata["labels"], { touched: "by somebody" });
});

test("LE-07 ten seconds without a renewal lose the lease, not a moment earlier", async () => {
  const { clock, server, elector, log, result } = await leading();
  server.fail("any", "server");
  await clock.advance(9999);
  assert.equal(elector.isLeader, true);
  assert.equal(await result.value(), "pending");
  const tries = server.requests.filter((verb) => verb === "update").length;
  assert.ok(tries >= 16 && tries <= 20, `${tries} tries: no more than two a second`);
  await clock.advance(1);
  assert.equal(elector.isLeader, false);
  assert.equal(await result.value(), "lost");
  assert.deepEqual(log.toSorted(), ["leader me", "started", "stopped", "work ended"]);
});

test("LE-07 an outage shorter than the deadline is survived", async () => {
  const { clock, server, elector, result } = await leading();
  server.fail("any", "server");
  await clock.advance(9000);
  server.heal();
  await clock.advance(500);
  assert.equal(await result.value(), "pending");
  assert.ok(elector.msSinceRenewal < 500);
});

test("LE-07 each successful try is reported, of a candidate and of a leader", async () => {
  const { clock, server } = election();
  const answers = { leader: 0, other: 0 };
  candidate(clock, server, "me", { onAnswer: () => void answers.leader++ });
  await clock.advance(0);
  candidate(clock, server, "other", { onAnswer: () => void answers.other++ });
  await clock.advance(4000);
  assert.equal(answers.leader, 3);
  const before = answers.other;
  assert.ok(before >= 1, "who holds it is an answer too");
  server.fail("any", "server");
  await clock.advance(5000);
  assert.deepEqual(answers, { leader: 3, other: before });
  server.heal();
  await clock.advance(5000);
  assert.ok(answers.leader > 3 && answers.other > before);
});

test("LE-07 RF-36 the end of an outage, whoever finds it, is followed by a renewal at once", async () => {
  const { clock, server } = election();
  const reachability = new Reachability(clock);
  const { elector } = candidate(clock, server, "me", { reachability });
  await clock.advance(2000);
  server.fail("any", "server");
  reachability.unanswered();
  await clock.advance(2500);
  server.heal();
  reachability.answered();
  await clock.advance(0);
  assert.equal(elector.msSinceRenewal, 0);
});

test("LE-07 requests that hang, even deaf to their signal, do not outlive the deadline", async () => {
  for (const ignoreSignals of [false, true]) {
    const { clock, client, result } = await leading();
    Object.assign(client, { hang: true, ignoreSignals });
    await clock.advance(9999);
    assert.equal(await result.value(), "pending");
    await clock.advance(1);
    assert.equal(await result.value(), "lost");
    assert.equal(clock.timers, 0);
  }
});

/** How a leader's requests fail, and what part of them; of a lost one only the answer is. */
const FAILURES = [
  ["throttled", 0.5],
  ["server", 0.5],
  ["network", 0.5],
  ["lost", 0.3],
] as const;

for (const [failure, share] of FAILURES)
  test(`LE-07 a leader with ${share * 100} % failing requests (${failure}) keeps its Lease for an hour`, async () => {
    const { clock, server } = election();
    const answers = server.client();
    const chance = seeded(1);
    const some = async (verb: "get" | "update", request: () => Promise<Lease>): Promise<Lease> => {
      if (elector.isLeader && chance() < share) {
        if (failure === "lost") server.loseAnswer(verb);
        else server.fail(verb, failure, 1);
      }
      return request();
    };
    const client: LeaseClient = {
      get: (signal) => some("get", () => answers.get(signal)),
      create: (lease, signal) => answers.create(lease, signal),
      update: (lease, signal) => some("update", () => answers.update(lease, signal)),
    };
    const { elector, result } = candidate(clock, server, "me", { client });
    for (let minute = 0; minute < 60; minute++) await clock.advance(60_000);
    assert.equal(await result.value(), "pending");
    assert.equal(elector.isLeader, true);
  });

test("LE-07 a failed renewal is sent again unchanged, a few times a second at most", async () => {
  for (const kind of ["throttled", "server", "network"]) {
    const { clock, server, elector } = await leading();
    const before = server.requests.length;
    server.fail("any", kind);
    await clock.advance(6000);
    const tries = server.requests.slice(before);
    assert.ok(tries.length <= 12, `${tries.length} tries`);
    assert.deepEqual(new Set(tries), new Set(["update"]));
    server.heal();
    await clock.advance(500);
    assert.equal(elector.msSinceRenewal < 500, true);
  }
});

test("LE-07 of the renewals that fail one in a retry period is reported", async () => {
  const { clock, server, errors } = await leading();
  server.fail("any", "server");
  await clock.advance(8000);
  assert.equal(errors.length, 4);
});

test("LE-06 LE-07 a renewal that was carried out without an answer is found by the next one", async () => {
  const { clock, server, elector } = await leading();
  const before = server.requests.length;
  server.loseAnswer("update");
  await clock.advance(2500);
  assert.equal(server.requests.slice(before).join(" "), "update update get update");
  assert.equal(elector.msSinceRenewal, 0);
});

test("LE-07 a single hung request costs half the deadline, and the lease is kept", async () => {
  const { clock, client, elector, result } = await leading();
  client.hang = true;
  await clock.advance(2000);
  client.hang = false;
  await clock.advance(6000);
  assert.equal(await result.value(), "pending");
  assert.equal(elector.isLeader, true);
});

test("LE-07 a Lease that names somebody else is lost at once, and not taken back", async () => {
  const { clock, server, elector, result } = await leading();
  server.put({ holderIdentity: "thief", leaseDurationSeconds: 1 });
  await clock.advance(2000);
  assert.equal(elector.isLeader, false);
  assert.equal(await result.value(), "lost");
  await clock.advance(60_000);
  assert.equal(server.holder, "thief");
});

test("LE-07 a Lease deleted under us is made again", async () => {
  const { clock, server, elector } = await leading();
  server.lease = undefined;
  await clock.advance(2000);
  assert.equal(server.holder, "me");
  assert.equal(elector.isLeader, true);
});

test("LE-10 a loss aborts the work at once, waits for nothing, and cannot be run again", async () => {
  const { clock, server, elector, log, result } = await leading({ windDownMs: 60_000 });
  server.fail("any", "server");
  await clock.advance(10_000);
  assert.equal(await result.value(), "lost");
  assert.ok(!log.includes("work ended"));
  await assert.rejects(
    elector.run(new AbortController().signal, { onStartedLeading: async () => {} }),
    /Cannot run a leader elector twice/,
  );
});

test("LE-12 leading ends at the deadline by the monotonic clock, before any timer has run", async () => {
  const clock = new StallingClock();
  const server = new LeaseServer();
  const { elector, result } = candidate(clock, server, "me");
  await clock.advance(2000);
  clock.stalledMs = 9999;
  assert.equal(elector.isLeader, true);
  assert.equal(elector.msLeft, 1);
  clock.stalledMs = 10_000;
  assert.equal(elector.isLeader, false);
  assert.equal(elector.msLeft, 0);
  assert.equal(elector.msSinceRenewal, 10_000);
  const requests = server.requests.length;
  await clock.advance(2000);
  assert.equal(await result.value(), "lost");
  assert.equal(server.requests.length, requests, "too late a renewal is not even tried");
});

test("LE-12 a renewal counts from when it was sent, not from its answer", async () => {
  const { clock, server } = election();
  const client = server.client();
  const { elector } = candidate(clock, server, "me", {
    client: {
      ...client,
      update: async (lease, signal) => {
        const saved = await client.update(lease, signal);
        await new Promise<void>((resolve) => void clock.setTimeout(resolve, 700));
        return saved;
      },
    },
  });
  await clock.advance(2000);
  await clock.advance(700);
  assert.equal(elector.msSinceRenewal, 700);
});

test("LE-02 durations out of order, a part of a second, or no identity are refused", () => {
  const base = { client: new LeaseServer().client(), clock: new FakeClock(), identity: "me" };
  const names = { namespace: "ns", name: "lock" };
  const make = (options: object): LeaderElector =>
    new LeaderElector({ ...base, ...names, ...options });
  assert.throws(() => make({ leaseDurationMs: 10_000 }), /lease 10000 ms, renew deadline 10000 ms/);
  assert.throws(() => make({ renewDeadlineMs: 2400 }), /longer than/);
  assert.throws(() => make({ retryPeriodMs: 0 }), RangeError);
  assert.throws(() => make({ retryPeriodMs: Number.NaN }), RangeError);
  assert.throws(() => make({ leaseDurationMs: 15_500 }), /whole seconds/);
  assert.throws(() => make({ identity: "" }), /must not be empty/);
  assert.ok(make({}));
});

test("LE-13 beginning and end of leading are reported, for an Event on the Lease", async () => {
  const clock = new FakeClock();
  const notes: string[] = [];
  const onEvent = (note: string): void => void notes.push(note);
  const { cancel, result } = candidate(clock, new LeaseServer(), "me", { onEvent });
  await clock.advance(2000);
  assert.deepEqual(notes, ["me became leader"]);
  cancel();
  await result.value();
  assert.deepEqual(notes, ["me became leader", "me stopped leading"]);
});

test("LE-14 the metric is 0 from the start, 1 while leading, 0 after", async () => {
  const clock = new FakeClock();
  const values: boolean[] = [];
  const metrics = { leading: (value: boolean) => void values.push(value), slowPath: () => {} };
  const { cancel, result } = candidate(clock, new LeaseServer(), "me", { metrics });
  assert.deepEqual(values, [false]);
  await clock.advance(2000);
  assert.deepEqual(values, [false, true]);
  cancel();
  await result.value();
  assert.deepEqual(values, [false, true, false]);
});

test("LE-20 unhealthy only as a holder that has not renewed for the lease and the tolerance", async () => {
  const clock = new StallingClock();
  const server = new LeaseServer();
  const leader = candidate(clock, server, "me");
  const standby = candidate(clock, server, "standby");
  await clock.advance(2000);
  assert.equal(leader.elector.healthy(), true);
  clock.stalledMs = 15_000 + 20_000;
  assert.equal(leader.elector.healthy(), true);
  clock.stalledMs++;
  assert.equal(leader.elector.healthy(), false);
  assert.equal(leader.elector.healthy(30_000), true);
  assert.equal(standby.elector.healthy(), true);
});

test("LE-21 an identity names the host and is never the same twice", () => {
  const identity = newIdentity();
  assert.match(identity, /^.+_[0-9a-f-]{36}$/);
  assert.notEqual(newIdentity(), identity);
});
