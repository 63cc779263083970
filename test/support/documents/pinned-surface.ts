// What a library of the package promises to those that import it: its names, their declarations, and a
// comment on each.
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { libraryDeclarations } from "./declarations.ts";

type Surface = {
  readonly library: "kube" | "sandbox";
  readonly load: () => Promise<object>;
  /** Classes of which only the type is exported. */
  readonly typesOnly?: readonly string[];
};

/** Registers the tests. */
export function testSurface({ library, load, typesOnly = [] }: Surface): void {
  const name = `secretcast/${library}`;
  const PINNED = join(import.meta.dirname, `../../public/${library}.txt`);
  const { declarations, packages } = libraryDeclarations(library);
  const sorted = [...declarations.values()].toSorted((a, b) => (a.name < b.name ? -1 : 1));

  test(`the declarations of ${name} are those that are pinned`, () => {
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

  test(`what a declaration of ${name} speaks of, users can name too`, () => {
    const unnamed = sorted.flatMap(({ name: each, speaksOf }) =>
      speaksOf.filter((other) => !declarations.has(other)).map((other) => `${each}: ${other}`),
    );
    assert.deepEqual(unnamed, []);
  });

  test(`the declarations of ${name} need no package but those of Node`, () => {
    assert.deepEqual(packages, []);
  });

  test(`everything that ${name} exports has a comment, each member of a class too`, () => {
    const bare: string[] = [];
    for (const { name: each, comment, text } of sorted) {
      if (comment === undefined) bare.push(each);
      if (!text.startsWith("export declare class")) continue;
      const lines = text.split("\n");
      for (const [at, line] of lines.entries())
        if (
          /^ {4}[a-z]/.test(line) &&
          !line.includes("readonly name =") &&
          !lines[at - 1]?.endsWith("*/")
        )
          bare.push(`${each}: ${line.trim()}`);
    }
    assert.deepEqual(bare, []);
  });

  test(`values of ${name} are what its declarations say, and no more`, async () => {
    const exported = await load();
    const values = sorted
      .filter(({ text }) => !text.startsWith("export type"))
      .map(({ name: each }) => each);
    assert.deepEqual(
      Object.keys(exported).toSorted(),
      values.filter((each) => !typesOnly.includes(each)),
    );
  });
}
