import assert from "node:assert/strict";
import { test } from "node:test";
import { settle } from "../testing/fake-clock.ts";
import { FIRST_WAIT, item, setup } from "../testing/informer-setup.ts";
import type { Setup } from "../testing/informer-setup.ts";
import {
  added,
  bookmark,
  deleted,
  failed,
  listOf,
  mark,
  modified,
  raw,
} from "../testing/scripted-api.ts";
import type { Exchange } from "../testing/scripted-api.ts";

const REFUSED = { kind: "unavailable", reason: "ECONNREFUSED" } as const;
const THROTTLED = { kind: "throttled", status: 429, reason: "TooManyRequests" } as const;

test("RF-50 the first list is a stream with bookmarks and a time limit", async (t) => {
  const { api, informer } = setup(t, { labelSelector: "a=b", fieldSelector: "type!=c" });
  informer.start();
  const { request } = await api.next("stream");
  assert.equal(request.path, "/api/v1/secrets");
  assert.deepEqual(request.query, {
    sendInitialEvents: true,
    resourceVersionMatch: "NotOlderThan",
    labelSelector: "a=b",
    fieldSelector: "type!=c",
    watch: true,
    allowWatchBookmarks: true,
    timeoutSeconds: 235,
  });
});

test("RF-51 RF-52 the store stays empty until the end mark and the stream goes on", async (t) => {
  const { api, informer, heard, shown } = setup(t);
  informer.start();
  const stream = await api.next("stream");
  await stream.send(added(raw("x", 1)), added(raw("y", 2)), added(raw("z", 3)));
  await stream.send(modified(raw("x", 4)), deleted(raw("y", 5)), bookmark(6, "false"));
  assert.equal(informer.hasSynced, false);
  assert.deepEqual([shown(), heard], [[], []]);
  await stream.send(mark(7));
  assert.equal(informer.hasSynced, true);
  assert.deepEqual(shown(), ["x@4", "z@3"]);
  assert.equal(informer.store.syncedTo, "7");
  await stream.send(added(raw("late", 8)));
  assert.deepEqual(heard, ["add a/x@4 initial", "add a/z@3 initial", "add a/late@8"]);
  assert.equal(api.waiting, 0, "no second watch");
});

test("RF-53 a stream that ends before the mark is asked for again, from nothing", async (t) => {
  const { api, clock, informer, shown } = setup(t);
  informer.start();
  const first = await api.next("stream");
  await first.send(added(raw("x", 1)));
  await first.end();
  await clock.advance(FIRST_WAIT);
  const second = await api.next("stream");
  await second.send(added(raw("y", 2)), mark(3));
  assert.deepEqual(shown(), ["y@2"]);
});

test("RF-53 two broken streams are followed by a list in pages, then by a stream", async (t) => {
  const { api, clock, informer, shown } = setup(t);
  informer.start();
  for (const wait of [FIRST_WAIT, 2400]) {
    const stream = await api.next("stream");
    stream.accept();
    await settle();
    stream.cut();
    await clock.advance(wait);
  }
  (await api.next("list")).reply(listOf(5, [raw("x", 1)]));
  const watch = await api.next("watch");
  assert.deepEqual(shown(), ["x@1"]);
  await watch.send(failed(410, "Expired"));
  await clock.advance(60_000);
  await api.next("stream");
});

for (const details of [
  { kind: "invalid", status: 422, reason: "Invalid" },
  { kind: "badRequest", status: 400, reason: "BadRequest" },
] as const)
  test(`RF-54 a ${details.status} for the stream leads to a list in pages for good`, async (t) => {
    const { api, clock, informer, errors } = setup(t);
    informer.start();
    (await api.next("stream")).fail(details);
    (await api.next("list")).reply(listOf(5, []));
    const watch = await api.next("watch");
    assert.deepEqual(errors, []);
    await watch.send(failed(410, "Expired"));
    await clock.advance(FIRST_WAIT);
    await api.next("list");
  });

test("RF-54 the stream is requested again after a 429 or a refused connection", async (t) => {
  const { api, clock, informer } = setup(t);
  informer.start();
  (await api.next("stream")).fail(REFUSED);
  await clock.advance(FIRST_WAIT);
  (await api.next("stream")).fail(THROTTLED);
  await clock.advance(2400);
  (await api.next("stream")).fail(THROTTLED);
  await clock.advance(4800);
  await (await api.next("stream")).send(mark(1));
  assert.equal(informer.hasSynced, true);
});

test("RF-55 a server without an end mark within 30 s is always listed in pages", async (t) => {
  const { api, clock, informer, shown } = setup(t);
  informer.start();
  const stream = await api.next("stream");
  await stream.send(added(raw("live-change", 9)));
  await clock.advance(29_999);
  assert.equal(api.waiting, 0);
  await clock.advance(1);
  assert.equal(stream.closed, true);
  (await api.next("list")).reply(listOf(10, [raw("x", 1)]));
  const watch = await api.next("watch");
  assert.deepEqual(shown(), ["x@1"]);
  await watch.send(failed(410, "Expired"));
  await clock.advance(60_000);
  await api.next("list");
});

