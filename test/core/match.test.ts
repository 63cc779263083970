import assert from "node:assert/strict";
import { test } from "node:test";
import {
  DATA_KEY_GLOBS,
  METADATA_GLOBS,
  NAMESPACE_GLOBS,
  parseGlobList,
  SOURCE_GLOBS,
} from "../../src/core/match.ts";
import { parseSelector } from "../../src/core/selector.ts";

function matches(
  text: string,
  name: string,
  alphabet = NAMESPACE_GLOBS,
  everything = "*",
): boolean {
  const list = parseGlobList(text, alphabet, everything);
  assert.ok(list.ok, `${text} is a list`);
  assert.equal(list.value.rank(name) >= 0, list.value.matches(name), "a match has a rank");
  return list.value.matches(name);
}

function selects(text: string, labels: Readonly<Record<string, string>>): boolean {
  const selector = parseSelector(text);
  assert.ok(selector.ok, `${text} is a selector`);
  return selector.value.matches(labels);
}

const LISTS: readonly (readonly [list: string, name: string, matches: boolean])[] = [
  ["*", "anything", true],
  ["team-*", "team-a", true],
  ["team-*", "team-", true],
  ["team-*", "my-team-a", false],
  ["*-dev", "a-dev", true],
  ["*-dev", "a-dev-2", false],
  ["a*b*c", "aXbYbZc", true],
  ["a*b*c", "abc", true],
  ["a*b*c", "acb", false],
  ["team-?", "team-a", true],
  ["team-?", "team-", false],
  ["team-?", "team-ab", false],
  ["?*?", "a", false],
  ["?*?", "ab", true],
  ["team-a, team-b", "team-b", true],
  ["team-a", "team-a2", false],
  ["*,!team-legacy", "team-legacy", false],
  ["!team-legacy", "team-a", true],
  ["!team-legacy", "team-legacy", false],
  ["!team-*,team-a", "team-a", false],
];

for (const [list, name, expected] of LISTS) {
  test(`globs ${list} ${expected ? "match" : "do not match"} ${name}`, () => {
    assert.equal(matches(list, name), expected);
  });
}

test("a glob's star and question mark do not cross a slash", () => {
  assert.equal(matches("example.com/*", "example.com/team", METADATA_GLOBS), true);
  assert.equal(matches("*", "example.com/team", METADATA_GLOBS), false);
  assert.equal(matches("*/*", "shared/registry", SOURCE_GLOBS), true);
  assert.equal(matches("!shared/*", "shared/registry", SOURCE_GLOBS, "*/*"), false);
  assert.equal(matches("!shared/*", "other/registry", SOURCE_GLOBS, "*/*"), true);
  assert.equal(matches("a?b", "a/b", METADATA_GLOBS), false);
});

test("S10 text that is no glob is refused with the part that is not", () => {
  for (const [text, part] of [
    ["team-.*", "team-.*"],
    ["^team$", "^team$"],
    ["team-a,,team-b", ""],
    ["team-a,", ""],
    ["Team-A", "Team-A"],
    ["!", "!"],
    ["a b", "a b"],
    ["a/b", "a/b"],
  ] as const) {
    const list = parseGlobList(text, NAMESPACE_GLOBS);
    assert.ok(!list.ok, text);
    assert.equal(list.fault.part, part);
    assert.match(list.fault.expected, /glob/);
  }
});

test("S12 a glob of many stars is answered in few steps", () => {
  const evil = `${"*a".repeat(40)}*b`;
  const list = parseGlobList(evil, NAMESPACE_GLOBS);
  assert.ok(list.ok);
  const name = "a".repeat(63);
  // A backtracking engine would need more steps than there are atoms; this returns at all.
  assert.equal(list.value.matches(name), false);
  assert.equal(parseGlobList("*a".repeat(120_000), NAMESPACE_GLOBS).ok, false);
});

test("S13 names are unlimited up to 10,000 entries, globs up to 100", () => {
  const names = Array.from({ length: 10_000 }, (_, index) => `n-${index}`).join(",");
  assert.equal(matches(names, "n-9999"), true);
  assert.equal(parseGlobList(`${names},one-more`, NAMESPACE_GLOBS).ok, false);
  const globs = Array.from({ length: 101 }, (_, index) => `n-${index}-*`).join(",");
  assert.equal(parseGlobList(globs, NAMESPACE_GLOBS).ok, false);
});

test("the first positive that covers a name is its rank", () => {
  const list = parseGlobList("platform,team-*,team-a,*", NAMESPACE_GLOBS);
  assert.ok(list.ok);
  assert.deepEqual(
    ["platform", "team-a", "other"].map((name) => list.value.rank(name)),
    [0, 1, 3],
  );
});

test("names such as constructor are names like any other", () => {
  assert.equal(matches("constructor", "constructor", DATA_KEY_GLOBS), true);
  assert.equal(matches("a", "constructor", DATA_KEY_GLOBS), false);
  assert.equal(selects("constructor", {}), false);
  assert.equal(selects("!constructor", {}), true);
});

const SELECTORS: readonly (readonly [text: string, matches: boolean])[] = [
  ["team=a", true],
  ["team==a", true],
  ["team = a , tier", true],
  ["team=b", false],
  ["team!=b", true],
  ["team!=a", false],
  ["absent!=a", true],
  ["tier", true],
  ["!tier", false],
  ["!absent", true],
  ["team in (a, b)", true],
  ["team in (b,c)", false],
  ["absent in (a)", false],
  ["team notin (b)", true],
  ["team notin (a)", false],
  ["absent notin (a)", true],
  ["example.com/zone=eu,tier!=tin", true],
  ["empty=", true],
  ["empty in (,x)", true],
  ["in in (yes)", true],
];

for (const [text, expected] of SELECTORS) {
  test(`selector ${text} is ${expected}`, () => {
    const labels = { team: "a", tier: "gold", "example.com/zone": "eu", empty: "", in: "yes" };
    assert.equal(selects(text, labels), expected);
  });
}

test("S10 text that is no selector is refused with the part that is not", () => {
  for (const [text, part] of [
    ["team=", undefined],
    ["=a", "=a"],
    ["team=a,", "team=a,"],
    ["team in a", "a"],
    ["team in (a", "team in (a"],
    ["team>1", ">1"],
    ["team a", "a"],
    ["-team", "-team"],
    ["team=-a", "-a"],
    ["k".repeat(64), "k".repeat(64)],
    ["a/b/c", "a/b/c"],
    ["team=a;tier", "a;tier"],
  ] as const) {
    const selector = parseSelector(text);
    if (part === undefined) assert.ok(selector.ok, text);
    else {
      assert.ok(!selector.ok, text);
      assert.equal(selector.fault.part, part);
    }
  }
});
