// Patterns of other tools: what globs say of them, and what their own engine says, on the same names.
import assert from "node:assert/strict";
import { test } from "node:test";
import { matchPatterns } from "../../../src/cli/migrate/pattern-worker.ts";
import { NAMESPACE_GLOBS, parseGlobList } from "../../../src/core/annotations/globs.ts";
import {
  globsOfPattern,
  patternKey,
  patternQuestion,
  type PatternUse,
} from "../../../src/core/oldtools/old-patterns.ts";

const NAMES = [
  "dev",
  "dev-2",
  "dev-a",
  "my-dev",
  "mydev",
  "prod",
  "prod-eu",
  "old-prod",
  "stage",
  "a",
  "team-a",
  "team-b",
  "team",
];

function use(mode: PatternUse["mode"], pattern: string): PatternUse {
  const engine = mode === "prefix" ? "Python" : mode === "cover" ? ".NET" : "RE2";
  return { engine, mode, pattern };
}

async function matched(one: PatternUse): Promise<readonly string[] | string> {
  const answer = (await matchPatterns([one], NAMES)).get(patternKey(one));
  if (!answer) throw new Error("no answer");
  return answer.kind === "names" ? [...answer.names] : answer.why;
}

const SAID: readonly (readonly [PatternUse["mode"], string, string, string])[] = [
  ["search", "^dev|my-dev$", "dev*,*my-dev", "dev,dev-2,dev-a,my-dev"],
  ["search", "^dev$", "dev", "dev"],
  ["search", "prod", "*prod*", "prod,prod-eu,old-prod"],
  ["search", " prod", "", ""],
  ["search", "^(team-a|team-b)$", "team-a,team-b", "team-a,team-b"],
  ["search", "^team-?.*$", "team-*,team*", "team-a,team-b,team"],
  ["search", "^.+$", "?*", NAMES.join()],
  ["search", "^team\\-a$", "team-a", "team-a"],
  ["search", "^a.c.d|x\\.y$", "a?c?d*", ""],
  ["prefix", "dev", "dev*", "dev,dev-2,dev-a"],
  ["prefix", "prod|stage", "prod*,stage*", "prod,prod-eu,stage"],
  ["prefix", "^prod$", "prod", "prod"],
  ["prefix", "old-prod$", "old-prod", "old-prod"],
  ["prefix", ".*", "*", NAMES.join()],
  ["prefix", "", "*", NAMES.join()],
  ["cover", "team-.*", "team-*", "team-a,team-b"],
  ["cover", "dev", "dev", "dev"],
];

for (const [mode, pattern, globs, names] of SAID) {
  test(`${mode} ${JSON.stringify(pattern)} names what its globs name: ${globs || "nothing"}`, async () => {
    const one = use(mode, pattern);
    const found = globsOfPattern(one);
    assert.equal(found?.join(), globs);
    assert.equal(String(await matched(one)), names);
    if (globs === "") return;
    const list = parseGlobList(globs, NAMESPACE_GLOBS);
    assert.ok(list.ok);
    assert.equal(NAMES.filter((name) => list.value.matches(name)).join(), names);
  });
}

for (const [mode, pattern, names] of [
  // .NET's first match is "dev", which is not the whole of dev-a.
  ["cover", "dev|dev-a", "dev"],
  ["cover", "dev-a|dev", "dev,dev-a"],
  ["cover", "te.*?", ""],
  ["search", "^team-[ab]$", "team-a,team-b"],
  ["search", "team^-a", ""],
  ["search", "dev$-a|^a$", "a"],
  ["search", "^\\w{3}$", "dev"],
  ["search", "(?i)^TEAM-A$", "team-a"],
  ["prefix", "(?P<env>dev)-\\d", "dev-2"],
] as const) {
  test(`${mode} ${JSON.stringify(pattern)} is no list of globs, and is matched as its engine does`, async () => {
    assert.equal(globsOfPattern(use(mode, pattern)), undefined);
    assert.equal(String(await matched(use(mode, pattern))), names);
  });
}

for (const pattern of [
  "^\\pL+$",
  "(?>a)b",
  "a++",
  "[[:alpha:]]+",
  "\\Adev\\z",
  "(?#x)dev",
  "(",
  "a{2,1}",
  "\\Qdev\\E",
]) {
  test(`${pattern} is not guessed at`, async () => {
    assert.match(
      String(await matched(use("search", pattern))),
      /^the pattern .* (holds what RE2 alone knows|cannot be read)$/,
    );
  });
}

test("a pattern that is too long to be shown is cut and ends in dots, and one that is shown whole has none", () => {
  let cut = 0;
  for (let length = 1; length <= 200; length++) {
    const pattern = `(?>${"a".repeat(length)})`;
    const answer = patternQuestion(use("search", pattern));
    const why = "why" in answer ? answer.why : "";
    const [, shown = ""] = /^the pattern "(.*)" holds what RE2 alone knows$/.exec(why) ?? [];
    if (shown === pattern) continue;
    cut++;
    const begun = shown.replace(/\.{3}$/, "");
    assert.notEqual(begun, shown, why);
    assert.ok(begun.length < pattern.length && pattern.startsWith(begun), why);
  }
  assert.ok(cut > 0);
});

test("what RE2 refuses the old tool passes over: it names nothing", async () => {
  for (const pattern of ["^(?!dev).*$", "(a)\\1"]) {
    assert.deepEqual(globsOfPattern(use("search", pattern)), []);
    assert.equal(String(await matched(use("search", pattern))), "");
  }
});

test("one pattern that never ends is given up, and those before and after it are answered", async () => {
  const names = [`${"a".repeat(60)}!`, "dev"];
  const uses = [use("search", "^dev$"), use("search", "^(a+)+$"), use("search", "^(d|e|v)+$")];
  const answers = await matchPatterns(uses, names, 200);
  const told = uses.map((one) => answers.get(patternKey(one)));
  assert.deepEqual(told, [
    { kind: "names", names: new Set(["dev"]) },
    { kind: "unknown", why: 'the pattern "^(a+)+$" took longer than 200 ms' },
    { kind: "names", names: new Set(["dev"]) },
  ]);
});