test("RF-55 a first list that brings 1,000 objects in each 30 s may take longer", async (t) => {
  const { api, clock, informer } = setup(t);
  informer.start();
  const stream = await api.next("stream");
  for (let round = 0; round < 3; round++) {
    const objects = Array.from({ length: 1000 }, (_, at) => added(raw(`x${round}-${at}`, at + 1)));
    await stream.send(...objects);
    await clock.advance(29_000);
  }
  await stream.send(mark(5000));
  assert.equal(informer.store.size, 3000);
});

test("RF-55 a first list that brings 8 MiB in each 30 s may take longer", async (t) => {
  const { api, clock, informer } = setup(t);
  informer.start();
  const stream = await api.next("stream");
  const large = (name: string, at: number): unknown =>
    added({ ...raw(name, at + 1), data: { key: "x".repeat(1_400_000) } });
  for (let round = 0; round < 3; round++) {
    for (let at = 0; at < 7; at++) await stream.send(large(`x${round}-${at}`, at));
    await clock.advance(29_000);
  }
  await stream.send(mark(5000));
  assert.equal(informer.store.size, 21);
});

test("RF-55 neither 8 MiB nor 1,000 objects within 30 s: listed in pages", async (t) => {
  const { api, clock, informer } = setup(t);
  informer.start();
  const stream = await api.next("stream");
  await stream.send(added({ ...raw("x", 1), data: { key: "x".repeat(7_000_000) } }));
  await clock.advance(30_000);
  assert.equal(stream.closed, true);
  (await api.next("list")).reply(listOf(10, [raw("x", 1)]));
});

test("RF-03 RF-05 pages of 500, the version of the first, only the token with the rest", async (t) => {
  const { api, shown, listing } = setup(t, { labelSelector: "a=b" });
  await listing();
  const first = await api.next("list");
  assert.deepEqual(first.request.query, {
    labelSelector: "a=b",
    fieldSelector: undefined,
    limit: 500,
  });
  first.reply(listOf(5, [raw("x", 1)], "token"));
  const second = await api.next("list");
  assert.equal(second.query("continue"), "token");
  assert.equal(second.query("resourceVersion"), undefined);
  assert.deepEqual(shown(), [], "half a list is no list");
  second.reply(listOf(9, [raw("y", 2)]));
  const watch = await api.next("watch");
  assert.equal(watch.query("resourceVersion"), "5");
  assert.equal(watch.query("labelSelector"), "a=b");
  assert.deepEqual(shown(), ["x@1", "y@2"]);
});

test("a page that exceeds the memory of a process is requested again with fewer objects", async (t) => {
  const { api, shown, listing } = setup(t);
  await listing();
  const large = { kind: "malformed", status: 200, reason: "ResponseTooLong" } as const;
  for (const limit of [500, 63]) {
    const page = await api.next("list");
    assert.equal(page.query("limit"), String(limit));
    assert.ok((page.request.mostBytes ?? Infinity) <= 16 * 2 ** 20);
    page.fail(large);
  }
  const fits = await api.next("list");
  assert.equal(fits.query("limit"), "8");
  fits.reply(listOf(5, [raw("x", 1)], "token"));
  const next = await api.next("list");
  assert.deepEqual([next.query("limit"), next.query("continue")], ["16", "token"]);
  next.fail(large);
  const again = await api.next("list");
  assert.deepEqual([again.query("limit"), again.query("continue")], ["2", "token"]);
  again.reply(listOf(5, [raw("y", 2)]));
  await api.next("watch");
  assert.deepEqual(shown(), ["x@1", "y@2"]);
});

test("RF-06 a page that expires drops the pages so far and begins with the first again", async (t) => {
  const { api, shown, listing } = setup(t);
  await listing();
  (await api.next("list")).reply(listOf(5, [raw("old", 1)], "token"));
  (await api.next("list")).fail({ kind: "gone", status: 410, reason: "Expired" });
  const first = await api.next("list");
  assert.equal(first.query("limit"), "500");
  assert.equal(first.query("continue"), undefined);
  first.reply(listOf(9, [raw("x", 8)], "other"));
  const second = await api.next("list");
  assert.equal(second.query("continue"), "other");
  second.reply(listOf(9, [raw("y", 7)]));
  assert.equal((await api.next("watch")).query("resourceVersion"), "9");
  assert.deepEqual(shown(), ["x@8", "y@7"]);
});

test("RF-06 pages that expire repeatedly end the list, which begins anew after a wait", async (t) => {
  const { api, clock, shown, listing } = setup(t);
  const gone = { kind: "gone", status: 410, reason: "Expired" } as const;
  await listing();
  // Three, and three more at once: the first 410 since the server was last well is no reason to wait.
  for (let begun = 0; begun < 6; begun++) {
    const first = await api.next("list");
    assert.equal(first.query("continue"), undefined);
    first.reply(listOf(5, [raw(`old-${begun}`, 1)], "token"));
    (await api.next("list")).fail(gone);
  }
  await settle();
  assert.equal(api.waiting, 0);
  await clock.advance(60_000);
  (await api.next("list")).reply(listOf(9, [raw("x", 8)]));
  await api.next("watch");
  assert.deepEqual(shown(), ["x@8"]);
});

