// What `secretcast/kube` promises: its names, their declarations, and a comment on each.
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { libraryDeclarations } from "../../support/documents/declarations.ts";

const PINNED = join(import.meta.dirname, "../../public/kube.txt");
const { declarations, packages } = libraryDeclarations();
const sorted = [...declarations.values()].toSorted((a, b) => (a.name < b.name ? -1 : 1));

test("the declarations of secretcast/kube are those that are pinned", () => {
  const text = sorted.map(({ signature }) => `${signature}\n`).join("\n");
  if (process.env["PIN_PUBLIC"]) writeFileSync(PINNED, text);
  const pinned = readFileSync(PINNED, "utf8").split("\n\n");
  const now = text.split("\n\n");
  const changed = {
    gone: pinned.filter((each) => !now.includes(each)),
    new: now.filter((each) => !pinned.includes(each)),
  };
  assert.deepEqual(
    changed,
    { gone: [], new: [] },
    `a public declaration changed: see docs/versions.md; if it must be, run "npm run pin" and tell it in CHANGELOG.md\n${JSON.stringify(changed, undefined, 1)}`,
  );
});

test("what a declaration of secretcast/kube speaks of, strangers can name too", () => {
  const unnamed = sorted.flatMap(({ name, speaksOf }) =>
    speaksOf.filter((other) => !declarations.has(other)).map((other) => `${name}: ${other}`),
  );
  assert.deepEqual(unnamed, []);
});

test("the declarations of secretcast/kube need no package but those of Node", () => {
  assert.deepEqual(packages, []);
});

test("everything that secretcast/kube exports has a comment, each member of a class too", () => {
  const bare: string[] = [];
  for (const { name, comment, text } of sorted) {
    if (comment === undefined) bare.push(name);
    if (!text.startsWith("export declare class")) continue;
    const lines = text.split("\n");
    for (const [at, line] of lines.entries())
      if (
        /^ {4}[a-z]/.test(line) &&
        !line.includes("readonly name =") &&
        !lines[at - 1]?.endsWith("*/")
      )
        bare.push(`${name}: ${line.trim()}`);
  }
  assert.deepEqual(bare, []);
});

test("values of secretcast/kube are what its declarations say, and no more", async () => {
  const library = await import("../../../src/kube/library/index.ts");
  const values = sorted
    .filter(({ text }) => !text.startsWith("export type"))
    .map(({ name }) => name);
  const typesOnly = ["Reachability", "Store"];
  assert.deepEqual(
    Object.keys(library).toSorted(),
    values.filter((name) => !typesOnly.includes(name)),
  );
});
