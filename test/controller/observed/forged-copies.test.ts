// What forged copies cost: a heap that holds none of their texts is enough for a thousand of them.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { test } from "node:test";

const PROGRAM = join(import.meta.dirname, "../../support/programs/forged-copies.ts");

/** `heap`: MiB. The texts of a thousand objects have 229. */
function taken(heap: number, ...fields: readonly string[]): string {
  const flags = [`--max-old-space-size=${heap}`];
  return execFileSync(process.execPath, [...flags, PROGRAM, ...fields], {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "ignore"],
  });
}

for (const mark of ["entry", "list"])
  test(`a thousand forged copies with a long mark ${mark} keep no text`, () => {
    assert.equal(taken(96, `secretcast.io/${mark}`), "1000\n");
  });

test("no other text of 240 KB is kept, in whichever field of an object", () => {
  const names = ["on-delete", "copied-keys", "source-version", "adopt", "from"];
  const annotations = names.map((name) => `secretcast.io/${name}`);
  assert.equal(taken(32, ...annotations, "type"), "1000\n");
});