test("RF-10 L3 a 200 answer that is no list changes nothing in the store", async (t) => {
  const { api, clock, filled, informer, heard, errors, shown } = setup(t);
  const watch = await filled(5, raw("x", 1), raw("y", 2));
  heard.length = 0;
  await watch.send(failed(410, "Expired"));
  // Two broken streams, so that the lists come in pages.
  for (const wait of [60_000, 60_000]) {
    await clock.advance(wait);
    (await api.next("stream")).fail({ kind: "malformed", status: 200, reason: "NotJSON" });
  }
  const metadata = { resourceVersion: "9" };
  const bodies: readonly unknown[] = [
    {},
    [],
    { kind: "Status", metadata: {}, status: "Failure" },
    { kind: "Table", metadata, items: [] },
    { kind: "PodList", metadata, items: [] },
    { kind: "SecretList", metadata },
    { kind: "SecretList", metadata, items: {} },
    { kind: "SecretList", metadata: {}, items: [] },
    { kind: "SecretList", items: [] },
    { kind: "SecretList", metadata, items: [{ metadata: { name: "x" } }] },
    { kind: "SecretList", metadata, items: [null] },
  ];
  for (const body of bodies) {
    await clock.advance(60_000);
    while (api.peek !== "list") {
      (await api.next("stream")).fail({ kind: "malformed", status: 200, reason: "NotJSON" });
      await clock.advance(60_000);
    }
    (await api.next("list")).reply(body);
    await settle();
    assert.deepEqual(shown(), ["x@1", "y@2"], JSON.stringify(body));
  }
  assert.deepEqual(heard, []);
  assert.equal(informer.hasSynced, true);
  assert.ok(errors.every((error) => !error.message.includes("Failure")));
});

test("RF-08 stop during a list returns without touching the store", async (t) => {
  const { api, informer, shown, listing } = setup(t);
  await listing();
  const list = await api.next("list");
  const stopped = informer.stop();
  list.reply(listOf(5, [raw("x", 1)]));
  await stopped;
  assert.deepEqual(shown(), []);
  assert.equal(api.waiting, 0);
});

test("RF-20 watches last between 200 and 270 s", async (t) => {
  for (const [chance, seconds] of [
    [0, "200"],
    [0.9999, "269"],
  ] as const) {
    const { api, clock, informer } = setup(t);
    clock.chance = () => chance;
    informer.start();
    assert.equal((await api.next("stream")).query("timeoutSeconds"), seconds);
  }
});

test("RF-21 a failed opening of the watch is retried after a wait without a list", async (t) => {
  const { api, clock, ended, shown } = setup(t);
  await ended(5, raw("x", 1));
  const refusals = [REFUSED, THROTTLED, REFUSED, { ...REFUSED, reason: "ECONNRESET" }, THROTTLED];
  for (const [at, refusal] of refusals.entries()) {
    const watch = await api.next("watch");
    assert.equal(watch.query("resourceVersion"), "5");
    watch.fail(refusal);
    await clock.advance(FIRST_WAIT * 2 ** at);
  }
  await api.next("watch");
  assert.deepEqual(shown(), ["x@1"]);
});

for (const [details, kind] of [
  [{ kind: "unavailable", status: 500, reason: "InternalError" }, "stream"],
  [{ kind: "tooLarge", status: 504, reason: "Timeout" }, "stream"],
  [{ kind: "malformed", status: 200, reason: "NotJSON" }, "stream"],
  [{ kind: "unavailable", status: 503, reason: "ServiceUnavailable" }, "watch"],
  [{ kind: "timeout", status: 504, reason: "Timeout" }, "watch"],
  [{ kind: "unauthorized", status: 401, reason: "Unauthorized" }, "watch"],
  [{ kind: "forbidden", status: 403, reason: "Forbidden" }, "watch"],
] as const)
  test(`RF-21 RF-25 L1 W4 after ${details.status} ${details.kind} at opening comes a wait, then a ${kind}, for ever`, async (t) => {
    const { api, clock, ended, errors, shown } = setup(t);
    await ended(5, raw("x", 1));
    (await api.next("watch")).fail(details);
    await settle();
    assert.equal(api.waiting, 0, "the wait comes first");
    assert.equal(errors.length, 1);
    await clock.advance(FIRST_WAIT);
    (await api.next(kind)).fail(details);
    for (let round = 0; round < 5; round++) {
      await clock.advance(60_000);
      assert.equal(api.waiting, 1);
      (await api.next(api.peek ?? kind)).fail(details);
    }
    assert.deepEqual(shown(), ["x@1"], "the store keeps what it has");
  });

test("RF-22 a watch that ended cleanly is opened again at once without a list", async (t) => {
  const { api, clock, filled, errors, heard } = setup(t);
  const stream = await filled(5, raw("x", 1));
  await clock.advance(5000);
  await stream.send(modified(raw("x", 7)));
  await stream.end();
  const watch = await api.next("watch");
  assert.equal(watch.query("resourceVersion"), "7");
  assert.equal(clock.untilNext, 250_000, "nothing but the watch's deadline");
  await watch.send(deleted(raw("x", 8)));
  assert.deepEqual(heard, ["add a/x@1 initial", "update a/x@1>7", "delete a/x@8"]);
  assert.deepEqual(errors, []);
});

test("RF-23 a watch that ends within a second without an event leads to a list", async (t) => {
  const { api, clock, ended } = setup(t);
  await ended(5, raw("x", 1));
  await (await api.next("watch")).end();
  await settle();
  assert.equal(api.waiting, 0);
  await clock.advance(FIRST_WAIT);
  await api.next("stream");
});

