// Which answers of the API server confirm what the cache shows, and in which order objects are asked.
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  LiveReads,
  LIVE_READ_BATCHES,
  versionOf,
} from "../../../src/controller/state/live-reads.ts";
import type { LiveRead } from "../../../src/controller/model/actions.ts";

const version = (uid: string, resourceVersion: string): string =>
  versionOf({ uid, resourceVersion });

const SOURCE = { kind: "Secret", ref: { namespace: "shared", name: "one" } } as const;
const shows = (shown: string, gone?: string): LiveRead => ({
  ...SOURCE,
  shown,
  ...(gone !== undefined && { gone }),
});

/** `answered` was read `ageMs` ago; what is said of an object of which the cache shows `question`. */
function said(answered: string, question: LiveRead, ageMs = 0) {
  const reads = new LiveReads();
  reads.found(question, answered, 0, 0.5);
  reads.beginSync(ageMs);
  return reads.resultOf(question, ageMs, "team-a").kind;
}

const ABSENT = versionOf(undefined);
const CASES: readonly [string, string, LiveRead, "confirmed" | "pending"][] = [
  ["the version that was read", version("a", "9"), shows(version("a", "9")), "confirmed"],
  ["a newer version of the object", version("a", "9"), shows(version("a", "10")), "confirmed"],
  ["an older version than was read", version("a", "10"), shows(version("a", "9")), "pending"],
  ["another object than was read", version("a", "9"), shows(version("b", "10")), "pending"],
  ["an object that was not found", ABSENT, shows(version("a", "9")), "pending"],
  ["no object where one was found", version("a", "9"), shows(ABSENT), "pending"],
  ["no object where none was found", ABSENT, shows(ABSENT), "confirmed"],
  [
    "another object in place of one that is gone",
    version("b", "9"),
    shows(version("c", "10"), "a"),
    "confirmed",
  ],
  ["an object where none was found", ABSENT, shows(version("c", "10"), "a"), "confirmed"],
  [
    "the successor, older than it was read",
    version("b", "10"),
    shows(version("b", "9"), "a"),
    "pending",
  ],
  ["no object while the old one was found", version("a", "9"), shows(ABSENT, "a"), "pending"],
  [
    "an object that is to be read by another entry",
    version("a", "9"),
    shows(`${version("a", "9")} unread`),
    "pending",
  ],
];

for (const [what, answered, question, kind] of CASES)
  test(`the cache shows ${what}: a removal is ${kind}`, () => {
    assert.equal(said(answered, question), kind);
  });

test("a newer version counts for a minute after the read", () => {
  assert.equal(said(version("a", "9"), shows(version("a", "10")), 60_000), "confirmed");
  assert.equal(said(version("a", "9"), shows(version("a", "10")), 60_001), "pending");
  assert.equal(said(version("a", "9"), shows(version("a", "9")), 600_000), "confirmed");
});

test("objects that are asked again and again do not keep others from their first read", () => {
  const reads = new LiveReads();
  const questions = Array.from({ length: 2000 }, (_, n): LiveRead => {
    return {
      kind: "Secret",
      ref: { namespace: "shared", name: `${n}` },
      shown: version(`${n}`, "1"),
    };
  });
  const read = new Set<string>();
  let now = 0;
  let passes = 0;
  for (; read.size < questions.length; passes++) {
    reads.beginSync((now += 2000));
    // Each has another UID by now, so that no answer ever confirms it.
    for (const question of questions)
      reads.resultOf({ ...question, shown: version(`${now}`, "1") }, now, "team-a");
    for (const flight of reads.batches(LIVE_READ_BATCHES.length))
      for (const question of flight) {
        reads.found(question, version("other", "1"), now, 0.5);
        read.add(question.ref.name);
      }
    reads.endSync();
  }
  assert.equal(passes, 8, "256 objects a sync");
});

test("repeated reads of many namespaces do not delay a first read of others", () => {
  const reads = new LiveReads();
  const asks = (namespace: string, name: string, now: number): void => {
    const ref = { namespace, name };
    reads.resultOf({ kind: "Secret", ref, shown: version(`${name} ${now}`, "1") }, now, namespace);
  };
  let asked: readonly LiveRead[] = [];
  for (const now of [1000, 200_000]) {
    reads.beginSync(now);
    for (let index = 0; index < 200; index++) asks(`team-${index}`, "again", now);
    if (now > 1000) for (let index = 0; index < 256; index++) asks("shared", `${index}`, now);
    asked = reads.batches(LIVE_READ_BATCHES.length).flat();
    for (const question of asked) reads.found(question, version("other", "1"), now, 0.5);
    reads.endSync();
  }
  assert.deepEqual([...new Set(asked.map(({ ref }) => ref.namespace))], ["shared"]);
});

test("reads for the copies of one namespace do not keep those of another waiting", () => {
  const reads = new LiveReads();
  const asks = (asker: string, name: string): void => {
    const ref = { namespace: "shared", name };
    reads.resultOf({ kind: "Secret", ref, shown: ABSENT, gone: "u" }, 0, asker);
  };
  reads.beginSync(0);
  for (let index = 0; index < 5000; index++) asks("tenant", `never-${index}`);
  asks("tenant", "deleted");
  asks("team-a", "deleted");
  asks("team-b", "other");
  const asked = reads.batches(LIVE_READ_BATCHES.length).flat();
  assert.equal(asked.length, 256);
  for (const name of ["deleted", "other"])
    assert.ok(
      asked.some(({ ref }) => ref.name === name),
      name,
    );
});
