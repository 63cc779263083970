// An API server whose versions go back: etcd was restored from a backup.
import assert from "node:assert/strict";
import { test } from "node:test";
import { FakeClock, settle } from "../testing/fake-clock.ts";
import { candidate } from "../testing/candidate.ts";
import { setup } from "../testing/informer-setup.ts";
import type { Setup } from "../testing/informer-setup.ts";
import { LeaseServer } from "../testing/lease-server.ts";
import { added, bookmark, listOf, mark, modified, raw } from "../testing/scripted-api.ts";
import type { Exchange } from "../testing/scripted-api.ts";

/** A watch at version 50 that was cut, and the one that takes its place. */
async function reconnected(s: Setup): Promise<Exchange> {
  (await s.filled(50, raw("x", 40), raw("gone", 45))).cut();
  await s.clock.advance(2000);
  const watch = await s.api.next("watch");
  watch.accept();
  await settle();
  return watch;
}

for (const [what, event] of [
  ["an event", modified(raw("x", 30))],
  ["a bookmark", bookmark(30)],
] as const)
  test(`${what} below what was followed lists again at once, and lower versions count`, async (t) => {
    const s = setup(t);
    const watch = await reconnected(s);
    await watch.send(event);
    assert.equal(watch.closed, true);
    await (await s.api.next("stream")).send(added(raw("x", 30)), mark(31));
    assert.deepEqual(s.shown(), ["x@30"]);
    assert.deepEqual(s.restarts, ["unavailable", "gone"]);
  });

test("a new watch that stays silent is compared with the server within half a minute", async (t) => {
  const s = setup(t);
  const watch = await reconnected(s);
  await s.clock.advance(20_000);
  const { request } = await s.api.next("list");
  assert.deepEqual([request.query?.["limit"], request.query?.["resourceVersion"]], [1, undefined]);
  s.api.seen.at(-1)?.reply(listOf(31, [raw("x", 30)]));
  await settle();
  assert.equal(watch.closed, true);
  s.heard.length = 0;
  await (await s.api.next("stream")).send(added(raw("x", 30)), mark(31));
  assert.deepEqual(s.heard, ["delete a/gone@45?", "update a/x@40>30"]);
  assert.equal(s.informer.store.syncedTo, "31");
});

test("a comparison that fails is made again, one that finds nothing is not", async (t) => {
  const s = setup(t);
  const watch = await reconnected(s);
  await s.clock.advance(20_000);
  (await s.api.next("list")).fail({ kind: "forbidden", status: 403, reason: "Forbidden" });
  await s.clock.advance(20_000);
  (await s.api.next("list")).reply(listOf(50, []));
  await s.clock.advance(100_000);
  assert.equal(s.api.waiting, 0);
  assert.equal(watch.closed, false);
});

test("nothing is compared after a watch's own end, nor where the new one speaks", async (t) => {
  const s = setup(t);
  const first = await s.filled(50);
  await s.clock.advance(235_000);
  await first.end();
  const quiet = await s.api.next("watch");
  quiet.accept();
  await s.clock.advance(100_000);
  assert.equal(s.api.waiting, 0);
  quiet.cut();
  await s.clock.advance(2000);
  const speaking = await s.api.next("watch");
  await speaking.send(bookmark(51));
  await s.clock.advance(100_000);
  assert.equal(s.api.waiting, 0);
});

test("what our own writes left does not outlive a history that has gone back", async (t) => {
  const s = setup(t);
  const watch = await reconnected(s);
  const written = { namespace: "a", name: "x", uid: "u-x", resourceVersion: "60" };
  s.informer.store.recordWrite(written);
  assert.deepEqual(s.shown(), ["gone@45", "x@60"]);
  await watch.send(bookmark(30));
  await (await s.api.next("stream")).send(added(raw("x", 30)), mark(31));
  assert.deepEqual(s.shown(), ["x@30"]);
  s.informer.store.recordWrite({ ...written, resourceVersion: "32" });
  assert.deepEqual(s.shown(), ["x@32"]);
});

test("whoever finds it elsewhere has all listed anew, in a watch as in a wait", async (t) => {
  const s = setup(t);
  const watch = await reconnected(s);
  s.informer.relist();
  await settle();
  assert.equal(watch.closed, true);
  const stream = await s.api.next("stream");
  await stream.send(mark(31));
  stream.cut();
  await settle();
  s.informer.relist();
  await s.clock.advance(3000);
  await s.api.next("stream");
});

test("LE a Lease at a lower version than before is reported once", async () => {
  const clock = new FakeClock();
  const server = new LeaseServer();
  let reported = 0;
  const { elector } = candidate(clock, server, "me", { onVersionWentBack: () => void reported++ });
  await clock.advance(10_000);
  assert.equal(reported, 0);
  server.rewind();
  await clock.advance(4000);
  assert.equal(reported, 1);
  assert.equal(elector.isLeader, true);
});