test("L9 a server that sends one event and closes is not dialled in a tight loop", async (t) => {
  const { api, clock, ended } = setup(t);
  await ended(5);
  const before = api.seen.length;
  for (let round = 0; round < 50; round++) {
    const watch = await api.next("watch");
    await watch.send(bookmark(6 + round));
    await watch.end();
    await clock.advance(60_000);
  }
  assert.ok(api.seen.length - before <= 51);
});

test("RF-24 L10 an in-stream 410 lists again at once, even when more events follow it", async (t) => {
  const { api, clock, filled, shown } = setup(t);
  const stream = await filled(5, raw("x", 1), raw("gone", 2));
  await stream.send(failed(410, "Expired"), modified(raw("x", 9)));
  assert.equal(stream.closed, true, "without waiting for the server to close");
  await clock.advance(FIRST_WAIT);
  await (await api.next("stream")).send(added(raw("x", 8)), mark(10));
  assert.deepEqual(shown(), ["x@8"]);
});

test("RF-24 an in-stream 429 waits and watches on; 500 and 403 wait and list", async (t) => {
  for (const [event, next] of [
    [failed(429, "TooManyRequests"), "watch"],
    [failed(500, "InternalError"), "stream"],
    [failed(403, "Forbidden"), "watch"],
    [failed(504, "Timeout", { causes: [{ reason: "ResourceVersionTooLarge" }] }), "stream"],
  ] as const) {
    const { api, clock, filled, shown } = setup(t);
    const stream = await filled(5, raw("x", 1));
    await stream.send(event);
    assert.equal(stream.closed, true);
    await clock.advance(FIRST_WAIT);
    await api.next(next);
    assert.deepEqual(shown(), ["x@1"]);
  }
});

test("L11 an in-stream error of any code ends the watch", async (t) => {
  const { filled, restarts } = setup(t);
  const stream = await filled(5);
  await stream.send(failed(418, "Teapot"));
  assert.equal(stream.closed, true);
  assert.deepEqual(restarts, ["badRequest"]);
});

test("RF-26 every event and bookmark moves the version that the next watch starts from", async (t) => {
  const { api, clock, filled } = setup(t);
  let stream = await filled(5, raw("x", 1));
  for (const [event, version] of [
    [added(raw("y", 6)), "6"],
    [modified(raw("y", 7)), "7"],
    [deleted(raw("y", 8)), "8"],
    [bookmark(12), "12"],
  ] as const) {
    await stream.send(event);
    await clock.advance(2000);
    await stream.end();
    stream = await api.next("watch");
    assert.equal(stream.query("resourceVersion"), version);
  }
});

for (const line of [
  "garbage",
  '{"type":"ADDED","object":null}',
  '{"type":"NEW","object":{}}',
  "{}",
])
  test(`RF-27 W3 a line that is no event (${line}) ends the round with a list`, async (t) => {
    const { api, clock, filled, errors, restarts, shown } = setup(t);
    const stream = await filled(5, raw("x", 1));
    stream.bytes(`${line}\n`);
    await settle();
    assert.deepEqual(restarts, ["malformed"]);
    assert.match(errors[0]?.message ?? "", /^watch secrets: 200 BadEvent, /);
    await clock.advance(FIRST_WAIT);
    await (await api.next("stream")).send(added(raw("x", 1)), mark(6));
    assert.deepEqual(shown(), ["x@1"]);
  });

test("W7 a line longer than 32 MiB ends the round", async (t) => {
  const { filled, errors } = setup(t);
  const stream = await filled(5);
  stream.bytes(Buffer.alloc(33 * 1024 * 1024, "x"));
  await settle();
  assert.match(errors[0]?.message ?? "", /a line is longer than 33554432 bytes$/);
});

test("RF-28 every stream is closed, however it ended", async (t) => {
  const { api, ended } = setup(t);
  const stream = await ended(5);
  const watch = await api.next("watch");
  watch.accept();
  await settle();
  watch.cut();
  await settle();
  assert.deepEqual([stream.closed, watch.closed], [true, true]);
});

test("RF-30 while the server is away the store and hasSynced stay as they are", async (t) => {
  const { api, clock, filled, informer, heard, shown } = setup(t);
  const stream = await filled(5, raw("x", 1));
  heard.length = 0;
  stream.cut();
  for (let round = 0; round < 10; round++) {
    await clock.advance(60_000);
    (await api.next("watch")).fail(REFUSED);
    await settle();
  }
  assert.deepEqual([shown(), heard, informer.hasSynced], [["x@1"], [], true]);
});

test("RF-31 the error hook is called once for each failed round", async (t) => {
  const { api, clock, ended, errors, restarts } = setup(t);
  await ended(5);
  const watch = await api.next("watch");
  watch.accept();
  await settle();
  watch.cut();
  await clock.advance(FIRST_WAIT);
  (await api.next("watch")).fail(THROTTLED);
  await settle();
  assert.deepEqual(restarts, ["closed", "unavailable", "throttled"]);
  assert.deepEqual(
    errors.map((error) => error.message),
    ["watch secrets: UND_ERR_SOCKET", "watch secrets: 429 TooManyRequests"],
  );
});

/** The waits until the next attempts, each of which fails so. */
async function waits(
  { api, clock }: Setup,
  count: number,
  fail: (attempt: Exchange) => void | Promise<void>,
): Promise<readonly number[]> {
  const found: number[] = [];
  for (let round = 0; round < count; round++) {
    await settle();
    found.push(clock.untilNext ?? 0);
    await clock.advance(clock.untilNext ?? 0);
    await fail(await api.next(api.peek ?? "watch"));
  }
  return found;
}

