// How long a text is as the API server writes it.
import assert from "node:assert/strict";
import { test } from "node:test";
import { jsonSize } from "../../src/text/json-size.ts";

test("escapes and non-ASCII characters count as the bytes of the API server", () => {
  const sizes: readonly (readonly [string, number])[] = [
    ["", 0],
    ["plain text", 10],
    ["<&>", 18],
    ["\u2028\u2029", 12],
    ["\u0000\u001f", 12],
    ["\n\r\t", 6],
    ['"', 2],
    ["\\", 2],
    ["\u007f", 1],
    ["ä", 2],
    ["€", 3],
    ["\u{1f511}", 4],
  ];
  for (const [text, bytes] of sizes) assert.equal(jsonSize(text), bytes, JSON.stringify(text));
  const all = sizes.map(([text]) => text).join("");
  assert.equal(
    jsonSize(all),
    sizes.reduce((sum, [, bytes]) => sum + bytes, 0),
  );
});
