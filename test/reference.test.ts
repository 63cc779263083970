// The tables of docs/reference.md that the program holds are those that `npm run reference` writes.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { FLAGS } from "../src/controller/settings/flags.ts";
import { metricsOfNothing } from "./support/documents/metrics.ts";
import { tableRows } from "./support/documents/markdown.ts";
import { REFERENCE, withTables } from "../tools/reference.ts";

const page = readFileSync(REFERENCE, "utf8");

test("docs/reference.md has the tables of the program", () => {
  assert.equal(withTables(page), page, "run npm run reference");
});

test("a table that is lost or unknown is an error", () => {
  assert.throws(() => withTables(page.replaceAll("flags:", "flag:")), /no table flag/);
  assert.throws(() => withTables(page.replaceAll("flags:start", "")), /no place for flags/);
});

test("each flag and each metric of a scrape has its row", async () => {
  const flags = tableRows(page, ["flag", "default", "meaning"]);
  assert.deepEqual(
    flags.map(([flag]) => flag),
    FLAGS.map(({ name }) => `\`--${name}\``),
  );
  const scraped = await metricsOfNothing().registry.getMetricsAsJSON();
  const own = scraped.filter(({ name }) => !/^(process|nodejs)_/.test(name));
  const metrics = tableRows(page, ["metric", "type", "meaning"]);
  assert.deepEqual(
    metrics.map(([name, type]) => `${name} ${type}`).toSorted(),
    own.map(({ name, type }) => `\`${name}\` ${String(type)}`).toSorted(),
  );
});
