// One object that may be read, but neither listed nor watched.
import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { NAMESPACES } from "../rest/resource.ts";
import { setup, type Setup } from "../testing/informer-setup.ts";
import { added, mark, modified, raw } from "../testing/scripted-api.ts";
import type { Exchange } from "../testing/scripted-api.ts";
import { settle } from "../testing/fake-clock.ts";

type Single = Setup & {
  /** `true` when reads begin, `false` when the object is watched again. */
  readonly reads: readonly boolean[];
  /** Refuses the next stream, and takes the GET that follows at once. */
  readonly refuseStream: () => Promise<Exchange>;
  /** Takes the next GET. Refuses the list before it, if any, whatever its form. */
  readonly nextRead: () => Promise<{ readonly read: Exchange; readonly wasListed: boolean }>;
};

function single(t: TestContext): Single {
  const reads: boolean[] = [];
  const stage = setup(t, {
    resource: NAMESPACES,
    fieldSelector: "metadata.name=team-a",
    single: { name: "team-a", onReads: (active) => reads.push(active) },
  });
  const refuseStream = async (): Promise<Exchange> => {
    (await stage.api.next("stream")).fail(FORBIDDEN);
    return stage.api.next("list");
  };
  const nextRead: Single["nextRead"] = async () => {
    for (let turn = 0; turn < 20 && stage.api.waiting === 0; turn++) await settle();
    const first = await stage.api.next(stage.api.peek ?? "list");
    if (first.request.path === PATH) return { read: first, wasListed: false };
    first.fail(FORBIDDEN);
    return { read: await stage.api.next("list"), wasListed: true };
  };
  return { ...stage, reads, refuseStream, nextRead };
}

const PATH = "/api/v1/namespaces/team-a";
const FORBIDDEN = { kind: "forbidden", status: 403, reason: "Forbidden" } as const;
const namespace = (version: number): ReturnType<typeof raw> => {
  const { namespace: _, ...metadata } = raw("team-a", version).metadata;
  return { apiVersion: "v1", kind: "Namespace", metadata };
};
const ABSENT = {
  kind: "notFound",
  status: 404,
  reason: "NotFound",
  knownMessage: { kind: "notFound", resource: "namespaces", name: "team-a" },
} as const;

test("an object that may be read but not listed is read every 30 s", async (t) => {
  const { api, clock, informer, heard, errors, restarts, reads, ...stage } = single(t);
  informer.start();
  const { read, wasListed } = await stage.nextRead();
  assert.equal(read.request.path, PATH);
  assert.ok(wasListed);
  assert.equal(informer.hasSynced, false);
  read.reply(namespace(5));
  await settle();
  assert.equal(informer.hasSynced, true);
  assert.equal(informer.disconnectedSinceMs, undefined);
  for (let version = 6; version < 11; version++) {
    await clock.advance(26_000);
    assert.equal(api.waiting, 0);
    await clock.advance(7000);
    (await stage.nextRead()).read.reply(namespace(version));
    await settle();
  }
  assert.deepEqual(heard.slice(0, 2), ["add /team-a@5 initial", "update /team-a@5>6"]);
  assert.equal(heard.length, 6);
  assert.deepEqual([errors, restarts, reads], [[], [], [true]]);
  assert.equal(informer.access.denied, false);
});

test("the list of an object that is read is retried less and less often", async (t) => {
  const { clock, informer, nextRead } = single(t);
  informer.start();
  const gaps: number[] = [];
  let since = 0;
  for (let reads = 0; reads < 80; reads++) {
    const { read, wasListed } = await nextRead();
    if (wasListed && reads > 0) gaps.push(since);
    since = wasListed ? 1 : since + 1;
    read.reply(namespace(5));
    await settle();
    await clock.advance(33_000);
  }
  assert.deepEqual(gaps, [1, 2, 4, 8, 16, 20, 20]);
});

test("an object is watched again as soon as that is allowed", async (t) => {
  const { api, clock, informer, heard, reads, refuseStream } = single(t);
  informer.start();
  (await refuseStream()).reply(namespace(5));
  await settle();
  await clock.advance(33_000);
  const stream = await api.next("stream");
  await stream.send(added(namespace(6)), mark(9), modified(namespace(10)));
  assert.deepEqual(heard, ["add /team-a@5 initial", "update /team-a@5>6", "update /team-a@6>10"]);
  assert.deepEqual(reads, [true, false]);
  // The right is taken away under the watch.
  stream.cut();
  await clock.advance(2000);
  (await api.next("watch")).fail(FORBIDDEN);
  (await api.next("list")).reply(namespace(12));
  await settle();
  assert.equal(heard.at(-1), "update /team-a@10>12");
  assert.deepEqual(reads, [true, false, true]);
});

test("an object is absent only if the API server itself reports that", async (t) => {
  const { api, clock, informer, heard, shown, refuseStream } = single(t);
  informer.start();
  (await refuseStream()).reply(namespace(5));
  await settle();
  await clock.advance(33_000);
  // A proxy's 404, then a page with 200.
  (await refuseStream()).fail({ kind: "notFound", status: 404, reason: "NotFound" });
  await settle();
  await clock.advance(33_000);
  (await api.next("list")).reply({ kind: "NamespaceList", items: [] });
  await settle();
  assert.deepEqual(shown(), ["team-a@5"]);
  assert.notEqual(informer.disconnectedSinceMs, undefined);
  await clock.advance(33_000);
  (await api.next("list")).fail(ABSENT);
  await settle();
  assert.deepEqual(shown(), []);
  assert.equal(heard.at(-1), "delete /team-a@5?");
  await clock.advance(33_000);
  (await api.next("list")).reply(namespace(20));
  await settle();
  assert.deepEqual(shown(), ["team-a@20"]);
});

test("an object that may not be read either is denied after five seconds", async (t) => {
  const { api, clock, informer, errors, reads } = single(t);
  informer.start();
  for (let tries = 0; tries < 4; tries++) {
    (await api.next("stream")).fail(FORBIDDEN);
    (await api.next("list")).fail(FORBIDDEN);
    await settle();
    assert.equal(api.waiting, 0, "it waits after each refused read");
    await clock.advance(31_000);
    // After two refused streams the object is listed in pages.
    if (api.peek === "list") {
      (await api.next("list")).fail(FORBIDDEN);
      (await api.next("list")).fail(FORBIDDEN);
      await settle();
      await clock.advance(31_000);
    }
  }
  assert.equal(informer.access.denied, true);
  assert.equal(informer.hasSynced, false);
  assert.ok(errors.length >= 4);
  assert.deepEqual(reads, []);
});

test("an object is read at once when everything is listed again", async (t) => {
  const { informer, shown, refuseStream } = single(t);
  informer.start();
  (await refuseStream()).reply(namespace(50));
  await settle();
  informer.relist();
  (await refuseStream()).reply(namespace(5));
  await settle();
  assert.deepEqual(shown(), ["team-a@5"]);
});

test("an object that has probably changed is read soon, but not within five seconds", async (t) => {
  const { api, clock, informer, shown, refuseStream, nextRead } = single(t);
  informer.start();
  (await refuseStream()).reply(namespace(5));
  await settle();
  await clock.advance(33_000);
  (await nextRead()).read.reply(namespace(6));
  await settle();
  informer.readSoon();
  await settle();
  assert.equal(api.waiting, 0);
  await clock.advance(5000);
  informer.readSoon();
  const { read, wasListed } = await nextRead();
  assert.equal(wasListed, false);
  read.reply(namespace(7));
  await settle();
  assert.deepEqual(shown(), ["team-a@7"]);
});
