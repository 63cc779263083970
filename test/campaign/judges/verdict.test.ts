// The judge of a long soak is worth what it would find: leaks, delays and deaths are seen to be.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { seeded } from "../../../packages/kube/testing/random.ts";
import { drawSoak } from "./charts.ts";
import { readRecords, type Latency, type Sample, type SoakRecord } from "./records.ts";
import { judgeSoak } from "./verdict.ts";

/** What grows in an hour, of a process whose figures swing by a few and do nothing else. */
const FLAT = {
  rss: 0,
  /** It comes near to so much more, by a half of the rest each ten minutes. */
  rssWarming: 0,
  rssSwing: 8,
  /** Of it what comes from mapped files. */
  mapped: 0,
  outside: 0,
  /** What is garbage grows; or what is not. */
  garbage: 0,
  heap: 0,
  fds: 0,
  ms: 0,
  minutes: 120,
};
const END: SoakRecord = { kind: "end", s: 7200, wrong: [], said: ["said"] };

/** Two hours, unless it says otherwise, with noise as a process makes it. */
function run(shape: Partial<typeof FLAT>, more: readonly SoakRecord[] = [END]) {
  const { rss, rssWarming, rssSwing, mapped, outside, garbage, heap, fds, ms, minutes } = {
    ...FLAT,
    ...shape,
  };
  const chance = seeded(3);
  const samples = Array.from({ length: 6 * minutes }, (_, at): readonly SoakRecord[] => {
    const s = 10 * at;
    const hours = s / 3600;
    const sample: Sample = {
      kind: "sample",
      s,
      life: 1,
      rssMiB: 120 + rssSwing * chance() + rss * hours + rssWarming * (1 - 0.5 ** (6 * hours)),
      anonMiB: 70 + 8 * chance() + (rss - mapped) * hours,
      heldMiB: 40 + (rss - mapped - outside) * hours,
      heapMiB: 20 + heap * hours + (6 + garbage * hours) * chance(),
      fds: Math.round(30 + 4 * chance() + fds * hours),
      resources: 20,
      cpuMs: 40 * at,
      lagP99Ms: 12,
      copies: 40,
      wrong: 0,
      changes: 50 * at,
      load: 1,
    };
    const latency = (what: Latency["what"], calm: boolean, took: number): Latency => {
      return { kind: "latency", s, what, calm, ms: took };
    };
    return [
      sample,
      latency("fresh namespace", true, 20 + 5 * chance() + ms * hours),
      latency("changed source", false, 2000),
    ];
  });
  return judgeSoak([...samples.flat(), ...more]);
}

test("a process whose figures only swing is flat, with its certainty", () => {
  const { lines, problems } = run({});
  assert.deepEqual(problems, []);
  assert.match(lines.join("\n"), /^RSS: 12\d\.\d MiB, slope -?0\.\d\d ± [0-2]\.\d\d MiB\/h/m);
  assert.ok(lines.includes("said"));
});

test("memory that has certainly stopped growing in the last quarter is no leak", () => {
  const { lines, problems } = run({ rssWarming: 240, rssSwing: 1 });
  assert.deepEqual(problems, []);
  assert.match(lines.join("\n"), /^RSS: .*slope [2-9]\.\d\d ± /m);
  assert.match(lines.join("\n"), /^RSS, in the last quarter: slope -?[01]\.\d\d ± /m);
});

test("memory that grows a little less in the last quarter is a leak", () => {
  const { problems } = run({ rssWarming: 240, rss: 2.5, rssSwing: 1 });
  assert.match(problems.join("\n"), /^it grows: RSS/m);
});

test("memory that grows by ten MiB an hour is a leak", () => {
  assert.match(run({ rss: 10 }).problems.join("\n"), /^it grows: RSS/m);
});

test("what comes from mapped files is distinguished from the rest of it", () => {
  const mapped = run({ rss: 10, mapped: 10 }).problems.join("\n");
  assert.match(mapped, /^it grows: RSS: /m);
  assert.doesNotMatch(mapped, /but for mapped files/);
  assert.match(run({ rss: 10 }).problems.join("\n"), /^it grows: RSS but for mapped files/m);
});

test("growth outside of V8's heap is distinguished from a growing heap", () => {
  assert.doesNotMatch(run({ rss: 10 }).problems.join("\n"), /outside V8/);
  const outside = run({ rss: 10, outside: 10 });
  assert.match(outside.problems.join("\n"), /^it grows: outside V8's heap/m);
});

test("garbage that grows is reported apart from what a collection leaves", () => {
  const garbage = run({ garbage: 8 });
  assert.match(garbage.problems.join("\n"), /^it grows: heap in use/m);
  assert.doesNotMatch(garbage.problems.join("\n"), /collections/);
  assert.match(run({ heap: 4 }).problems.join("\n"), /^it grows: heap that collections/m);
});

test("sockets that stay open are a leak", () => {
  assert.match(run({ fds: 6 }).problems.join("\n"), /^it grows: open files/m);
});

test("large growth in a run too short for a slope is a leak", () => {
  assert.deepEqual(run({ minutes: 8, rssSwing: 40 }).problems, []);
  const heap = run({ minutes: 8, heap: 300 });
  assert.match(heap.problems.join("\n"), /^it grows: heap that collections/m);
  assert.match(run({ minutes: 8, fds: 400 }).problems.join("\n"), /^it grows: open files/m);
  assert.deepEqual(run({ minutes: 1, heap: 300 }).problems, []);
});

test("what takes twice as long in the end is drift", () => {
  assert.match(
    run({ ms: 40 }).problems.join("\n"),
    /^it became slower: fresh namespace, first quarter p50 3\d/m,
  );
});

test("a process that ends by itself without losing its Lease is a problem", () => {
  const ended = (last: string): readonly SoakRecord[] => [
    { kind: "ended", s: 100, life: 1, code: 1, last },
    END,
  ];
  assert.deepEqual(run({}, ended('{"msg":"lost the lease"}')).problems, []);
  const refused = "secretcast: cannot reach the API server http://127.0.0.1:1: ServiceUnavailable";
  assert.deepEqual(run({}, ended(refused)).problems, []);
  const [problem] = run({}, ended('{"msg":"heap out of memory"}')).problems;
  assert.match(problem ?? "", /^it ended at 100 s with 1/);
});

test("the verdict names what was wrong at the end, and a missing end", () => {
  const wrong: SoakRecord = { kind: "end", s: 1, wrong: ["team-1/s1: missing"], said: [] };
  assert.deepEqual(run({}, [wrong]).problems, ["team-1/s1: missing"]);
  assert.match(run({}, []).lines.join("\n"), /has not ended/);
  assert.deepEqual(judgeSoak([]).problems, ["there are no samples"]);
});

test("records are read up to the line that was cut short, and drawn", (t) => {
  const folder = mkdtempSync(join(tmpdir(), "secretcast-records-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const file = join(folder, "soak.jsonl");
  const latency = { kind: "latency", s: 60, what: "fresh namespace", ms: 20, calm: true };
  writeFileSync(file, `${JSON.stringify(latency)}\n${JSON.stringify(END)}\n{"kind":"sam`);
  const records = readRecords(file);
  assert.deepEqual(records, [latency, END]);
  assert.equal(drawSoak(records, folder).length, 4);
});
