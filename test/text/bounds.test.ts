// What an object that takes part may hold at most, whatever its owner writes.
import { whyOf } from "../support/planner/why-of.ts";
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Texts } from "../support/planner/raw-cluster.ts";
import { Cluster, verdictAt } from "../support/planner/planner-cluster.ts";
import { refText } from "../../src/text/names.ts";

const KIB = 1024;

function cluster(): Cluster {
  const made = new Cluster();
  for (const name of ["shared", "team-a"]) made.namespace(name);
  return made;
}

function entries(count: number): Texts {
  return Object.fromEntries(Array.from({ length: count }, (_, at) => [`key-${at}`, "x"]));
}

/** `count` renames of one entry, in a form that the API server takes. */
function renames(count: number): string {
  return Array.from({ length: count }, (_, at) => `a${at}=ca.crt`).join();
}

function pushed(data: Texts, keys: Texts): string {
  const made = cluster();
  made.secret("shared/ca", { to: "*", ...keys }, { data });
  const [report] = made.sync().sources;
  return report?.problems[0]
    ? `${report.problems[0].annotation}: ${report.problems[0].expected}`
    : "";
}

test("a source with more than 1,000 entries, or copies beyond the bounds, is refused", () => {
  const large = { "ca.crt": "x".repeat(200 * KIB) };
  assert.equal(pushed(entries(1000), {}), "");
  assert.equal(pushed(entries(1001), {}), "data: at most 1000 data entries");
  assert.equal(pushed(large, { keys: renames(5) }), "");
  assert.equal(
    pushed(large, { keys: renames(6) }),
    "secretcast.io/keys: at most 1048576 bytes (1 MiB) of data",
  );
  assert.match(pushed(large, { keys: renames(1001) }), /1000/);
});

test("a source that has grown too large freezes the copies that it has", () => {
  const made = cluster();
  made.secret("shared/ca", { to: "*" }, { data: { one: "1" } });
  made.settle();
  made.secret("shared/ca", { to: "*" }, { data: entries(1001) });
  assert.equal(verdictAt(made.sync(), "team-a/ca"), "frozen");
  assert.deepEqual(Object.keys(made.get("team-a/ca").data), ["one"]);
});

for (const [what, source, keys, bound] of [
  ["too many bytes after renames", { "ca.crt": "x".repeat(200 * KIB) }, renames(100), "1 MiB"],
  ["too many entries after renames", { "ca.crt": "x" }, renames(1001), "1000"],
] as const) {
  test(`a pulling Secret that would hold ${what} gets the bound and stays as it is`, () => {
    const made = cluster();
    made.secret("shared/ca", { allow: "*" }, { data: source });
    made.secret("team-a/app", { from: "shared/ca", keys }, { data: {} });
    const result = made.settle();
    // More renames than entries can be are refused before anything is looked for.
    assert.match(verdictAt(result, "team-a/app") ?? "", /^(conflict|frozen)$/);
    assert.match(whyOf(result.rows[0]), new RegExp(bound));
    assert.deepEqual(made.get("team-a/app").data, {});
  });
}

test("a pulling Secret with more than 1,000 own entries is refused with the bound", () => {
  const made = cluster();
  made.secret("shared/ca", { allow: "*" });
  made.secret("team-a/app", { from: "shared/ca" }, { data: entries(1001) });
  const result = made.settle();
  assert.equal(verdictAt(result, "team-a/app"), "frozen");
  assert.match(whyOf(result.rows[0]), /at most 1000 data entries/);
});

test("a plan holds 10,000 of very many creates, some of each source", () => {
  const made = cluster();
  for (let at = 0; at < 59; at++) made.namespace(`team-${at + 1000}`, {}, {}, at);
  for (let at = 0; at < 200; at++) made.secret(`shared/many-${at}`, { to: "team-*" });
  const first = made.plan();
  assert.equal(first.actions.length, 10_000);
  assert.equal(first.counts.create, 12_000);
  assert.equal(new Set(first.actions.map(({ source }) => source.name)).size, 200);
  const rest = made.plan(new Set(first.actions.map(({ place }) => refText(place))));
  assert.equal(rest.actions.length, 2000);
});
