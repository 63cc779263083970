import assert from "node:assert/strict";
import { test } from "node:test";
import { EventRecorder } from "./event-recorder.ts";
import { FakeClock } from "../testing/fake-clock.ts";
import { about, details, EventServer, recording } from "../testing/event-server.ts";

const MINUTE = 60_000;

test("EV-10 one event: every field that the API demands, and none of the legacy ones", async () => {
  const { clock, server, recorder } = recording();
  recorder.record(details({ related: about("other") }));
  await clock.advance(0);
  assert.deepEqual(server.events, [
    {
      apiVersion: "events.k8s.io/v1",
      kind: "Event",
      metadata: {
        namespace: "team-a",
        name: `registry.${(BigInt(clock.now()) * 1_000_000n).toString(16)}`,
      },
      eventTime: "2026-01-01T00:00:00.000000Z",
      reportingController: "secretcast",
      reportingInstance: "pod-1",
      action: "Copy",
      reason: "Copied",
      regarding: details().regarding,
      related: about("other"),
      note: "copied to 12 namespaces",
      type: "Normal",
    },
  ]);
});

test("EV-10 a note is cut to 1024 bytes, at a whole character", async () => {
  const { clock, server, recorder } = recording();
  const fits = "x".repeat(1024);
  recorder.record(details({ note: fits }));
  recorder.record(details({ note: `${fits}y` }));
  recorder.record(details({ note: "🦊".repeat(300) }));
  await clock.advance(0);
  const notes = server.events.map((event) => event.note);
  assert.equal(notes[0], fits);
  assert.equal(notes[1], `${"x".repeat(1021)}…`);
  assert.equal(notes[2], `${"🦊".repeat(255)}…`);
  for (const note of notes) assert.ok(Buffer.byteLength(note) <= 1024);
});

test("EV-10 what the API would refuse from everyone is refused where it is written", () => {
  const { recorder } = recording();
  assert.throws(() => recorder.record(details({ reason: "" })), /the reason ""/);
  assert.throws(() => recorder.record(details({ action: "A".repeat(129) })), /1 to 128 bytes/);
  const options = { client: new EventServer(), clock: new FakeClock() };
  const make = (controller: string, instance: string): EventRecorder =>
    new EventRecorder({ ...options, reporter: { controller, instance } });
  assert.throws(() => make("not a name", "pod-1"), /"not a name": it must be a qualified name/);
  assert.throws(() => make("secretcast", "x".repeat(129)), RangeError);
  assert.ok(make("example.com/secretcast", "x".repeat(128)));
});

test("EV-02 an event lives with its object; that of a cluster-scoped object in default", async () => {
  const { clock, server, recorder } = recording();
  recorder.record(details());
  recorder.record(
    details({ regarding: { apiVersion: "v1", kind: "Namespace", name: "team-b", uid: "u2" } }),
  );
  await clock.advance(0);
  assert.deepEqual(
    server.events.map((event) => event.metadata.namespace),
    ["team-a", "default"],
  );
});

test("EV-02 two events of one object in one millisecond have different names", async () => {
  const { clock, server, recorder } = recording();
  recorder.record(details({ note: "one" }));
  recorder.record(details({ note: "two" }));
  await clock.advance(0);
  assert.equal(server.events.length, 2);
});

test("EV-02 a name that would not be valid becomes a uuid", async () => {
  const { clock, server, recorder } = recording();
  recorder.record(details({ regarding: about("n".repeat(250)) }));
  recorder.record(details({ regarding: about("system:node") }));
  await clock.advance(0);
  assert.equal(server.events.length, 2);
  for (const event of server.events) assert.match(event.metadata.name, /^[0-9a-f-]{36}$/);
});

test("EV-08 the same twice is one event with a series of two", async () => {
  const { clock, server, recorder } = recording();
  recorder.record(details());
  await clock.advance(1500);
  recorder.record(details());
  await clock.advance(0);
  assert.equal(server.events.length, 1);
  assert.deepEqual(server.events[0]?.series, {
    count: 2,
    lastObservedTime: "2026-01-01T00:00:01.500000Z",
  });
});

