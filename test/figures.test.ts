// Each measured figure is written once, in docs/measurements/figures.json. The tables of the pages are rendered from it:
// UPDATE_FIGURES=1 npm test -- test/figures.test.ts writes them, and npm run format aligns them.
import assert from "node:assert/strict";
import { globSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { tableRows } from "./support/documents/markdown.ts";

const ROOT = join(import.meta.dirname, "..");
type Table = readonly (readonly string[])[];
const FIGURES: Readonly<Record<string, Table>> = JSON.parse(
  readFileSync(join(ROOT, "docs/measurements/figures.json"), "utf8"),
);
const BLOCK = /<!-- figures:(\w+) -->\n(.*?)<!-- end -->/gs;
const PAGES = ["README.md", "CHANGELOG.md", ...globSync("docs/**/*.md", { cwd: ROOT })].map(
  (page) => ({ page, text: readFileSync(join(ROOT, page), "utf8") }),
);

function rendered(table: Table): string {
  const lines = table.map((row) => `| ${row.join(" | ")} |`);
  const [head = "", ...rows] = lines;
  const rule = `|${" --- |".repeat(table[0]?.length ?? 0)}`;
  return [head, rule, ...rows].join("\n");
}

const tables = PAGES.flatMap(({ page, text }) =>
  Array.from(text.matchAll(BLOCK), ([, name = "", block = ""]) => ({ page, name, block })),
);

if (process.env["UPDATE_FIGURES"] !== undefined)
  for (const { page, text } of PAGES) {
    const updated = text.replaceAll(
      BLOCK,
      (_, name: string) =>
        `<!-- figures:${name} -->\n\n${rendered(FIGURES[name] ?? [])}\n\n<!-- end -->`,
    );
    if (updated !== text) writeFileSync(join(ROOT, page), updated);
  }

test("each table of figures is on one page", () => {
  assert.deepEqual(tables.map(({ name }) => name).toSorted(), Object.keys(FIGURES).toSorted());
});

for (const { page, name, block } of tables)
  test(`the table ${name} of ${page} is that of figures.json`, () => {
    const [head = [], ...rows] = FIGURES[name] ?? [];
    assert.ok(rows.length > 0 && rows.every((row) => row.length === head.length));
    assert.deepEqual(tableRows(block, head), rows);
  });

/** Amounts that are characteristic enough to be recognised on another page, except memory limits. */
const AMOUNT = /(?!256|384|512)\b\d{3,} (?:MiB|ms)\b|\b\d,\d{3}(?:\/s|,\d{3})/g;

test("no other page repeats a measured amount of a table", () => {
  const measured = new Map(
    tables.flatMap(({ page, name }) => {
      const [head = [], ...rows] = FIGURES[name] ?? [];
      const columns = head.flatMap((title, at) => (/^(?:measured|p\d+)$/.test(title) ? [at] : []));
      const cells = rows.flatMap((row) => columns.map((at) => row[at] ?? ""));
      return cells.flatMap((cell) =>
        (cell.match(AMOUNT) ?? []).map((each) => [each, page] as const),
      );
    }),
  );
  assert.ok(measured.size > 15);
  const repeated = PAGES.flatMap(({ page, text }) =>
    (
      text
        .replaceAll(/```.*?```/gs, "")
        .replaceAll(BLOCK, "")
        .match(AMOUNT) ?? []
    )
      .filter((amount) => measured.has(amount))
      .map((amount) => `${page}: ${amount}, of ${measured.get(amount)}`),
  );
  assert.deepEqual(repeated, []);
});

test("one page says how much memory an idle controller takes", () => {
  const said = PAGES.flatMap(({ page, text }) =>
    text
      .split("\n")
      .filter(
        (line) =>
          /\bidle\b(?! with)/.test(line.replaceAll("above idle", "")) && /\d MiB/.test(line),
      )
      .map((line) => `${page}: ${line.replaceAll(/ +/g, " ")}`),
  );
  assert.deepEqual(said, ["docs/performance.md: | RSS, idle | ≤ 80 MiB | 80 MiB | `lean` |"]);
});
