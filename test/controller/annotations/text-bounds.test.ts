// What users write may cost no more than a bounded time: each bound refuses, and its reason names it.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Texts } from "../../support/planner/raw-cluster.ts";
import { Cluster, verdictAt } from "../../support/planner/planner-cluster.ts";
import { problemText } from "../../../src/controller/annotations/rules.ts";

function cluster(): Cluster {
  return new Cluster().withNamespaces("shared", "team-a");
}

/** Why `shared/cred` is refused. */
function reasonOf(made: Cluster): string {
  const [source] = made.plan().sources;
  const problem = source?.problems[0];
  return problem ? problemText(problem) : "it is not refused";
}

const numbered = (count: number, make: (index: string) => string): string =>
  Array.from({ length: count }, (_, index) => make(String(index).padStart(5, "0"))).join(",");
const records = (count: number, make: (index: string) => string): Texts =>
  Object.fromEntries(
    Array.from({ length: count }, (_, index) => [make(String(index).padStart(5, "0")), ""]),
  );

const WORDS: readonly (readonly [what: string, words: Texts, reason: RegExp])[] = [
  ["101 globs in to", { to: numbered(101, (at) => `a${at}*`) }, /\/to: .*at most 100 entries/],
  ["101 globs in allow", { allow: numbered(101, (at) => `!a${at}*`) }, /\/allow: .*at most 100/],
  ["names of more than 64 KiB", { to: numbered(8200, (at) => `n-${at}`) }, /\/to: .*64 KiB/],
  [
    "a namespace's name of 64 characters",
    { to: `${"a".repeat(63)}*` },
    /\/to: .*at most 63 characters/,
  ],
  [
    "globs of many steps",
    { to: numbered(60, (at) => `*${at}?a?a?a*`) },
    /\/to: .*at most \d+ steps a name/,
  ],
  [
    "a selector of more than 64 KiB",
    { "to-selector": `a in (${numbered(8200, (at) => `v-${at}`)})` },
    /\/to-selector: .*64 KiB/,
  ],
  [
    "101 requirements",
    { "to-selector": numbered(101, (at) => `k${at}`) },
    /\/to-selector: .*at most 100/,
  ],
  [
    "renames of more than 64 KiB",
    { to: "*", keys: numbered(900, (at) => `${"k".repeat(70)}-${at}=key`) },
    /\/keys: .*64 KiB/,
  ],
  [
    "1,001 renames",
    { to: "*", keys: numbered(1001, (at) => `k-${at}=key`) },
    /\/keys: .*at most 1000 renames/,
  ],
];

for (const [what, words, reason] of WORDS) {
  test(`${what} refuses the source, and the reason names the bound`, () => {
    const made = cluster();
    made.secret("shared/cred", words);
    assert.match(reasonOf(made), reason);
  });
}

test("keys that need too many steps to match refuse the source", () => {
  const made = cluster();
  const data = records(1000, (at) => `${"a".repeat(200)}${at}`);
  made.secret("shared/cred", { to: "*", keys: numbered(12, (at) => `*${at}*`) }, { data });
  assert.match(reasonOf(made), /\/keys: .*in at most 400000 steps/);
  made.secret("shared/cred", { to: "*", keys: `${numbered(99, (at) => `b${at}*`)},a*` }, { data });
  assert.equal(reasonOf(made), "it is not refused");
  made.settle();
  assert.equal(Object.keys(made.get("team-a/cred").data).length, 1000);
});

test("more than 2,000 labels or annotations refuse a source that copies some, and no other", () => {
  for (const [word, kind] of [
    ["copy-labels", "labels"],
    ["copy-annotations", "annotations"],
  ] as const) {
    const made = cluster();
    made.secret("shared/cred", { to: "*", [word]: "team" });
    made.edit("shared/cred", ({ metadata }) => {
      Object.assign(
        metadata[kind],
        records(2001, (at) => `k${at}`),
      );
    });
    assert.match(reasonOf(made), new RegExp(`/${word}: .*at most 2000 labels`));
    made.edit(
      "shared/cred",
      ({ metadata }) => delete metadata.annotations[`secretcast.io/${word}`],
    );
    assert.equal(reasonOf(made), "it is not refused");
  }
});

test("a record of copied labels that is longer than annotations may be refuses the source", () => {
  const made = cluster();
  const labels = records(1000, (at) => `${"a".repeat(248)}${at}/${"b".repeat(63)}`);
  made.secret("shared/cred", { to: "*", "copy-labels": "*/*" }, { labels });
  assert.match(reasonOf(made), /copy-labels: .*longer than 262144 bytes/);
  assert.deepEqual(made.plan().actions, []);
});

test("the copies of a source that grows over a bound stay as they are", () => {
  const made = cluster();
  made.secret("shared/cred", { to: "team-*" });
  made.settle();
  made.edit("shared/cred", ({ metadata, data }) => {
    metadata.annotations["secretcast.io/to"] = numbered(101, (at) => `a${at}*`);
    data["key"] = "b3RoZXI=";
  });
  const before = made.writes.length;
  made.now += 60_000;
  assert.equal(verdictAt(made.settle(), "team-a/cred"), "frozen");
  assert.equal(made.writes.length, before);
});

test("an accept that is over a bound accepts nothing new and changes nothing", () => {
  const made = cluster();
  made.secret("shared/cred", { to: "*" });
  made.settle();
  made.namespace("team-a", { accept: numbered(101, (at) => `shared/a${at}*`) });
  made.secret("shared/more", { to: "*" });
  made.now += 60_000;
  const result = made.settle();
  assert.equal(verdictAt(result, "team-a/cred"), "frozen");
  assert.equal(made.secrets.has("team-a/more"), false);
  const [report] = result.namespaces;
  assert.match(report ? problemText(report.problem) : "", /accept: .*at most 100 entries/);
});

test("a namespace with more than 2,000 labels accepts nothing new and changes nothing", () => {
  const made = cluster();
  made.secret("shared/cred", { to: "*", "to-selector": "!absent" });
  made.settle();
  made.namespace(
    "team-a",
    {},
    records(2001, (at) => `k${at}`),
  );
  made.now += 60_000;
  const result = made.settle();
  assert.equal(verdictAt(result, "team-a/cred"), "frozen");
  const [report] = result.namespaces;
  assert.match(report ? problemText(report.problem) : "", /labels: "2001 labels".*at most 2000/);
});
