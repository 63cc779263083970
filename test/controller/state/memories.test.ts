// Each memory between two syncs is one line of the table in planner-memory.ts, which says why it cannot be derived.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

const read = (file: string): string =>
  readFileSync(new URL(`../../../src/controller/state/${file}`, import.meta.url), "utf8");

/** The names below a heading of the table, until the next empty line of it. */
function rowsOf(heading: string): readonly string[] {
  const [, rows = ""] =
    new RegExp(String.raw`^//   ${heading} .*\n((?://   .*\n)+)`, "m").exec(
      read("planner-memory.ts"),
    ) ?? [];
  return Array.from(rows.matchAll(/^\/\/ {3}(\w+) {2,}\S/gm), ([, name = ""]) => name);
}

/** The fields of a class in planner-state.ts that are not given to it. */
function fieldsOf(name: string): readonly string[] {
  const [, body = ""] =
    new RegExp(String.raw`^export class ${name} \{\n([^]*?)^\}`, "m").exec(
      read("planner-state.ts"),
    ) ?? [];
  const fields = Array.from(
    body.matchAll(/^ {2}(?:readonly )?#?(\w+)(?::[^(]*?)?(?: = [^]*?)?;$/gm),
    ([, field = ""]) => field,
  );
  return fields.filter((field) => field !== "shared");
}

test("every memory of the planner is in the table, and there are at most twelve", () => {
  const [memories, caches] = [rowsOf("memory"), rowsOf("cache")];
  const fields = [...fieldsOf("SharedState"), ...fieldsOf("PlannerState"), "FormerRules"];
  assert.deepEqual([...memories, ...caches].toSorted(), fields.toSorted());
  assert.ok(memories.length <= 12, `${memories.length} memories`);
});
