import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import {
  DATA_KEY_GLOBS,
  METADATA_GLOBS,
  NAMESPACE_GLOBS,
  parseGlobList,
  SOURCE_GLOBS,
} from "../../src/text/globs.ts";
import { parseSelector } from "../../src/text/label-selector.ts";

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

test("text that is no glob is refused with the part that is not", () => {
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

test("a glob of many stars is answered in few steps", () => {
  const evil = `${"*a".repeat(30)}*b`;
  const list = parseGlobList(evil, NAMESPACE_GLOBS);
  assert.ok(list.ok);
  const name = "a".repeat(63);
  // A backtracking engine would need more steps than there are atoms; this returns at all.
  assert.equal(list.value.matches(name), false);
  assert.equal(parseGlobList("*a".repeat(120_000), NAMESPACE_GLOBS).ok, false);
});

test("a list holds names of 64 KiB and 100 globs at most", () => {
  const words = Array.from({ length: 8192 }, (_, index) => `n-${10_000 + index}`);
  const names = words.join(",");
  assert.equal(names.length + 1, 64 * 1024);
  assert.equal(matches(names, "n-18191"), true);
  assertRefused(parseGlobList(`${names},one-more`, NAMESPACE_GLOBS), /64 KiB/);
  assertRefused(parseGlobList(`${names}x`, NAMESPACE_GLOBS), /64 KiB/);
  const globs = Array.from({ length: 100 }, (_, index) => `n-${index}-*`).join(",");
  assert.equal(matches(`${globs},${names}`, "n-99-x"), true);
  assertRefused(parseGlobList(`${globs},n-*`, NAMESPACE_GLOBS), /at most 100 entries with "\*"/);
  // The most entries that there can be: names of one letter, each with its comma, and the globs.
  const shortest = Array.from({ length: 32 * 1024 }, () => "n").join(",");
  assert.equal(matches(`${globs},${shortest}`, "n"), true);
  assertRefused(parseGlobList(`${globs},${shortest},n`, NAMESPACE_GLOBS), /64 KiB/);
});

test("an entry is as long as the API allows what it names, and no longer", () => {
  for (const [alphabet, slash] of [
    [NAMESPACE_GLOBS, ""],
    [DATA_KEY_GLOBS, ""],
    [SOURCE_GLOBS, "a/"],
    [METADATA_GLOBS, "a/"],
  ] as const) {
    for (const end of ["a", "*"]) {
      const most = `${slash}${"a".repeat(alphabet.longest - slash.length - 1)}${end}`;
      assert.equal(parseGlobList(most, alphabet).ok, true, most);
      const bound = new RegExp(`at most ${alphabet.longest} characters`);
      assertRefused(parseGlobList(`${most}${end}`, alphabet), bound);
    }
  }
});

test("a hundred globs of one star fit, and costlier ones are refused", () => {
  const list = (before: string, after: string): string =>
    Array.from({ length: 100 }, (_, index) => `${before}${index}${after}`).join(",");
  for (const alphabet of [NAMESPACE_GLOBS, DATA_KEY_GLOBS, METADATA_GLOBS]) {
    for (const [before, after] of [
      ["team-", "*"],
      ["*", "-team"],
      ["team-", "-*-x"],
    ] as const)
      assert.equal(parseGlobList(list(before, after), alphabet).ok, true);
    assertRefused(
      parseGlobList(list("*", "-team*"), alphabet),
      /globs that take at most \d+ steps/,
    );
  }
});

function assertRefused(list: ReturnType<typeof parseGlobList>, bound: RegExp): void {
  assert.ok(!list.ok);
  assert.match(list.fault.expected, bound);
}

// What the globs mean, with nothing clever about it.
function means(glob: string, name: string): boolean {
  const rows = Array.from({ length: name.length + 1 }, (_, at) => at === 0);
  for (const sign of glob) {
    if (sign === "*") {
      for (let at = 1; at <= name.length; at++)
        rows[at] ||= rows[at - 1] === true && name[at - 1] !== "/";
      continue;
    }
    for (let at = name.length; at > 0; at--) {
      const has = name[at - 1];
      rows[at] = rows[at - 1] === true && (sign === has || (sign === "?" && has !== "/"));
    }
    rows[0] = false;
  }
  return rows[name.length] === true;
}

test("any glob matches any name exactly as its signs mean", () => {
  const signs = fc.array(fc.constantFrom("a", "b", "*", "?"), { minLength: 1, maxLength: 9 });
  const letters = fc.array(fc.constantFrom("a", "b"), { maxLength: 12 });
  const word = signs.map((all) => all.join(""));
  const name = letters.map((all) => all.join(""));
  const runs = { numRuns: 5000 };
  fc.assert(
    fc.property(word, name, (glob, of) => {
      assert.equal(matches(glob, of, DATA_KEY_GLOBS), means(glob, of), `${glob} ${of}`);
      assert.equal(matches(glob, of, METADATA_GLOBS), means(glob, of), `${glob} ${of}`);
    }),
    runs,
  );
  fc.assert(
    fc.property(word, word, fc.array(name, { maxLength: 3 }), (before, after, parts) => {
      const glob = `${before}/${after}`;
      const of = parts.join("/");
      assert.equal(matches(glob, of, METADATA_GLOBS), means(glob, of), `${glob} ${of}`);
      assert.equal(matches(before, of, METADATA_GLOBS), means(before, of), `${before} ${of}`);
    }),
    runs,
  );
});

test("where the first positive that covers a name stands is its rank", () => {
  const text = "platform,team-*,team-a,*";
  const list = parseGlobList(text, NAMESPACE_GLOBS);
  assert.ok(list.ok);
  assert.deepEqual(
    ["platform", "team-a", "other"].map((name) => list.value.rank(name)),
    [0, text.indexOf("team-*"), text.lastIndexOf("*")],
  );
});

test("a list of many names and globs covers, ranks and excludes exactly what it names", () => {
  const short = fc.stringMatching(/^[ab]{1,3}$/);
  const word = fc.oneof({ weight: 5, arbitrary: short }, fc.stringMatching(/^[ab*?]{1,4}$/));
  const blank = fc.constantFrom("", "", " ", "\t", "\u00a0");
  const entry = fc.tuple(blank, fc.constantFrom("", "", "!", "! "), word, blank);
  const list = fc.array(entry, { minLength: 1, maxLength: 60 });
  const names = fc.array(fc.oneof(short, fc.constantFrom("", "a,b", "a ", "!a", "a*")));
  fc.assert(
    fc.property(list, names, (entries, asked) => {
      const text = entries.map((parts) => parts.join("")).join(",");
      const parsed = parseGlobList(text, NAMESPACE_GLOBS);
      assert.ok(parsed.ok, text);
      const positives = entries.filter(([, sign]) => sign === "").map(([, , each]) => each);
      if (positives.length === 0) positives.push("*");
      const excluded = entries.filter(([, sign]) => sign !== "").map(([, , each]) => each);
      const standing = asked.map((name) => {
        const out = excluded.some((each) => means(each, name));
        return out ? -1 : positives.findIndex((each) => means(each, name));
      });
      const ranks = asked.map((name) => parsed.value.rank(name));
      for (const [at, name] of asked.entries()) {
        const what = `${JSON.stringify(name)} in ${JSON.stringify(text)}`;
        assert.equal(parsed.value.matches(name), (standing[at] ?? -1) >= 0, what);
        assert.equal(
          parsed.value.excludes(name),
          excluded.some((each) => means(each, name)),
        );
        for (const other of asked.keys()) {
          const [first = -1, second = -1] = [standing[at], standing[other]];
          const [mine = -1, its = -1] = [ranks[at], ranks[other]];
          assert.equal(Math.sign(mine - its), Math.sign(first - second), what);
        }
      }
    }),
    { numRuns: 500 },
  );
});

test("each of 64 KiB of names is found, and no other", () => {
  for (const join of [",", " , "]) {
    const words = Array.from({ length: 12_000 }, (_, at) => (1296 + at).toString(36));
    const list = parseGlobList([...words, ...words.slice(0, 1000)].join(join), NAMESPACE_GLOBS);
    assert.ok(list.ok);
    let last = -1;
    for (const word of words) {
      const rank = list.value.rank(word);
      assert.ok(rank > last, word);
      last = rank;
      assert.equal(list.value.matches(`${word}0`), false);
      assert.equal(list.value.matches(`0${word}`), false);
    }
  }
  assert.equal(matches(Array.from({ length: 30_000 }, () => "a").join(), "a"), true);
});

test("a selector of many values names each of them, and no other", () => {
  for (const count of [1, 2, 8, 9, 100]) {
    for (const join of [",", " ,\t"]) {
      const values = Array.from({ length: count }, (_, at) => (at === 1 ? "" : `v${at}`));
      const text = `a in (${values.join(join)}),b notin ( ${values.join(join)} )`;
      for (const value of values) {
        assert.equal(selects(text, { a: value }), true, value);
        assert.equal(selects(text, { a: value, b: value }), false, value);
        assert.equal(selects(text, { a: `${value}0` }), values.includes(`${value}0`));
      }
    }
  }
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

test("text that is no selector is refused with the part that is not", () => {
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
