import assert from "node:assert/strict";
import { test } from "node:test";
import { settle } from "../testing/fake-clock.ts";
import { FIRST_WAIT, item, recorder, setup } from "../testing/informer-setup.ts";
import type { Item } from "../testing/informer-setup.ts";
import { added, deleted, failed, mark, modified, raw } from "../testing/scripted-api.ts";
import type { KubeObject } from "../rest/resource.ts";

test("IN-05 handlers hear adds, updates with the old object, and deletes with the last state", async (t) => {
  const { filled, heard, shown } = setup(t);
  const watch = await filled(2, raw("x", 1));
  await watch.send(added(raw("y", 3)), modified(raw("x", 4)), deleted(raw("y", 5)));
  assert.deepEqual(heard, ["add a/x@1 initial", "add a/y@3", "update a/x@1>4", "delete a/y@5"]);
  assert.deepEqual(shown(), ["x@4"]);
});

test("IN-01 L6 a second start is an error, and so is one after stop", async (t) => {
  const { api, filled, informer } = setup(t);
  await filled(1);
  assert.throws(() => informer.start(), { message: "informer has been started already" });
  assert.equal(api.seen.length, 1, "one list, one watch");
  await informer.stop();
  assert.throws(() => informer.start(), { message: "informer has been stopped" });
  assert.throws(() => informer.addHandler({}), { message: "informer has been stopped" });
});

test("IN-02 IN-03 every handler hears every event in order", async (t) => {
  const { filled, informer, heard } = setup(t);
  const second: string[] = [];
  informer.addHandler(recorder(second));
  const watch = await filled(2, raw("x", 1));
  for (let version = 3; version < 20; version++) await watch.send(modified(raw("x", version)));
  assert.equal(heard.length, 18);
  assert.deepEqual(second, heard);
});

test("IN-06 a handler finds the store and its indices as the event left them", async (t) => {
  const { filled, informer } = setup(t);
  informer.store.addIndex("label", ({ label }) => (label === undefined ? [] : [label]));
  const found: unknown[] = [];
  const look = ({ name }: Item): void =>
    void found.push([
      informer.store.get("a", name)?.resourceVersion,
      informer.store.byIndex("label", "red").size,
    ]);
  informer.addHandler({ add: look, update: look, delete: look });
  const watch = await filled(1);
  await watch.send(added(raw("x", 2, { label: "red" })), modified(raw("x", 3)));
  await watch.send(modified(raw("x", 4, { label: "red" })), deleted(raw("x", 5)));
  assert.deepEqual(found, [
    ["2", 1],
    ["3", 0],
    ["4", 1],
    [undefined, 0],
  ]);
});

test("IN-08 deleted and made again while away is one update, and the handler sees both UIDs", async (t) => {
  const { filled, informer, relisted } = setup(t);
  const uids: string[] = [];
  informer.addHandler({ update: (old, object) => void uids.push(`${old.uid} ${object.uid}`) });
  const watch = await filled(2, raw("x", 1, { uid: "one" }));
  await (await relisted(watch)).send(added(raw("x", 8, { uid: "two" })), mark(9));
  assert.deepEqual(uids, ["one two"]);
});

test("IN-09 W2 L7 what a handler throws is reported, and stops neither others nor the watch", async (t) => {
  const { filled, informer, heard, errors, restarts } = setup(t);
  const fail = (): never => {
    throw new Error("handler is broken");
  };
  const broken = informer.addHandler({ add: fail, update: fail, delete: fail });
  const after: string[] = [];
  informer.addHandler(recorder(after));
  const watch = await filled(2, raw("x", 1));
  await watch.send(modified(raw("x", 3)), deleted(raw("x", 4)), added(raw("y", 5)));
  assert.equal(heard.length, 4);
  assert.deepEqual(after, heard);
  assert.deepEqual(
    errors.map((error) => error.message),
    Array(4).fill("handler is broken"),
  );
  assert.deepEqual(restarts, Array(4).fill("handler failed"));
  assert.equal(broken.hasSynced, true, "it was told of everything");
});