const GROWING = [800, 1600, 3200, 6400, 12_800, 25_600, 30_000, 30_000];
const BUSY = { kind: "timeout", status: 504, reason: "Timeout" } as const;

test("RF-35 RF-36 waits grow from 0.8 s to 60 s until a watch has lasted 5 s", async (t) => {
  const s = setup(t);
  const { api, clock } = s;
  clock.chance = () => 0;
  (await s.filled(5)).fail(BUSY);
  assert.deepEqual(await waits(s, 8, (attempt) => attempt.fail(BUSY)), GROWING);
  const next = async (): Promise<Exchange> => {
    await clock.advance(30_000);
    return api.next("watch");
  };
  const short = await next();
  short.accept();
  await clock.advance(4999);
  short.fail(BUSY);
  await settle();
  assert.equal(clock.untilNext, 30_000, "neither an event nor five seconds");
  const brief = await next();
  await brief.send(bookmark(6));
  brief.fail(BUSY);
  await settle();
  assert.equal(clock.untilNext, 800, "it delivered");
  assert.deepEqual(await waits(s, 6, (attempt) => attempt.fail(BUSY)), GROWING.slice(0, 6));
  const long = await next();
  long.accept();
  await clock.advance(5000);
  long.fail(BUSY);
  await settle();
  assert.equal(clock.untilNext, 800, "it lasted");
});

test("RF-36 refused connections are retried every 2 s for a minute, then up to 30 s", async (t) => {
  for (const chance of [0, 0.9999]) {
    const s = setup(t);
    s.clock.chance = () => chance;
    (await s.filled(5)).cut();
    const began = s.clock.monotonic();
    let [widest, attempts] = [0, 0];
    for (; s.clock.monotonic() - began < 60_000; attempts++) {
      const [wait = 0] = await waits(s, 1, (attempt) => attempt.fail(REFUSED));
      widest = Math.max(widest, wait);
    }
    assert.ok(widest <= 2000, `${widest} ms`);
    assert.ok(attempts <= 125, `${attempts} tries in a minute`);
    const later: number[] = [];
    while (s.clock.monotonic() - began < 30 * 60_000)
      later.push(...(await waits(s, 1, (attempt) => attempt.fail(REFUSED))));
    assert.ok((later.at(-1) ?? 0) >= 15_000 && Math.max(...later) <= 30_000);
  }
});

test("RF-36 a short outage costs the same, however many came before", async (t) => {
  const s = setup(t);
  const { api, clock } = s;
  let watch = await s.filled(5);
  for (let restart = 0; restart < 20; restart++) {
    await watch.send(modified(raw("x", 10 + restart)));
    watch.cut();
    await settle();
    const down = clock.monotonic();
    while (clock.monotonic() - down < 2000) {
      await clock.advance(clock.untilNext ?? 0);
      if (clock.monotonic() - down >= 2000) break;
      (await api.next("watch")).fail(REFUSED);
      await settle();
    }
    assert.ok(clock.monotonic() - down <= 3000, `restart ${restart}`);
    watch = await api.next("watch");
  }
});

test("RF-36 the first request that succeeds, whoever makes it, wakes a watch that waits", async (t) => {
  const { api, clock, filled } = setup(t);
  const stream = await filled(5);
  stream.cut();
  await clock.advance(FIRST_WAIT);
  (await api.next("watch")).fail(REFUSED);
  api.reachability.unanswered();
  await clock.advance(600);
  assert.equal(api.waiting, 0);
  api.reachability.answered();
  await settle();
  assert.equal((await api.next("watch")).query("resourceVersion"), "5");
});

test("RF-36 a refused watch is woken three times by other requests that succeed", async (t) => {
  const { api, clock, filled } = setup(t);
  (await filled(5)).cut();
  let woken = 0;
  for (let second = 0; second < 20; second++) {
    api.reachability.unanswered();
    if (api.waiting > 0) (await api.next("watch")).fail(REFUSED);
    await clock.advance(600);
    const before = api.waiting;
    api.reachability.answered();
    await settle();
    woken += api.waiting - before;
  }
  assert.equal(woken, 3);
});

test("RF-36 a server that answers and cuts at once meets a growing wait", async (t) => {
  const s = setup(t);
  s.clock.chance = () => 0;
  (await s.filled(5)).cut();
  const cut = (attempt: Exchange): void => {
    attempt.accept();
    attempt.cut();
  };
  assert.deepEqual(await waits(s, 8, cut), GROWING);
});

test("RF-36 what a server refuses while it starts is asked for again within a second", async (t) => {
  const s = setup(t);
  const { api, clock } = s;
  (await s.filled(5)).fail(BUSY);
  await waits(s, 8, (attempt) => attempt.fail(BUSY));
  api.reachability.unanswered();
  await clock.advance(1000);
  api.reachability.answered();
  await settle();
  (await api.next("watch")).fail({ kind: "forbidden", status: 403, reason: "Forbidden" });
  await settle();
  assert.ok((clock.untilNext ?? Infinity) <= 1000);
});

