import assert from "node:assert/strict";
import { test } from "node:test";
import { ObjectTable } from "./object-table.ts";
import { Store } from "./store.ts";
import type { StoreChange } from "./stored.ts";
import { FakeClock } from "../testing/fake-clock.ts";
import { compareVersions } from "../rest/resource.ts";

type Thing = {
  readonly namespace?: string;
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly tags?: readonly string[];
};

function thing(name: string, version: number, rest: Partial<Thing> = {}): Thing {
  return { namespace: "a", name, uid: `u-${name}`, resourceVersion: String(version), ...rest };
}

function store(): Store<Thing> {
  return new Store<Thing>(new FakeClock());
}

function shown(from: Store<Thing>): readonly string[] {
  return from
    .list()
    .map(({ name, resourceVersion }) => `${name}@${resourceVersion}`)
    .toSorted();
}

function said(change: StoreChange<Thing> | undefined): string {
  if (!change) return "nothing";
  const echo = change.ownWrite ? "!" : "";
  if (change.kind === "add") return `add ${change.object.resourceVersion}${echo}`;
  if (change.kind === "delete")
    return `delete ${change.last.resourceVersion}${change.finalStateUnknown ? "?" : ""}${echo}`;
  return `update ${change.old.resourceVersion}>${change.object.resourceVersion}${echo}`;
}

const tags = (object: Thing): readonly string[] => object.tags ?? [];

test("RF-13 versions compare by length, then by characters", () => {
  const ordered = ["", "1", "9", "10", "99", "100", "18446744073709551616", "99999999999999999999"];
  for (const [at, a] of ordered.entries())
    for (const [other, b] of ordered.entries())
      assert.equal(Math.sign(compareVersions(a, b)), Math.sign(at - other), `${a} and ${b}`);
});

test("IN-30 objects are found by namespace and name; cluster-scoped ones under no namespace", () => {
  const s = store();
  s.upsert(thing("x", 1));
  s.upsert(thing("x", 2, { namespace: "b", uid: "other" }));
  s.upsert({ name: "node", uid: "n", resourceVersion: "3" });
  assert.equal(s.get("a", "x")?.resourceVersion, "1");
  assert.equal(s.get("b", "x")?.resourceVersion, "2");
  assert.equal(s.get(undefined, "node")?.resourceVersion, "3");
  assert.equal(s.get("c", "x"), undefined);
  assert.equal(s.get("a", "node"), undefined);
  assert.equal(s.size, 3);
});

test("IN-33 names that look alike across the separator stay apart", () => {
  const s = store();
  s.upsert({ name: "a/x", uid: "1", resourceVersion: "1" });
  s.upsert(thing("x", 2, { uid: "2" }));
  s.recordDelete("a", "x", "2");
  assert.equal(s.get(undefined, "a/x")?.uid, "1");
});

test("IN-34 a namespace's objects are at hand by name, and an emptied namespace leaves nothing", () => {
  const s = store();
  s.upsert(thing("x", 1));
  s.upsert(thing("y", 2));
  s.upsert(thing("z", 3, { namespace: "b" }));
  assert.deepEqual([...s.inNamespace("a").keys()], ["x", "y"]);
  s.remove(thing("z", 4, { namespace: "b" }));
  assert.equal(s.inNamespace("b").size, 0);
  assert.equal(s.size, 2);
});

test("IN-31 an index covers objects from before and after it, under many values or none", () => {
  const s = store();
  s.upsert(thing("x", 1, { tags: ["red", "blue"] }));
  s.addIndex("tags", tags);
  s.upsert(thing("y", 2, { tags: ["red"] }));
  s.upsert(thing("z", 3));
  assert.deepEqual(
    [...s.byIndex("tags", "red")].map((o) => o.name),
    ["x", "y"],
  );
  assert.deepEqual(
    [...s.byIndex("tags", "blue")].map((o) => o.name),
    ["x"],
  );
  assert.deepEqual([...s.byIndex("tags", "green")], []);
  assert.throws(() => s.addIndex("tags", tags), { message: 'index "tags" exists already' });
});

test("IN-32 values without objects disappear, and an unknown index is an error", () => {
  const s = store();
  s.addIndex("tags", tags);
  s.upsert(thing("x", 1, { tags: ["red", "blue"] }));
  s.upsert(thing("x", 2, { tags: ["blue", "green"] }));
  assert.deepEqual(s.listIndexValues("tags").toSorted(), ["blue", "green"]);
  assert.equal([...s.byIndex("tags", "blue")][0]?.resourceVersion, "2");
  s.remove(thing("x", 3));
  assert.deepEqual(s.listIndexValues("tags"), []);
  assert.throws(() => s.byIndex("colour", "red"), { message: 'no index "colour"; there are tags' });
});