test("IN-11 IN-12 a resync hands every cached object to update, or calls resync once", async (t) => {
  const { api, clock, filled, informer, heard } = setup(t, { resyncMs: 10_000 });
  let resyncs = 0;
  informer.addHandler({ resync: () => void resyncs++ });
  await filled(2, raw("x", 1), raw("y", 2));
  heard.length = 0;
  await clock.advance(9999);
  assert.deepEqual([heard, resyncs], [[], 0]);
  await clock.advance(1);
  assert.deepEqual([heard, resyncs], [["update a/x@1>1", "update a/y@2>2"], 1]);
  await clock.advance(30_000);
  assert.equal(resyncs, 4);
  assert.equal(api.seen.length, 1, "a resync is no list");
});

test("IN-12 IN-15 a resync period is jittered by a tenth and lasts at least a second", async (t) => {
  for (const [resyncMs, chance, due] of [
    [10_000, 0, 9000],
    [10_000, 1, 11_000],
    [1, 0.5, 1000],
  ] as const) {
    const { clock, filled, informer } = setup(t, { resyncMs });
    clock.chance = () => chance;
    let resyncs = 0;
    informer.addHandler({ resync: () => void resyncs++ });
    await filled(1);
    await clock.advance(due - 1);
    assert.equal(resyncs, 0);
    await clock.advance(1);
    assert.equal(resyncs, 1);
  }
  const { clock, filled, informer } = setup(t, { resyncMs: 0 });
  informer.addHandler({ resync: () => assert.fail("resync") });
  await filled(1);
  await clock.advance(200_000);
});

test("a resync before the first list is none", async (t) => {
  const { clock, informer } = setup(t, { resyncMs: 1000 });
  informer.addHandler({ resync: () => assert.fail("resync") });
  informer.start();
  await clock.advance(5000);
});

test("IN-17 L14 what a relist lacks is deleted with its last known state", async (t) => {
  const { api, clock, filled, heard } = setup(t);
  const watch = await filled(3, raw("gone", 1), raw("changed", 2), raw("same", 3));
  heard.length = 0;
  await watch.send(failed(410, "Expired"));
  await clock.advance(FIRST_WAIT);
  const list = [raw("changed", 8), raw("new", 9), raw("same", 3)];
  await (await api.next("stream")).send(...list.map(added), mark(10));
  assert.deepEqual(heard, ["delete a/gone@1?", "update a/changed@2>8", "add a/new@9"]);
});

test("IN-18 no handler sees half a relist", async (t) => {
  const { filled, informer, relisted } = setup(t);
  const seen = new Set<string>();
  const look = (): void =>
    void seen.add(
      informer.store
        .list()
        .map(({ name }) => name)
        .toSorted()
        .join(),
    );
  const watch = await filled(3, raw("a", 1), raw("b", 2));
  informer.addHandler({ add: look, update: look, delete: look });
  seen.clear();
  await (await relisted(watch)).send(added(raw("b", 5)), added(raw("c", 6)), mark(10));
  assert.deepEqual([...seen], ["b,c"]);
});

test("IN-20 IN-22 synced only after the whole first list was handed on; an empty one will do", async (t) => {
  const { filled, informer } = setup(t);
  const during: boolean[] = [];
  const registration = informer.addHandler({ add: () => void during.push(informer.hasSynced) });
  assert.equal(registration.hasSynced, false);
  await filled(2, raw("x", 1), raw("y", 2));
  assert.deepEqual(during, [false, false]);
  assert.equal(registration.hasSynced, true);
  const empty = setup(t);
  await empty.filled(1);
  assert.equal(empty.informer.hasSynced, true);
});