test("RF-25 RF-36 a 410 at opening lists again at once", async (t) => {
  const { api, ended, shown } = setup(t);
  await ended(5, raw("x", 1));
  (await api.next("watch")).fail({ kind: "gone", status: 410, reason: "Expired" });
  await (await api.next("stream")).send(added(raw("y", 6)), mark(7));
  assert.deepEqual(shown(), ["y@6"]);
});

test("RF-36 a server that nobody found away, but that refuses as one that starts, likewise", async (t) => {
  const s = setup(t);
  const { clock } = s;
  clock.chance = () => 0.9999;
  (await s.filled(5)).cut();
  const forbidden = { kind: "forbidden", status: 403, reason: "Forbidden" } as const;
  const waited = await waits(s, 6, (attempt) => attempt.fail(forbidden));
  assert.ok(
    waited.slice(1).every((wait) => wait <= 1000),
    String(waited),
  );
  await clock.advance(15_000);
  const later = await waits(s, 8, (attempt) => attempt.fail(forbidden));
  assert.ok((later.at(-1) ?? 0) > 30_000, "not for ever");
});

test("L8 RF-36 a first 410 lists again at once, the next only after a wait that grows", async (t) => {
  const { api, clock, filled } = setup(t);
  let stream = await filled(1);
  await stream.send(failed(410, "Expired"));
  stream = await api.next("stream");
  await stream.send(mark(2));
  for (const wait of [1200, 2400, 4800]) {
    await stream.send(failed(410, "Expired"));
    await clock.advance(wait - 1);
    assert.equal(api.waiting, 0);
    await clock.advance(1);
    stream = await api.next("stream");
    await stream.send(mark(2));
  }
  await stream.send(bookmark(3), failed(410, "Expired"));
  await (await api.next("stream")).send(mark(4));
});

test("RF-37 L19 Retry-After is honoured when it is longer than our own wait", async (t) => {
  const { api, clock, ended } = setup(t);
  await ended(5);
  (await api.next("watch")).fail({ ...THROTTLED, retryAfterMs: 17_000 });
  await clock.advance(16_999);
  assert.equal(api.waiting, 0);
  await clock.advance(1);
  await api.next("watch");
});

const MAINTENANCE = {
  kind: "unavailable",
  status: 503,
  reason: "ServiceUnavailable",
  retryAfterMs: 3_600_000,
} as const;

test("C7 after a 503 that asks for an hour, any request that succeeds ends the wait", async (t) => {
  const { api, clock, ended } = setup(t);
  await ended(5);
  (await api.next("watch")).fail(MAINTENANCE);
  await clock.advance(100);
  assert.equal(api.waiting, 0);
  api.reachability.answered();
  await api.next("watch");
});

test("C7 a 503 that asks for an hour is retried after 30 s at most", async (t) => {
  const { api, clock, ended } = setup(t);
  await ended(5);
  for (let round = 0; round < 3; round++) {
    (await api.next("watch")).fail(MAINTENANCE);
    await clock.advance(1);
    api.reachability.answered();
  }
  (await api.next("watch")).fail(MAINTENANCE);
  await clock.advance(20_000);
  api.reachability.answered();
  await clock.advance(9999);
  assert.equal(api.waiting, 0, "woken three times in vain");
  await clock.advance(1);
  await api.next("watch");
});

test("C7 a 429 that asks for an hour is waited for five minutes at most", async (t) => {
  const { api, clock, ended } = setup(t);
  await ended(5);
  (await api.next("watch")).fail({ ...THROTTLED, retryAfterMs: 3_600_000 });
  await clock.advance(299_999);
  assert.equal(api.waiting, 0);
  await clock.advance(1);
  await api.next("watch");
});

test("RF-39 W1 a dead watch is found within five minutes, and a quiet one is left alone", async (t) => {
  const { api, clock, filled, informer, errors, restarts } = setup(t);
  clock.chance = () => 0.9999;
  const stream = await filled(5, raw("x", 1));
  await clock.advance(283_999);
  assert.equal(stream.closed, false, "269 s of its own and 15 s of grace");
  assert.deepEqual(restarts, []);
  await clock.advance(1);
  assert.equal(stream.closed, true);
  assert.match(errors[0]?.message ?? "", /DeadConnection/);
  await clock.advance(2000);
  assert.equal((await api.next("watch")).query("resourceVersion"), "5");
  assert.ok(clock.monotonic() < 300_000);
  assert.equal(informer.hasSynced, true);
});

test("RF-39 a watch that is silent for 150 s after its first bookmark has ended", async (t) => {
  const { api, clock, filled, errors } = setup(t);
  clock.chance = () => 0.9999;
  const stream = await filled(5, raw("x", 1));
  await clock.advance(120_000);
  await stream.send(bookmark(6));
  await clock.advance(60_000);
  await stream.send(bookmark(7));
  await clock.advance(60_000);
  await stream.end();
  const next = await api.next("watch");
  next.accept();
  // Anything that arrives ends the silence. An event does, as a bookmark does.
  await clock.advance(100_000);
  await next.send(added(raw("y", 8)));
  await clock.advance(149_999);
  assert.equal(next.closed, false);
  assert.deepEqual([api.waiting, errors], [0, []]);
  await clock.advance(1);
  assert.equal(next.closed, true);
  assert.match(errors[0]?.message ?? "", /SilentConnection.*150 s/);
  await clock.advance(2000);
  assert.equal((await api.next("watch")).query("resourceVersion"), "8", "nothing is listed again");
});

