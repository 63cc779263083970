// Patterns of other tools: what globs say of them, and what their own engine says, on the same names.
import assert from "node:assert/strict";
import { test } from "node:test";
import { matchPatterns } from "../../../../src/migrate/command/match-patterns.ts";
import { NAMESPACE_GLOBS, parseGlobList } from "../../../../src/text/globs.ts";
import {
  patternKey,
  patternExpression,
  type PatternUse,
} from "../../../../src/migrate/oldtools/patterns/old-patterns.ts";
import { globsOfPattern } from "../../../../src/migrate/oldtools/patterns/pattern-globs.ts";

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
  if (answer.kind === "refused") return "refused";
  return answer.kind === "names" ? [...answer.names] : answer.why;
}

const SAID: readonly (readonly [PatternUse["mode"], string, string, string])[] = [
  ["search", "^dev|my-dev$", "dev*,*my-dev", "dev,dev-2,dev-a,my-dev"],
  ["search", "^dev$", "dev", "dev"],
  ["search", "prod", "*prod*", "prod,prod-eu,old-prod"],
  ["search", " prod", "", ""],
  ["search", "^(team-a|team-b)$", "team-a,team-b", "team-a,team-b"],
  ["search", "^team-?.*$", "team*", "team-a,team-b,team"],
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
  ["search", "^*$", "*", NAMES.join()],
  ["search", "^team-[ab]$", "team-a,team-b", "team-a,team-b"],
  ["search", "(?i)^TEAM-A$", "team-a", "team-a"],
  ["search", "^[a-z0-9-]+$", "?*", NAMES.join()],
  ["search", "^dev-\\.*2$", "dev-2", "dev-2"],
  ["search", "[]t]eam-b$", "*team-b", "team-b"],
  // A loop at an open end changes nothing.
  ["prefix", "dev-*", "dev*", "dev,dev-2,dev-a"],
  ["prefix", "prod(-eu)?", "prod*", "prod,prod-eu"],
  ["search", "x*dev-+", "*dev-*", "dev-2,dev-a"],
  // Between "^" and "$" the first match is the only one.
  ["cover", "^(dev|dev-a)$", "dev,dev-a", "dev,dev-a"],
  ["cover", "dev-a|dev", "dev-a,dev", "dev,dev-a"],
  // .NET's first match is "dev", which is not the whole of dev-a.
  ["cover", "dev|dev-a", "dev", "dev"],
  ["cover", "dev-.*|prod-.*", "dev-*,prod-*", "dev-2,dev-a,prod-eu"],
  ["cover", "team-*", "team", "team"],
  ["cover", "team-(?:a|b)?", "team-a,team-b", "team-a,team-b"],
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
  ["cover", "te.*?", ""],
  ["cover", ".*-(a|b)|team", "dev-a,team-a,team-b,team"],
  ["search", "^team-[a-z]+$", "team-a,team-b"],
  ["search", "team^-a", ""],
  ["search", "dev$-a|^a$", "a"],
  ["search", "^\\w{3}$", "dev"],
  ["prefix", "(?P<env>dev)-[0-9a-f]", "dev-2,dev-a"],
] as const) {
  test(`${mode} ${JSON.stringify(pattern)} has no globs, and is matched as its engine does`, async () => {
    assert.equal(globsOfPattern(use(mode, pattern)), undefined);
    assert.equal(String(await matched(use(mode, pattern))), names);
  });
}

for (const [pattern, names] of [
  ["^\\pL+$", "dev,mydev,prod,stage,a,team"],
  ["[[:digit:]]+", "dev-2"],
  ["\\Adev\\z", "dev"],
  ["\\Qdev\\E$", "dev,my-dev,mydev"],
  ["dev{", ""],
  ["(?U)^te.*?$", "team-a,team-b,team"],
] as const) {
  test(`RE2's own syntax ${pattern} is matched by RE2`, async () => {
    assert.equal(String(await matched(use("search", pattern))), names);
  });
}

for (const [mode, pattern] of [
  ["search", "(?>a)b"],
  ["search", "a++"],
  ["search", "(?#x)dev"],
  ["search", "("],
  ["search", "a{2,1}"],
  ["search", "*"],
  ["search", "^(?!dev).*$"],
  ["search", "(a)\\1"],
  ["prefix", "*"],
  ["prefix", "^*"],
  ["prefix", "a**"],
  ["prefix", "(a"],
  ["prefix", "[b-a]"],
  ["cover", "*"],
  ["cover", "a)"],
  ["cover", "(a)\\2"],
] as const) {
  test(`${mode} ${pattern} is refused, as the old tool's engine refuses it`, async () => {
    assert.equal(globsOfPattern(use(mode, pattern)), undefined);
    assert.equal(await matched(use(mode, pattern)), "refused");
  });
}

for (const [mode, pattern] of [
  ["cover", "\\p{L}+"],
  ["cover", "(?>a)b"],
  ["cover", "[a-z-[b]]+"],
  ["prefix", "(?(1)a|b)"],
  ["prefix", "\\N{DIGIT ONE}"],
] as const) {
  test(`${mode} ${pattern} is not guessed at`, async () => {
    const why = await matched(use(mode, pattern));
    assert.match(String(why), /^the pattern .* uses syntax that only (Python|\.NET) has$/);
  });
}

for (const [mode, pattern, names] of [
  // A "]" at the beginning of a class is a character, and so is "[" within one.
  ["cover", "[]t]eam", "team"],
  ["cover", "[[t]eam", "team"],
  ["prefix", "[^]x]eam-a", "team-a"],
  ["prefix", "team\\-a\\Z", "team-a"],
  ["cover", "(?<name>dev)|(?'other'prod)", "dev,prod"],
  ["cover", "dev(?#a comment)-2", "dev-2"],
  ["prefix", "de{,1}v", "dev,dev-2,dev-a"],
  ["prefix", "de*+v-2", "dev-2"],
  ["cover", "^*team\\z", "team"],
  ["cover", "(t)ea(m)-(?:a)", "team-a"],
  ["cover", "x{,3}|team", "team"],
] as const) {
  test(`${mode} ${pattern} means in JavaScript what it means to the old tool`, async () => {
    assert.equal(String(await matched(use(mode, pattern))), names);
  });
}

test("a pattern that is too long is cut and ends in dots", () => {
  let cut = 0;
  for (let length = 1; length <= 200; length++) {
    const pattern = `(?>${"a".repeat(length)})`;
    const answer = patternExpression(use("cover", pattern));
    const why = "why" in answer ? answer.why : "";
    const [, shown = ""] = /^the pattern "(.*)" uses syntax that only \.NET has$/.exec(why) ?? [];
    if (shown === pattern) continue;
    cut++;
    const begun = shown.replace(/\.{3}$/, "");
    assert.notEqual(begun, shown, why);
    assert.ok(begun.length < pattern.length && pattern.startsWith(begun), why);
  }
  assert.ok(cut > 0);
});

test("an endless pattern is given up, and the others are answered", async () => {
  const names = [`${"a".repeat(60)}!`, "dev"];
  const uses = [use("cover", "^dev$"), use("cover", "^(a+)+$"), use("cover", "^(d|e|v)+$")];
  const answers = await matchPatterns(uses, names, 200);
  const reported = uses.map((one) => answers.get(patternKey(one)));
  assert.deepEqual(reported, [
    { kind: "names", names: new Set(["dev"]) },
    { kind: "unknown", why: 'the pattern "^(a+)+$" took longer than 200 ms' },
    { kind: "names", names: new Set(["dev"]) },
  ]);
});