test("EV-08 a second time before the first was written still ends as one series of two", async () => {
  const { clock, server, recorder } = recording();
  recorder.record(details());
  recorder.record(details());
  await clock.advance(0);
  assert.deepEqual(server.requests, ["create", "patch"]);
  assert.equal(server.events[0]?.series?.count, 2);
});

test("EV-08 a series is counted in memory from its third Event, and written each 30 minutes", async () => {
  const { clock, server, recorder } = recording();
  for (let minute = 0; minute < 31; minute++) {
    recorder.record(details());
    await clock.advance(MINUTE);
  }
  assert.deepEqual(server.requests, ["create", "patch"]);
  recorder.record(details());
  await clock.advance(0);
  assert.deepEqual(server.requests, ["create", "patch", "patch"]);
  assert.equal(server.events[0]?.series?.count, 32);
});

test("EV-08 a series that is idle for 6 minutes is closed with its count", async () => {
  const { clock, server, recorder } = recording();
  for (let i = 0; i < 5; i++) recorder.record(details());
  await clock.advance(6 * MINUTE - 1);
  assert.equal(server.events[0]?.series?.count, 2);
  await clock.advance(1);
  assert.equal(server.events[0]?.series?.count, 5);
  // The bucket of two writes is full again after ten minutes, and nothing is remembered.
  await clock.advance(4 * MINUTE);
  assert.equal(clock.timers, 0);
  recorder.record(details());
  await clock.advance(0);
  assert.equal(server.events.length, 2);
  assert.equal(server.events[1]?.series, undefined);
});

test("EV-08 an event said once is closed without another write", async () => {
  const { clock, server, recorder } = recording();
  recorder.record(details());
  await clock.advance(10 * MINUTE);
  assert.deepEqual(server.requests, ["create"]);
  assert.equal(clock.timers, 0);
});

test("EV-08 each field that tells events apart does, the note too; the version does not", async () => {
  const { clock, server, recorder } = recording();
  recorder.record(details());
  recorder.record(details({ regarding: { ...details().regarding, resourceVersion: "7" } }));
  const others = [
    { type: "Warning" as const },
    { reason: "Failed" },
    { action: "Delete" },
    { note: "copied to 13 namespaces" },
    { related: about("other") },
    { regarding: about("other") },
    { regarding: { ...details().regarding, uid: "made again" } },
  ];
  for (const other of others) recorder.record(details(other));
  await clock.advance(0);
  assert.equal(server.events.length, 1 + others.length);
  assert.equal(server.events.filter((event) => event.series).length, 1);
});

test("EV-04 a series whose event is gone is created again, with its count", async () => {
  const { clock, server, recorder } = recording();
  recorder.record(details());
  await clock.advance(0);
  server.stored.clear();
  recorder.record(details());
  await clock.advance(0);
  assert.deepEqual(server.requests, ["create", "patch", "create"]);
  assert.equal(server.events[0]?.series?.count, 2);
});

test("EV-05 25 events at once about one object, then one in five minutes; others are free", async () => {
  const { clock, server, recorder, drops } = recording();
  for (let i = 0; i < 40; i++) recorder.record(details({ note: `note ${i}` }));
  recorder.record(details({ regarding: about("other") }));
  await clock.advance(0);
  assert.equal(server.events.length, 26);
  assert.deepEqual(new Set(drops), new Set(["throttled"]));
  assert.equal(drops.length, 15);
  await clock.advance(5 * MINUTE - 1);
  recorder.record(details({ note: "too early" }));
  await clock.advance(1);
  recorder.record(details({ note: "in time" }));
  await clock.advance(0);
  assert.deepEqual([server.events.length, server.events.at(-1)?.note], [27, "in time"]);
});

test("EV-05 Normal Events about an object use up no room for its Warnings", async () => {
  const { clock, server, recorder, drops } = recording();
  for (let i = 0; i < 40; i++) recorder.record(details({ note: `note ${i}` }));
  for (let i = 0; i < 26; i++) recorder.record(details({ type: "Warning", note: `note ${i}` }));
  await clock.advance(0);
  const warnings = server.events.filter(({ type }) => type === "Warning");
  assert.deepEqual([server.events.length, warnings.length], [50, 25]);
  assert.equal(drops.length, 16);
});