test("IN-18 a replacement reports deletes first, then updates and adds in list order", () => {
  const s = store();
  s.addIndex("tags", tags);
  s.replace([thing("x", 1), thing("y", 2, { tags: ["red"] }), thing("z", 3)], "3");
  const z = s.get("a", "z");
  const changes = s.replace([thing("new", 9), thing("x", 8), thing("z", 3)], "9");
  assert.deepEqual(changes.map(said), ["delete 2?", "add 9", "update 1>8"]);
  assert.deepEqual(shown(s), ["new@9", "x@8", "z@3"]);
  assert.deepEqual(s.listIndexValues("tags"), []);
  assert.equal(s.get("a", "z"), z, "an unchanged object stays the same object");
  assert.deepEqual(s.replace([], "10").map(said), ["delete 8?", "delete 3?", "delete 9?"]);
  assert.equal(s.size, 0);
});

test("IN-08 deleted and made again between two lists is one update with two UIDs", () => {
  const s = store();
  s.replace([thing("x", 1)], "1");
  const [change] = s.replace([thing("x", 5, { uid: "again" })], "5");
  assert.equal(change?.kind === "update" && `${change.old.uid} ${change.object.uid}`, "u-x again");
});

test("IN-35 the version followed moves with events, bookmarks and replacements", () => {
  const s = store();
  assert.equal(s.syncedTo, "");
  const versions = [
    () => s.replace([], "5"),
    () => s.upsert(thing("x", 7)),
    () => s.remove(thing("x", 8)),
    () => s.bookmark("12"),
    () => s.replace([], "20"),
  ].map((step) => {
    step();
    return s.syncedTo;
  });
  assert.deepEqual(versions, ["5", "7", "8", "12", "20"]);
});

test("an event that changes nothing is no change, and a delete of nothing neither", () => {
  const s = store();
  s.upsert(thing("x", 1));
  const x = s.get("a", "x");
  assert.equal(s.upsert(thing("x", 1)), undefined);
  assert.equal(s.get("a", "x"), x);
  assert.equal(s.remove(thing("y", 2)), undefined);
});

test("IN-07 a delete hands on the last state that is known", () => {
  const s = store();
  s.upsert(thing("x", 1));
  assert.equal(said(s.remove(thing("x", 4), thing("x", 4))), "delete 4");
  s.upsert(thing("y", 5));
  assert.equal(said(s.remove(thing("y", 6))), "delete 5");
});

test("LV-14 the result of an own write is visible at once and keeps its object", () => {
  const s = store();
  s.addIndex("tags", tags);
  s.replace([thing("x", 1)], "1");
  s.recordWrite(thing("x", 4, { tags: ["red"] }));
  s.recordWrite(thing("new", 5));
  assert.deepEqual(shown(s), ["new@5", "x@4"]);
  assert.equal(s.byIndex("tags", "red").size, 1);
  const x = s.get("a", "x");
  assert.equal(said(s.upsert(thing("x", 4, { tags: ["red"] }))), "update 1>4!");
  assert.equal(said(s.upsert(thing("new", 5))), "add 5!");
  assert.equal(s.get("a", "x"), x);
  assert.equal(said(s.upsert(thing("x", 6))), "update 4>6");
});

test("LV-14 an event older than our write does not bring the old state back", () => {
  const s = store();
  s.replace([thing("x", 1)], "1");
  s.recordWrite(thing("x", 9));
  assert.equal(said(s.upsert(thing("x", 4))), "update 1>4!");
  assert.equal(said(s.remove(thing("x", 5))), "delete 4!");
  assert.equal(said(s.upsert(thing("x", 6, { uid: "again" }))), "add 6!");
  assert.deepEqual(shown(s), ["x@9"]);
  assert.equal(said(s.upsert(thing("x", 12))), "update 6>12");
  assert.deepEqual(shown(s), ["x@12"]);
});

test("LV-14 a write's answer that comes after its event, or after a newer one, changes nothing", () => {
  const s = store();
  s.replace([thing("x", 1)], "1");
  s.upsert(thing("x", 4));
  s.recordWrite(thing("x", 4));
  s.recordWrite(thing("x", 3));
  assert.deepEqual(shown(s), ["x@4"]);
  s.upsert(thing("y", 5));
  s.remove(thing("y", 6));
  s.recordWrite(thing("y", 5));
  assert.deepEqual(shown(s), ["x@4"], "created and deleted before the answer came");
});

test("LV-14 an object is gone after its own DELETE, despite late events", () => {
  const s = store();
  s.replace([thing("x", 1)], "1");
  s.recordDelete("a", "x", "u-x");
  assert.deepEqual(shown(s), []);
  assert.equal(said(s.upsert(thing("x", 3))), "update 1>3!");
  assert.deepEqual(shown(s), []);
  assert.equal(said(s.remove(thing("x", 4))), "delete 3!");
  assert.equal(said(s.upsert(thing("x", 5))), "add 5", "the entry has ended with the delete");
});

test("LV-14 a DELETE answered after its event hides nothing that a restored etcd brings back", () => {
  const s = store();
  s.replace([thing("x", 1)], "1");
  assert.equal(said(s.remove(thing("x", 2))), "delete 1");
  s.recordDelete("a", "x", "u-x");
  assert.deepEqual(s.replace([thing("x", 1)], "9").map(said), ["add 1"]);
  assert.deepEqual(shown(s), ["x@1"]);
});

