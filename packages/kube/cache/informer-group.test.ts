import assert from "node:assert/strict";
import { test } from "node:test";
import { InformerGroup } from "./informer-group.ts";
import { settle } from "../testing/fake-clock.ts";
import { recorder, setup } from "../testing/informer-setup.ts";
import { added, mark, modified, raw } from "../testing/scripted-api.ts";

test("a group has synced when every part has, and counts all their objects", async (t) => {
  const [first, second] = [setup(t), setup(t)];
  const group = new InformerGroup([{ informer: first.informer }, { informer: second.informer }]);
  group.start();
  const waiting = group.waitForSync();
  await (await first.api.next("stream")).send(added(raw("x", 1)), mark(2));
  await settle();
  assert.equal(group.hasSynced, false);
  await (await second.api.next("stream")).send(added(raw("y", 1)), added(raw("z", 1)), mark(2));
  assert.equal(await waiting, true);
  assert.equal(group.hasSynced, true);
  assert.equal(group.store.size, 3);
});

test("a part that is spared keeps nobody waiting", async (t) => {
  const [first, second] = [setup(t), setup(t)];
  const spare = Promise.withResolvers<void>();
  const group = new InformerGroup([
    { informer: first.informer },
    { informer: second.informer, notNeeded: () => spare.promise },
  ]);
  group.start();
  await (await first.api.next("stream")).send(mark(2));
  await settle();
  assert.equal(group.hasSynced, false);
  spare.resolve();
  assert.equal(await group.waitForSync(), true);
  assert.equal(second.informer.hasSynced, false);
});

test("waiting for a group ends with its signal, and with its stop", async (t) => {
  const { informer } = setup(t);
  const group = new InformerGroup([{ informer }]);
  group.start();
  const abort = new AbortController();
  const waiting = group.waitForSync(abort.signal);
  abort.abort();
  assert.equal(await waiting, false);
  const stopped = group.waitForSync();
  await group.stop();
  assert.equal(await stopped, false);
  assert.equal(group.hasSynced, false);
});

test("a handler hears of all parts until it is removed", async (t) => {
  const [first, second] = [setup(t), setup(t)];
  const group = new InformerGroup([{ informer: first.informer }, { informer: second.informer }]);
  const heard: string[] = [];
  const registration = group.addHandler(recorder(heard));
  const one = await first.filled(2, raw("x", 1));
  const other = await second.filled(2, raw("y", 1));
  await one.send(modified(raw("x", 3)));
  registration.remove();
  await other.send(modified(raw("y", 3)));
  assert.deepEqual(heard, ["add a/x@1 initial", "add a/y@1 initial", "update a/x@1>3"]);
});

test("a group was last heard when the quietest of its filled parts was", async (t) => {
  const [first, second] = [setup(t), setup(t)];
  const group = new InformerGroup([{ informer: first.informer }, { informer: second.informer }]);
  await first.clock.advance(500);
  await second.clock.advance(1000);
  await first.filled(1);
  assert.equal(group.lastActivityMs, first.informer.lastActivityMs, "the other is not filled");
  await second.filled(1);
  const [a, b] = [first.informer.lastActivityMs, second.informer.lastActivityMs];
  assert.notEqual(a, b);
  assert.equal(group.lastActivityMs, Math.min(a, b));
});

test("a group is disconnected since the first of its filled parts is", async (t) => {
  const [first, second] = [setup(t), setup(t)];
  const group = new InformerGroup([{ informer: first.informer }, { informer: second.informer }]);
  assert.equal(group.disconnectedSinceMs, 0);
  const [one, other] = [await first.filled(1), await second.filled(1)];
  assert.equal(group.disconnectedSinceMs, undefined);
  assert.equal(group.scheduledReconnect, undefined);
  await first.clock.advance(7000);
  await second.clock.advance(6000);
  one.cut();
  await settle();
  assert.equal(group.disconnectedSinceMs, 7000);
  other.cut();
  await settle();
  assert.equal(group.disconnectedSinceMs, 6000);
  assert.equal(group.scheduledReconnect, second.informer.scheduledReconnect);
});
