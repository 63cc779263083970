// What a release is built on and tested with is maintained by others: their end is known here, and two months ahead.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { readStages } from "./support/programs/dockerfile.ts";
import { tableRows } from "./support/documents/markdown.ts";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const text = (file: string): string => readFileSync(join(ROOT, file), "utf8");
const NOTICE_DAYS = 60;
const DAY_MS = 86_400_000;

const rows = tableRows(text("docs/versions.md"), ["what", "ends", "source"]);

/** What is used today, as the table names it. */
function used(): readonly string[] {
  const bases = readStages().map(({ image }) =>
    image.replace(/^.*\//, "").replace(/@sha256:.*$/, ""),
  );
  const [, matrix = ""] = /^ +node: \[(.*)\]$/m.exec(text(".github/workflows/ci.yml")) ?? [];
  const nodes = Array.from(matrix.matchAll(/"(\d+)"/g), ([, version]) => `Node ${version}`);
  assert.ok(nodes.length > 1 && bases.length > 1);
  const stages = new Set(readStages().map(({ name }) => name));
  return [...new Set([...nodes, ...bases.filter((base) => !stages.has(base))])];
}

for (const name of used())
  test(`${name} is maintained for ${NOTICE_DAYS} more days`, () => {
    const row = rows.find(([what = ""]) => what === name || what.includes(`\`${name}\``));
    assert.ok(row, `docs/versions.md has no row for ${name}`);
    const [, ends = ""] = row;
    assert.match(ends, /^\d{4}-\d\d-\d\d$/);
    const days = (Date.parse(ends) - Date.now()) / DAY_MS;
    assert.ok(days > NOTICE_DAYS, `it ends on ${ends}: choose the next one, and change the table`);
  });

test("the table of ends names nothing that is not used", () => {
  const names = used();
  const unused = rows.filter(([what = ""]) => !names.some((name) => what.includes(name)));
  assert.deepEqual(unused, []);
});

test("the table of Kubernetes versions equals the matrix of the workflow", () => {
  const [, matrix = ""] = /^ +kubernetes: \[(.*)\]$/m.exec(text(".github/workflows/ci.yml")) ?? [];
  const tested = Array.from(matrix.matchAll(/"([\d.]+)"/g), ([, version = ""]) => version);
  assert.ok(tested.length > 1);
  const [newest = []] = tableRows(text("docs/versions.md"), ["secretcast", ...tested]);
  const { version }: { readonly version: string } = JSON.parse(text("package.json"));
  assert.deepEqual(newest, [
    version.split(".").slice(0, 2).join("."),
    ...tested.map(() => "tested"),
  ]);
});