test("EV-05 an Event that was dropped is named, and new when it is recorded again", async () => {
  const dropped: (string | undefined)[] = [];
  const { clock, server, recorder } = recording({
    queueSize: 1,
    onDrop: (reason, _, lost) => dropped.push(`${reason}: ${lost?.note}`),
  });
  for (const note of ["one", "two", "three"]) recorder.record(details({ note }));
  assert.deepEqual(dropped, ["queue full: two", "queue full: three"]);
  await clock.advance(0);
  recorder.record(details({ note: "two" }));
  await clock.advance(0);
  assert.deepEqual(
    server.events.map(({ note }) => note),
    ["one", "two"],
  );
  assert.deepEqual(server.requests, ["create", "create"]);
});

test("EV-09 a thousand events about one object, each with another related one, are 25", async () => {
  const { clock, server, recorder } = recording();
  for (let i = 0; i < 1000; i++) recorder.record(details({ related: about(`target-${i}`) }));
  await clock.advance(0);
  assert.equal(server.events.length, 25);
});

test("EV-05 a second time over the bucket is counted, and written when the series ends", async () => {
  const { clock, server, recorder } = recording();
  for (let i = 0; i < 25; i++) recorder.record(details({ note: `note ${i}` }));
  recorder.record(details({ note: "note 3" }));
  await clock.advance(0);
  assert.equal(server.requests.length, 25);
  await clock.advance(6 * MINUTE);
  assert.equal(server.requests.length, 26);
  const counted = server.events.filter((event) => event.series);
  assert.deepEqual(
    counted.map((event) => [event.note, event.series?.count]),
    [["note 3", 2]],
  );
});

test("EV-09 repeats counted in memory cost nothing of the bucket", async () => {
  const { clock, server, recorder, drops } = recording();
  for (let i = 0; i < 1000; i++) recorder.record(details());
  for (let i = 0; i < 23; i++) recorder.record(details({ note: `note ${i}` }));
  await clock.advance(0);
  assert.equal(server.events.length, 24);
  assert.deepEqual(drops, []);
});

test("EV-06 4096 series are remembered: the one unused the longest is closed with its count", async () => {
  const { clock, server, recorder } = recording({ queueSize: 10_000 });
  for (let i = 0; i < 3; i++) recorder.record(details());
  for (let i = 0; i < 4096; i++) recorder.record(details({ regarding: about(`secret-${i}`) }));
  await clock.advance(MINUTE);
  const first = server.events.find((event) => event.regarding.name === "registry");
  assert.equal(first?.series?.count, 3);
  recorder.record(details());
  await clock.advance(MINUTE);
  assert.equal(server.events.filter(({ regarding }) => regarding.name === "registry").length, 2);
});

for (const [each, minutes] of [
  [1, 6],
  [2, 11],
] as const)
  test(`EV-05 who said much is not forgotten for thousands of others who said ${each} long ago`, async () => {
    const { clock, server, recorder } = recording({ queueSize: 10_000 });
    for (let i = 0; i < 25; i++) recorder.record(details({ note: `note ${i}` }));
    for (let i = 0; i < 4095 * each; i++)
      recorder.record(
        details({ regarding: about(`secret-${i % 4095}`), note: `note ${Math.floor(i / 4095)}` }),
      );
    await clock.advance(minutes * MINUTE);
    recorder.record(details({ regarding: about("one-more") }));
    await clock.advance(0);
    const before = server.events.length;
    for (let i = 0; i < 5; i++) recorder.record(details({ note: `another note ${i}` }));
    await clock.advance(0);
    assert.equal(server.events.length - before, each, "what five minutes bring, and no more");
  });

test("EV-06 two recorders share nothing: each begins its own event", async () => {
  const { clock, server, recorder } = recording();
  const second = new EventRecorder({
    client: server,
    clock,
    reporter: { controller: "secretcast", instance: "pod-2" },
  });
  recorder.record(details());
  await clock.advance(1);
  second.record(details());
  await clock.advance(0);
  assert.deepEqual(
    server.events.map((event) => event.reportingInstance),
    ["pod-1", "pod-2"],
  );
});