test("IN-23 synced stays true through cuts, refusals and relists", async (t) => {
  const { api, clock, filled, informer } = setup(t);
  const watch = await filled(2, raw("x", 1));
  await watch.send(failed(410, "Expired"));
  assert.equal(informer.hasSynced, true);
  await clock.advance(FIRST_WAIT);
  const stream = await api.next("stream");
  await stream.send(added(raw("y", 5)));
  assert.equal(informer.hasSynced, true);
  stream.cut();
  await settle();
  assert.equal(informer.hasSynced, true);
});

test("IN-24 waiting for the cache ends with it filled, with the signal, or with the informer", async (t) => {
  const { filled, informer } = setup(t);
  const stop = new AbortController();
  const waits = [informer.waitForSync(), informer.waitForSync(stop.signal)];
  stop.abort();
  assert.equal(await waits[1], false);
  assert.equal(await informer.waitForSync(stop.signal), false);
  await filled(1);
  assert.equal(await waits[0], true);
  assert.equal(await informer.waitForSync(stop.signal), true);
  const other = setup(t).informer;
  const wait = other.waitForSync();
  await other.stop();
  assert.equal(await wait, false);
});

test("IN-41 the transform runs once for each object that passes, before store and handlers", async (t) => {
  const passed: string[] = [];
  const { filled, shown, heard } = setup(t, {
    transform: (object: KubeObject) => {
      passed.push(`${object.metadata.name}@${object.metadata.resourceVersion}`);
      return { ...item(object), name: `${object.metadata.name}-kept` };
    },
  });
  const watch = await filled(2, raw("x", 1), raw("y", 2));
  await watch.send(modified(raw("x", 3)), deleted(raw("y", 4)), added(raw("z", 5)));
  assert.deepEqual(passed, ["x@1", "y@2", "x@3", "y@4", "z@5"]);
  assert.deepEqual(heard.slice(2), ["update a/x-kept@1>3", "delete a/y-kept@4", "add a/z-kept@5"]);
  assert.deepEqual(shown(), ["x-kept@3", "z-kept@5"]);
});

test("IN-41 LV-14 a version that the store already has is not read again", async (t) => {
  const passed: string[] = [];
  const { api, clock, filled, informer, shown } = setup(t, {
    transform: (object: KubeObject) => {
      passed.push(`${object.metadata.name}@${object.metadata.resourceVersion}`);
      return item(object);
    },
  });
  const watch = await filled(2, raw("x", 1), raw("y", 2));
  const written = item(raw("x", 3));
  informer.store.recordWrite(written);
  await watch.send(modified(raw("x", 3)), modified(raw("y", 4)));
  assert.equal(informer.store.get("a", "x"), written);
  await watch.send(failed(410, "Expired"));
  await clock.advance(FIRST_WAIT);
  const again = { ...raw("y", 4), metadata: { ...raw("y", 4).metadata, uid: "made-again" } };
  await (await api.next("stream")).send(added(raw("x", 3)), added(again), mark(9));
  assert.deepEqual(passed, ["x@1", "y@2", "y@4", "y@4"]);
  assert.equal(informer.store.get("a", "y")?.uid, "made-again");
  assert.deepEqual(shown(), ["x@3", "y@4"]);
});

test("IN-41 a transform that throws drops that event, and fails a whole list", async (t) => {
  const poison = (object: KubeObject): Item => {
    if (object.metadata.resourceVersion === "7") throw new Error("cannot read this");
    return item(object);
  };
  const { filled, shown, errors, restarts, relisted } = setup(t, { transform: poison });
  const watch = await filled(2, raw("x", 1));
  await watch.send(modified(raw("x", 7)), added(raw("y", 8)));
  assert.deepEqual(shown(), ["x@1", "y@8"]);
  assert.deepEqual(restarts, ["event dropped"]);
  await (await relisted(watch)).send(added(raw("z", 7)), mark(9));
  assert.deepEqual(shown(), ["x@1", "y@8"], "the list changed nothing");
  assert.deepEqual(
    errors.map((error) => error.message),
    ["cannot read this", "watch secrets: 410 Expired", "cannot read this"],
  );
});