test("RF-39 the first bookmark of a server bounds the silence of the watch that is open", async (t) => {
  const { clock, filled, errors } = setup(t);
  clock.chance = () => 0.9999;
  const stream = await filled(5, raw("x", 1));
  await clock.advance(100_000);
  await stream.send(bookmark(6));
  await clock.advance(149_999);
  assert.equal(stream.closed, false);
  await clock.advance(1);
  assert.equal(stream.closed, true);
  assert.match(errors[0]?.message ?? "", /SilentConnection/);
});

test("RF-40 L13 list and watch are scoped alike", async (t) => {
  const { api, informer } = setup(t, {
    namespace: "team-a",
    labelSelector: "a in (b)",
    fieldSelector: "type!=c",
  });
  informer.start();
  const stream = await api.next("stream");
  stream.fail({ kind: "invalid", status: 422, reason: "Invalid" });
  const list = await api.next("list");
  list.reply(listOf(5, []));
  const watch = await api.next("watch");
  for (const { request } of [stream, list, watch]) {
    assert.equal(request.path, "/api/v1/namespaces/team-a/secrets");
    assert.equal(request.query?.["labelSelector"], "a in (b)");
    assert.equal(request.query?.["fieldSelector"], "type!=c");
  }
});

test("RF-42 L4 L5 W6 stop at any point leaves no request, no timer, and nothing is sent afterwards", async (t) => {
  type Point = (s: ReturnType<typeof setup>) => Promise<void>;
  const points: Readonly<Record<string, Point>> = {
    "before start": async () => undefined,
    "at start": async ({ informer }) => informer.start(),
    "before the stream's head": async ({ api, informer }) => {
      informer.start();
      await api.next("stream");
    },
    "inside the first list": async ({ api, informer }) => {
      informer.start();
      await (await api.next("stream")).send(added(raw("x", 1)));
    },
    "in the watch": async ({ filled }) => void (await filled(5)),
    "in a wait": async ({ filled }) => {
      (await filled(5)).cut();
      await settle();
    },
    "before a watch's head": async ({ api, clock, filled }) => {
      const stream = await filled(5);
      await clock.advance(5000);
      await stream.end();
      await api.next("watch");
    },
    "in a list of pages": async ({ api, listing }) => {
      await listing();
      await api.next("list");
    },
  };
  for (const [name, reach] of Object.entries(points)) {
    const s = setup(t);
    await reach(s);
    const sent = s.api.seen.length;
    await Promise.all([s.informer.stop(), s.informer.stop()]);
    await s.clock.advance(600_000);
    assert.equal(s.clock.timers, 0, name);
    assert.equal(s.api.unclosed, 0, name);
    assert.ok(s.api.seen.length <= Math.max(sent, 1), name);
    const { restarts } = s;
    assert.ok(!restarts.includes("cancelled"), name);
  }
});

test("L2 a failed first list is not synced, and is tried until it works", async (t) => {
  const { api, clock, informer } = setup(t);
  informer.start();
  let synced: boolean | undefined;
  void informer.waitForSync().then((done) => (synced = done));
  for (let round = 0; round < 5; round++) {
    const request = await api.next("stream");
    request.fail(THROTTLED);
    await clock.advance(60_000);
    assert.equal(synced, undefined);
  }
  await (await api.next("stream")).send(mark(1));
  assert.equal(synced, true);
});

test("RF-32 an object that cannot be read from storage ends the round, and the list decides", async (t) => {
  const { api, clock, filled, heard, shown } = setup(t);
  const stream = await filled(5, raw("bad", 1), raw("good", 2));
  heard.length = 0;
  await stream.send(
    failed(500, "InternalError", { causes: [{ reason: "StoreReadError", field: "" }] }),
  );
  assert.deepEqual(shown(), ["bad@1", "good@2"]);
  await clock.advance(FIRST_WAIT);
  await (await api.next("stream")).send(added(raw("good", 2)), mark(9));
  assert.deepEqual(heard, ["delete a/bad@1?"]);
});

test("L12 bookmarks are asked for in every watch", async (t) => {
  const { api, ended } = setup(t);
  await ended(5);
  assert.equal((await api.next("watch")).query("allowWatchBookmarks"), "true");
});

test("L17 the last activity moves when the server is heard, and a planned reconnect is reported", async (t) => {
  const { api, clock, filled, informer } = setup(t);
  const stream = await filled(5);
  await clock.advance(50_000);
  await stream.send(bookmark(6));
  assert.equal(informer.lastActivityMs, 50_000);
  assert.equal(informer.scheduledReconnect, undefined);
  stream.cut();
  await settle();
  assert.equal(informer.scheduledReconnect, 50_000 + FIRST_WAIT);
  await clock.advance(FIRST_WAIT);
  await api.next("watch");
  assert.equal(informer.scheduledReconnect, undefined);
});

test("L17 a watch is disconnected from its end until the next one is open", async (t) => {
  const { api, clock, filled, informer } = setup(t);
  assert.equal(informer.disconnectedSinceMs, 0, "nothing is known yet");
  const stream = await filled(5);
  assert.equal(informer.disconnectedSinceMs, undefined);
  await clock.advance(50_000);
  stream.cut();
  await settle();
  assert.equal(informer.disconnectedSinceMs, 50_000);
  await clock.advance(FIRST_WAIT);
  (await api.next("watch")).fail(REFUSED);
  await settle();
  assert.equal(informer.disconnectedSinceMs, 50_000, "a failed try moves nothing");
  await clock.advance(1000);
  const back = await api.next("watch");
  back.accept();
  await settle();
  assert.equal(informer.disconnectedSinceMs, undefined);
});

