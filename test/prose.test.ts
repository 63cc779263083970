// Documents are read once: a test limits their sentences, their table cells, and the marks of a dialect
// that readers had to read twice. CONTRIBUTING says how the project writes.
import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

const ROOT = join(import.meta.dirname, "..");
const read = (file: string): string => readFileSync(join(ROOT, file), "utf8");
const filesOf = (pattern: string): readonly string[] =>
  globSync(pattern, { cwd: ROOT, exclude: (name) => name.endsWith("node_modules") }).toSorted();

const MARKS = {
  of: /(?:^|[.:;] )Of [a-z`]+|\bof which\b/gm,
  who: /\b[Ww]hoever\b|(?:^|[.:;,] )[Ww]ho [a-z]+s\b/gm,
  none: /\b(?:is|are|of|that are|be) none\b/g,
  stands: /\b(?:stands?|lies|lie)\b/g,
  goes: /(?<!client-)\b(?:goes|gone|went)\b/g,
  told: /\b(?:told|tells?)\b/g,
  he: /\b(?:[Hh]e|[Hh]is|[Hh]im)\b/g,
  semicolons: /;/g,
} as const;
type Marks = Readonly<Record<keyof typeof MARKS, number>>;

const countOf = (text: string, pattern: RegExp): number => text.match(pattern)?.length ?? 0;
const wordsOf = (text: string): number => countOf(text, /[A-Za-z']+/g);
/** Without code, comments of HTML and the targets of links. */
const proseOf = (text: string): string =>
  text
    .replaceAll(/```.*?```/gs, "")
    .replaceAll(/<!--.*?-->/gs, "")
    .replaceAll(/`[^`]*`/g, "X")
    .replaceAll(/X(?:, X)+/g, "X")
    .replaceAll(/\]\([^)]*\)/g, "]");

function assertMarks(text: string, limits: Marks): void {
  const words = wordsOf(text);
  assert.ok(words > 10_000, "there is text to measure");
  const marks = Object.entries(MARKS).map(
    ([mark, pattern]) => [mark, Math.round((countOf(text, pattern) * 10_000) / words)] as const,
  );
  const allowed = new Map<string, number>(Object.entries(limits));
  const over = marks.filter(([mark, count]) => count > (allowed.get(mark) ?? 0));
  assert.deepEqual(over, [], "marks for 10,000 words");
}

test("comments of the source are plain English", () => {
  const sources = filesOf("{src,packages}/**/*.ts").filter(
    (file) => !/\.test\.ts$|\/testing\//.test(file),
  );
  const comments = sources.flatMap((file) =>
    Array.from(
      read(file).matchAll(/^\s*(?:\/\/|\/\*\*|\*)\s?(.*?)(?:\*\/)?$/gm),
      ([, line = ""]) => line,
    ),
  );
  const text = comments.join("\n").replaceAll(/`[^`]*`/g, "X");
  assertMarks(text, {
    of: 2,
    who: 1,
    none: 1,
    stands: 2,
    goes: 3,
    told: 2,
    he: 1,
    semicolons: 5,
  });
});

const SITE = [
  "README.md",
  "CONTRIBUTING.md",
  ...filesOf("docs/{,decisions/}*.md"),
  ...filesOf("docs/measurements/*.md"),
  "SECURITY.md",
  "CODE_OF_CONDUCT.md",
  "test/README.md",
];

test("documents do not fall back into the dialect", () => {
  assertMarks(SITE.map((page) => proseOf(read(page))).join("\n"), {
    of: 0,
    who: 0,
    none: 0,
    stands: 3,
    goes: 3,
    told: 0,
    he: 0,
    semicolons: 20,
  });
});

/** A heading, an item of a list and a cell of a table are sentences of their own. */
function sentencesOf(page: string): readonly string[] {
  return proseOf(read(page))
    .split(/(?<=[.!?:])\s+|\n\n|\n *(?:[-|#]|\d+\.)|\|/)
    .filter((sentence) => countOf(sentence, /[A-Za-z]+/g) > 2);
}

for (const page of SITE) {
  test(`${page} has short sentences, and short cells in its tables`, () => {
    const sentences = sentencesOf(page);
    const lengths = sentences
      .map((sentence) => countOf(sentence, /\S+/g))
      .toSorted((a, b) => a - b);
    assert.ok(
      (lengths[Math.floor(lengths.length / 2)] ?? 0) <= 16,
      "half of them have 16 words at most",
    );
    assert.deepEqual(
      sentences.filter((sentence) => countOf(sentence, /\S+/g) > 40),
      [],
    );
    const rows = read(page)
      .split("\n")
      .filter((line) => line.startsWith("| ") && !/^[| -]+$/.test(line));
    const cells = rows.flatMap((line) => line.split(/(?<!\\)\|/).map((cell) => cell.trim()));
    assert.deepEqual(
      cells.filter((cell) => cell.length > 200),
      [],
    );
  });
}

for (const page of [...SITE, "CHANGELOG.md"])
  test(`${page} says in its first sentence who it is for`, () => {
    const [, first = ""] = /^# .+\n\n(.+)$/m.exec(read(page)) ?? [];
    assert.match(first, /^(?:For|This page is for) [a-z]/);
  });

test("no page has {{ outside a block of code, where the site would evaluate it", () => {
  const found = [...SITE, "CHANGELOG.md"].filter((page) =>
    read(page)
      .replaceAll(/^```.*?^```/gms, "")
      .includes("{{"),
  );
  assert.deepEqual(found, []);
});

test("the README has no line above 400 characters", () => {
  assert.deepEqual(
    read("README.md")
      .split("\n")
      .filter((line) => line.length > 400),
    [],
  );
});