test("IN-45 a tombstone does not hide an object made again under the name", () => {
  const s = store();
  s.replace([thing("x", 1)], "1");
  s.recordDelete("a", "x", "u-x");
  assert.equal(said(s.upsert(thing("x", 5, { uid: "again" }))), "update 1>5");
  assert.equal(s.get("a", "x")?.uid, "again");
  s.recordDelete("a", "x", "u-x");
  assert.equal(s.get("a", "x")?.uid, "again", "the DELETE of the old one is old news");
});

test("IN-45 deleted and made again by ourselves, with every event late", () => {
  const s = store();
  s.replace([thing("x", 1)], "1");
  s.recordDelete("a", "x", "u-x");
  s.recordWrite(thing("x", 5, { uid: "again" }));
  assert.deepEqual(shown(s), ["x@5"]);
  assert.equal(said(s.remove(thing("x", 4))), "delete 1!");
  assert.deepEqual(shown(s), ["x@5"]);
  assert.equal(said(s.upsert(thing("x", 5, { uid: "again" }))), "add 5!");
  assert.equal(said(s.remove(thing("x", 6, { uid: "again" }))), "delete 5");
  assert.deepEqual(shown(s), []);
});

test("LV-14 a list older than our write keeps the write, a newer one is the truth", () => {
  const s = store();
  s.replace([thing("x", 1), thing("gone", 2), thing("kept", 3)], "3");
  s.recordWrite(thing("x", 10));
  s.recordWrite(thing("new", 11));
  s.recordDelete("a", "gone", "u-gone");
  const old = s.replace([thing("x", 1), thing("gone", 2), thing("kept", 3)], "9");
  assert.deepEqual(old, []);
  assert.deepEqual(shown(s), ["kept@3", "new@11", "x@10"]);
  const changes = s.replace([thing("x", 12), thing("kept", 3)], "20");
  assert.deepEqual(changes.map(said), ["delete 2?!", "update 1>12"]);
  assert.deepEqual(shown(s), ["kept@3", "x@12"], "new was deleted by another before the list");
});

test("LV-14 a bookmark after an own write ends it", () => {
  const s = store();
  s.replace([], "1");
  s.recordWrite(thing("outside-the-selector", 5));
  s.bookmark("4");
  assert.deepEqual(shown(s), ["outside-the-selector@5"]);
  s.bookmark("6");
  assert.deepEqual(shown(s), []);
});

test("LV-14 after five minutes the watch's word counts again", async () => {
  const clock = new FakeClock();
  const reported: (string | undefined)[] = [];
  const s = new Store<Thing>(clock);
  s.listen({ expired: (change) => void reported.push(said(change)) });
  s.replace([thing("x", 1), thing("y", 2)], "2");
  s.recordWrite(thing("x", 10));
  s.recordWrite(thing("made", 11));
  s.recordDelete("a", "y", "u-y");
  await clock.advance(299_999);
  s.upsert(thing("z", 3));
  assert.deepEqual(shown(s), ["made@11", "x@10", "z@3"]);
  assert.deepEqual(reported, []);
  await clock.advance(1);
  s.upsert(thing("z", 4));
  assert.deepEqual(shown(s), ["x@1", "y@2", "z@4"]);
  assert.deepEqual(reported, ["update 10>1", "delete 11?", "add 2"]);
});

test("L16 a namespace of 200,000 objects can be listed", () => {
  const s = store();
  s.replace(
    Array.from({ length: 200_000 }, (_, at) => thing(`x${at}`, 1)),
    "1",
  );
  assert.equal(s.list().length, 200_000);
});

test("stores of single names share a table and count their own objects alone", () => {
  const clock = new FakeClock();
  const table = new ObjectTable<Thing>();
  table.addIndex("tag", tags);
  const [x, y] = ["x", "y"].map((name) => Store.sharing(clock, { table, name }));
  assert.ok(x && y);
  const ofX = [thing("x", 1, { tags: ["t"] })];
  const ofY = [thing("y", 2, { tags: ["t"] }), thing("y", 3, { namespace: "b" })];
  assert.equal(x.replace(ofX, "5").length, 1);
  assert.equal(y.replace(ofY, "5").length, 2);
  assert.deepEqual([...table.inNamespace("a").keys()], ["x", "y"]);
  assert.deepEqual([x.size, y.size], [1, 2]);
  assert.deepEqual(shown(x), ["x@1"]);
  assert.equal(table.byIndex("tag", "t").size, 2);
  const changes = x.replace([thing("x", 7, { namespace: "c" })], "9");
  assert.deepEqual(changes.map(said), ["delete 1?", "add 7"]);
  assert.deepEqual(shown(y), ["y@2", "y@3"]);
  x.recordWrite(thing("x", 12));
  assert.deepEqual([...table.inNamespace("a").keys()].toSorted(), ["x", "y"]);
  x.dropOverlay();
  assert.deepEqual([...table.inNamespace("a").keys()], ["y"]);
  assert.deepEqual(y.replace([], "20").map(said), ["delete 2?", "delete 3?"]);
  assert.equal(table.inNamespace("a").size, 0);
  assert.deepEqual([x.size, y.size], [1, 0]);
});
