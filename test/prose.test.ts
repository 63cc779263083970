// The marks of the house dialect stay rare: sentences that open with "Of …", "whoever" as a subject, "stands" for
// "is", chains of semicolons. CONTRIBUTING says how the project writes.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

const ROOT = join(import.meta.dirname, "..");

const MARKS = {
  of: /(?:^|[.:;] )Of [a-z`]+|\bof which\b/gm,
  who: /\b[Ww]hoever\b|(?:^|[.:;,] )[Ww]ho [a-z]+s\b/gm,
  none: /\b(?:is|are|of|that are|be) none\b/g,
  stands: /\b(?:stands?|lies|lie)\b/g,
  goes: /(?<!client-)\b(?:goes|gone|went)\b/g,
  told: /\b(?:told|tells?)\b/g,
  semicolons: /;/g,
} as const;

type Limits = Readonly<Record<keyof typeof MARKS, number>>;

/** Marks for 10,000 words of the texts. */
function marksOf(texts: readonly string[]): Readonly<Record<string, number>> {
  const all = texts.join("\n");
  const words = all.match(/[A-Za-z']+/g)?.length ?? 0;
  assert.ok(words > 10_000, "there is text to measure");
  return Object.fromEntries(
    Object.entries(MARKS).map(([mark, pattern]) => [
      mark,
      Math.round(((all.match(pattern)?.length ?? 0) * 10_000) / words),
    ]),
  );
}

function assertWithin(texts: readonly string[], limits: Limits): void {
  const marks = marksOf(texts);
  const over = Object.entries(limits).filter(([mark, limit]) => (marks[mark] ?? 0) > limit);
  assert.deepEqual(over, [], JSON.stringify(marks));
}

const filesOf = (folder: string, end: string): readonly string[] =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(end) && !file.includes("node_modules"))
    .map((file) => join(folder, file));

const read = (file: string): string => readFileSync(join(ROOT, file), "utf8");
const quotedAway = (text: string): string => text.replaceAll(/`[^`]*`/g, "X");

test("comments of the source are plain English (T7)", () => {
  const comments = filesOf("src", ".ts").map((file) => {
    const lines = Array.from(
      read(file).matchAll(/^\s*(?:\/\/|\/\*\*|\*)\s?(.*?)(?:\*\/)?$/gm),
      ([, line = ""]) => line,
    );
    return quotedAway(lines.join("\n"));
  });
  assertWithin(comments, {
    of: 5,
    who: 3,
    none: 1,
    stands: 4,
    goes: 5,
    told: 5,
    semicolons: 20,
  });
});

test("documents do not fall back into the dialect (T7)", () => {
  const pages = ["README.md", "CONTRIBUTING.md", ...filesOf("docs", ".md")];
  const texts = pages.map((page) => quotedAway(read(page).replaceAll(/```.*?```/gs, "")));
  // The pages that are not written anew yet set these limits. They go down with each page.
  assertWithin(texts, { of: 5, who: 4, none: 2, stands: 13, goes: 25, told: 8, semicolons: 100 });
});