test("L17 the connection hook is called for each list and watch that succeeds", async (t) => {
  let connected = 0;
  const { api, clock, filled } = setup(t, { onConnected: () => void connected++ });
  const stream = await filled(5);
  assert.equal(connected, 1);
  stream.cut();
  await clock.advance(FIRST_WAIT);
  (await api.next("watch")).fail(REFUSED);
  await settle();
  assert.equal(connected, 1);
  await clock.advance(1000);
  (await api.next("watch")).accept();
  await settle();
  assert.equal(connected, 2);
});

test("L17 a watch whose history is gone is disconnected until it is listed again", async (t) => {
  const { api, clock, filled, informer } = setup(t);
  const stream = await filled(5);
  await clock.advance(50_000);
  await stream.send(failed(410, "Expired"));
  const again = await api.next("stream");
  await again.send(added(raw("x", 8)));
  assert.equal(informer.disconnectedSinceMs, 50_000);
  await again.send(mark(9));
  assert.equal(informer.disconnectedSinceMs, undefined);
});

test("L17 a watch that closes without an event ends no disconnection", async (t) => {
  const { api, clock, filled, informer } = setup(t);
  const stream = await filled(5);
  await clock.advance(50_000);
  stream.cut();
  await settle();
  await clock.advance(FIRST_WAIT);
  await (await api.next("watch")).end();
  assert.equal(informer.disconnectedSinceMs, 50_000);
  await clock.advance(30_000);
  await (await api.next("stream")).send(mark(7));
  assert.equal(informer.disconnectedSinceMs, undefined);
});

test("L17 a watch after a list in pages is disconnected until it is open", async (t) => {
  const { api, clock, informer } = setup(t);
  informer.start();
  (await api.next("stream")).fail({ kind: "badRequest", status: 400, reason: "BadRequest" });
  (await api.next("list")).reply(listOf(5, [raw("x", 1)]));
  const refused = await api.next("watch");
  assert.equal(informer.hasSynced, true);
  assert.equal(informer.disconnectedSinceMs, 0);
  refused.fail({ kind: "forbidden", status: 403, reason: "Forbidden" });
  await settle();
  assert.equal(informer.disconnectedSinceMs, 0);
  await clock.advance(FIRST_WAIT);
  (await api.next("watch")).accept();
  await settle();
  assert.equal(informer.disconnectedSinceMs, undefined);
});

test("L17 a watch that is reopened at its time limit was never disconnected", async (t) => {
  const { api, clock, filled, informer } = setup(t);
  const stream = await filled(5);
  await clock.advance(235_000);
  await stream.end();
  const next = await api.next("watch");
  assert.equal(informer.disconnectedSinceMs, undefined);
  await clock.advance(1000);
  assert.equal(informer.disconnectedSinceMs, 235_000, "nobody took the next one");
  next.accept();
  await settle();
  assert.equal(informer.disconnectedSinceMs, undefined);
});

test("an outage of any length shows signs of life, unlike a silent watch", async (t) => {
  const { api, clock, filled, informer } = setup(t);
  const stream = await filled(5);
  const age = (): number => clock.monotonic() - informer.lastSignOfLifeMs;
  await clock.advance(200_000);
  assert.equal(age(), 200_000);
  stream.cut();
  for (let round = 0; round < 40; round++) {
    await clock.advance(60_000);
    assert.ok(age() <= 60_000, `${age()} ms`);
    (await api.next("watch")).fail(REFUSED);
    await settle();
  }
  assert.ok(clock.monotonic() - informer.lastActivityMs > 40 * 60_000);
});

test("RF a sequence of list and watch errors ends with the right store", async (t) => {
  const { api, clock, filled, shown } = setup(t);
  let watch = await filled(5, raw("x", 1), raw("y", 2));
  await watch.send(modified(raw("x", 6)));
  watch.cut();
  await clock.advance(60_000);
  (await api.next("watch")).fail({ kind: "gone", status: 410, reason: "Expired" });
  await clock.advance(60_000);
  (await api.next("stream")).fail({ kind: "unavailable", status: 500, reason: "InternalError" });
  await clock.advance(60_000);
  watch = await api.next("stream");
  await watch.send(added(raw("y", 2)));
  watch.cut();
  await clock.advance(60_000);
  (await api.next("list")).reply(listOf(20, [raw("y", 2), raw("z", 18)]));
  watch = await api.next("watch");
  await watch.send(modified(raw("z", 21)));
  assert.deepEqual(shown(), ["y@2", "z@21"]);
});

test("L18 what the transform leaves out is not kept", async (t) => {
  const { filled, informer, shown } = setup(t, {
    transform: (object) => (object.metadata.name.startsWith("no") ? undefined : item(object)),
  });
  const stream = await filled(5, raw("yes", 1), raw("no", 2));
  await stream.send(added(raw("no-more", 6)));
  assert.deepEqual(shown(), ["yes@1"]);
  assert.deepEqual(Object.keys(informer.store.get("a", "yes") ?? {}), [
    "namespace",
    "name",
    "uid",
    "resourceVersion",
  ]);
});
