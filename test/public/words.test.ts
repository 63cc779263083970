// The words that others build on change on purpose only: they are pinned in words.txt, each with the
// version that brought it, and CHANGELOG.md tells of each that came or went since the first release.
// docs/versions.md says what a version may change. `npm run pin` writes the list anew.
import assert from "node:assert/strict";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { publicWords } from "../support/documents/public-words.ts";

const ROOT = join(import.meta.dirname, "../..");
const PINNED = join(import.meta.dirname, "words.txt");
const FIRST = "0.1.0";

type Pinned = { readonly word: string; readonly since: string; readonly gone: string | undefined };

// "flag run --once, 0.1.0", and of what went ", gone in 0.2.0".
function parse(line: string): Pinned {
  const [, word = "", since = "", gone] = /^(.*?), ([^,]+?)(?:, gone in (\S+))?$/.exec(line) ?? [];
  return { word, since, gone };
}

const lineOf = ({ word, since, gone }: Pinned): string =>
  `${word}, ${since}${gone === undefined ? "" : `, gone in ${gone}`}`;

const words = await publicWords();
const read = (): readonly Pinned[] =>
  readFileSync(PINNED, "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map(parse);

if (process.env["PIN_PUBLIC"]) {
  const known = new Map(read().map((pinned) => [pinned.word, pinned]));
  const next = "unreleased";
  const kept = [...known.values()].flatMap((each) => {
    if (words.includes(each.word)) return { ...each, gone: undefined };
    // What was never released is no word of anyone's.
    return each.since === next ? [] : { ...each, gone: each.gone ?? next };
  });
  const since = known.size === 0 ? FIRST : next;
  const added = words.filter((word) => !known.has(word));
  const all = [...kept, ...added.map((word) => ({ word, since, gone: undefined }))];
  writeFileSync(PINNED, `${all.map(lineOf).toSorted().join("\n")}\n`);
}

test("words of every kind are found", () => {
  const count = (kind: string) => words.filter((word) => word.startsWith(`${kind} `)).length;
  for (const [kind, least] of [
    ["annotation", 14],
    ["mark", 7],
    ["flag", 50],
    ["default", 20],
    ["command", 8],
    ["metric", 20],
    ["event", 8],
    ["verdict", 8],
    ["state", 5],
    ["cause", 10],
    ["json", 60],
    ["export", 60],
    ["chart", 30],
  ] as const)
    assert.ok(count(kind) >= least, `${count(kind)} of kind ${kind}`);
});

test("the public words are those that are pinned", () => {
  const pinned = read();
  const there = new Set(pinned.filter(({ gone }) => gone === undefined).map(({ word }) => word));
  const changed = {
    new: words.filter((word) => !there.has(word)),
    gone: [...there].filter((word) => !words.includes(word)),
  };
  assert.deepEqual(
    changed,
    { new: [], gone: [] },
    `others build on these words: see docs/versions.md; if it must be, run "npm run pin" and tell it in CHANGELOG.md: ${JSON.stringify(changed)}`,
  );
});

test("CHANGELOG.md names every word that came or went since the first release", () => {
  const changelog = readFileSync(join(ROOT, "CHANGELOG.md"), "utf8");
  const all = read();
  const later = all.filter(({ since, gone }) => since !== FIRST || gone !== undefined);
  // A new command has flags that other commands had before: its own line is enough.
  const flags = all.filter(({ word, since }) => since === FIRST && word.startsWith("flag "));
  const known = new Set(flags.map(({ word }) => spoken(word)));
  // The same for the fields of what it prints.
  const listed = new Set(
    all.filter(({ since }) => since === FIRST).map(({ word }) => ownerOf(word)),
  );
  const isNewItem = (word: string) => /^json \w+Item\./.test(word) && !listed.has(ownerOf(word));
  const untold = later.filter(
    ({ word, gone }) =>
      !changelog.includes(spoken(word)) &&
      (gone !== undefined || !(known.has(spoken(word)) || isNewItem(word))),
  );
  assert.deepEqual(
    untold.map(({ word }) => word),
    [],
  );
});

/** Of a field its type. */
function ownerOf(word: string): string {
  return word.slice(0, word.lastIndexOf("."));
}

/** As people write it: "flag plan --expect" is "--expect", a default its flag, a field itself. */
function spoken(word: string): string {
  const last = word.slice(word.lastIndexOf(" ") + 1);
  return last.replace(/[{=].*$/, "").replace(/^\w+\.(?=\w+$)/, "");
}

test("every command has a page of its own, or its name is in docs/cli.md", () => {
  const page = readFileSync(join(ROOT, "docs/cli.md"), "utf8");
  const isNamed = (name: string): boolean =>
    new RegExp(String.raw`^## ${name}$|\bsecretcast ${name}\b|\b${name} --`, "m").test(page);
  const commands = words.flatMap((word) => /^command (.*)$/.exec(word)?.[1] ?? []);
  const unnamed = commands.filter((name) => !isNamed(name));
  assert.deepEqual(
    unnamed.filter((name) => !existsSync(join(ROOT, `docs/${name}.md`))),
    [],
  );
});

test("a word's version is the first release, a later one, or not released", () => {
  const changelog = readFileSync(join(ROOT, "CHANGELOG.md"), "utf8");
  const released = Array.from(changelog.matchAll(/^## \[?(\d+\.\d+\.\d+)/gm), ([, each]) => each);
  const known = [FIRST, "unreleased", ...released];
  const odd = read().filter(
    ({ since, gone }) => !known.includes(since) || (gone !== undefined && !known.includes(gone)),
  );
  assert.deepEqual(odd, []);
});

test("what is not released yet is grouped", () => {
  const [, newest = ""] = readFileSync(join(ROOT, "CHANGELOG.md"), "utf8").split(/^## .*$/m);
  const groups = Array.from(newest.matchAll(/^### (.*)$/gm), ([, group]) => group);
  assert.deepEqual(groups, ["Added", "Changed", "Fixed"]);
});