test("an object that the transform leaves out from now on is a delete", async (t) => {
  const keep = (object: KubeObject): Item | undefined => {
    const kept = item(object);
    return kept.label === "out" ? undefined : kept;
  };
  const { filled, heard, shown } = setup(t, { transform: keep });
  const watch = await filled(2, raw("x", 1));
  await watch.send(modified(raw("x", 3, { label: "out" })), added(raw("y", 4, { label: "out" })));
  assert.deepEqual(heard.slice(1), ["delete a/x@1"]);
  assert.deepEqual(shown(), []);
});

test("IN-42 L14 a handler added late hears of every object without gap or double", async (t) => {
  const { filled, informer } = setup(t);
  const watch = await filled(2, raw("x", 1), raw("y", 2));
  const late: string[] = [];
  const handler = recorder(late);
  const registrations = [informer.addHandler(handler), informer.addHandler(handler)];
  assert.deepEqual(late.splice(0), [
    "add a/x@1 initial",
    "add a/y@2 initial",
    "add a/x@1 initial",
    "add a/y@2 initial",
  ]);
  await watch.send(modified(raw("x", 3)));
  assert.deepEqual(late.splice(0), ["update a/x@1>3", "update a/x@1>3"]);
  registrations[0]?.remove();
  await watch.send(modified(raw("x", 4)));
  assert.deepEqual(late, ["update a/x@3>4"], "given twice it is two registrations");
  assert.equal(registrations[1]?.hasSynced, true);
});

test("IN-42 a handler added during a large first list hears of each object once", async (t) => {
  const { api, informer, heard } = setup(t);
  informer.start();
  const stream = await api.next("stream");
  const objects = Array.from({ length: 2500 }, (_, at) => raw(`x${at}`, at + 1));
  const late: string[] = [];
  informer.addHandler({
    add: ({ name }) => void (name === "x1200" && informer.addHandler(recorder(late))),
  });
  await stream.send(...objects.map(added), mark(9000), added(raw("live", 9001)));
  for (let turn = 0; turn < 10; turn++) await settle();
  assert.equal(heard.length, 2501);
  assert.equal(new Set(late).size, 2501);
  assert.equal(late.length, 2501);
});

test("IN-43 a removed handler hears nothing more, others do, and removing twice is harmless", async (t) => {
  const { filled, informer, heard } = setup(t);
  const other: string[] = [];
  const registration = informer.addHandler(recorder(other));
  const watch = await filled(2, raw("x", 1));
  registration.remove();
  registration.remove();
  await watch.send(modified(raw("x", 3)));
  assert.deepEqual(other, ["add a/x@1 initial"]);
  assert.equal(heard.length, 2);
});

test("IN-43 a handler that removes itself, or another, inside a call is heeded at once", async (t) => {
  const { filled, informer } = setup(t);
  const calls: string[] = [];
  const first = informer.addHandler({
    add: () => {
      calls.push("first");
      first.remove();
      second.remove();
    },
  });
  const second = informer.addHandler({ add: () => void calls.push("second") });
  await filled(2, raw("x", 1), raw("y", 2));
  assert.deepEqual(calls, ["first"]);
});

test("IN-44 after stop no handler is called, also in the middle of a large list", async (t) => {
  const { api, informer, heard } = setup(t, { resyncMs: 1000 });
  informer.start();
  const stream = await api.next("stream");
  let stopped: Promise<void> | undefined;
  informer.addHandler({ add: ({ name }) => void (name === "x500" && (stopped = informer.stop())) });
  const objects = Array.from({ length: 3000 }, (_, at) => raw(`x${at}`, at + 1));
  await stream.send(...objects.map(added), mark(9000));
  await stopped;
  const before = heard.length;
  await settle();
  assert.equal(heard.length, before);
  assert.ok(before < 3000);
});

test("the event loop turns while a large first list is read and handed on", async (t) => {
  const { api, informer } = setup(t);
  informer.start();
  const stream = await api.next("stream");
  let turns = 0;
  let longest = 0;
  let adds = 0;
  informer.addHandler({ add: () => void adds++ });
  const count = (): void => {
    turns++;
    longest = Math.max(longest, adds);
    adds = 0;
    if (!informer.hasSynced) setImmediate(count);
  };
  setImmediate(count);
  const objects = Array.from({ length: 5000 }, (_, at) => raw(`x${at}`, at + 1));
  await stream.send(...objects.map(added), mark(9000));
  await informer.waitForSync();
  assert.ok(turns >= 10, `${turns} turns`);
  assert.ok(longest <= 1000, `${longest} handler calls in one turn`);
});

test("LV-14 LV-15 the result of an own write is in the store before its event", async (t) => {
  const { filled, informer, heard, shown } = setup(t);
  const watch = await filled(2, raw("x", 1));
  heard.length = 0;
  informer.store.recordWrite(item(raw("x", 5)));
  informer.store.recordWrite(item(raw("new", 6)));
  assert.deepEqual(shown(), ["new@6", "x@5"]);
  assert.deepEqual(heard, []);
  await watch.send(modified(raw("x", 4)), modified(raw("x", 5)), added(raw("new", 6)));
  assert.deepEqual(heard.splice(0), ["update a/x@1>4!", "update a/x@4>5!", "add a/new@6!"]);
  informer.store.recordDelete("a", "x", "u-x");
  await watch.send(deleted(raw("x", 7)), modified(raw("new", 8)));
  assert.deepEqual(heard, ["delete a/x@7!", "update a/new@6>8"]);
});

test("L15 objects in the store are what the transform made, in list and watch alike", async (t) => {
  const { filled, informer } = setup(t);
  const watch = await filled(2, raw("x", 1));
  await watch.send(added(raw("y", 3)));
  const [x, y] = informer.store.list();
  assert.deepEqual(Object.keys(x ?? {}), Object.keys(y ?? {}));
});

test("random adds, updates, deletes, cuts and relists end with the server's state", async (t) => {
  const { api, clock, filled, informer, shown } = setup(t);
  let seed = 7;
  const random = (below: number): number => {
    seed = (seed * 48_271) % 2_147_483_647;
    return seed % below;
  };
  const truth = new Map<string, KubeObject>();
  const state = new Map<string, string>();
  informer.addHandler({
    add: ({ name, resourceVersion }) => {
      assert.equal(state.has(name), false, `${name} added twice`);
      state.set(name, resourceVersion);
    },
    update: (old, { name, resourceVersion }) => {
      assert.equal(state.get(name), old.resourceVersion);
      state.set(name, resourceVersion);
    },
    delete: ({ name }) => assert.ok(state.delete(name), `${name} deleted twice`),
  });
  let version = 1;
  let watch = await filled(version);
  for (let step = 0; step < 2000; step++) {
    const name = `x${random(20)}`;
    const object = raw(name, ++version, { uid: truth.get(name)?.metadata.uid ?? `u${version}` });
    const known = truth.has(name);
    const event =
      known && random(3) === 0 ? deleted(object) : known ? modified(object) : added(object);
    if ("type" in event && event.type === "DELETED") truth.delete(name);
    else truth.set(name, object);
    if (random(50) > 0) watch.bytes(`${JSON.stringify(event)}\n`);
    else {
      await watch.send(failed(410, "Expired"));
      await clock.advance(60_000);
      watch = await api.next("stream");
      await watch.send(...[...truth.values()].map(added), mark(version));
    }
  }
  await settle();
  const expected = [...truth.values()].map(
    (o) => `${o.metadata.name}@${o.metadata.resourceVersion}`,
  );
  assert.deepEqual(shown(), expected.toSorted());
  assert.deepEqual([...state].map(([name, at]) => `${name}@${at}`).toSorted(), expected.toSorted());
});
