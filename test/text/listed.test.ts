import assert from "node:assert/strict";
import { test } from "node:test";
import { listed } from "../../src/text/listed.ts";

const names = ["a", "b", "c", "d"];

test("the first names are listed, and the others are counted", () => {
  assert.equal(listed(names), "a, b, c, d");
  assert.equal(listed(names, 4), "a, b, c, d");
  assert.equal(listed(names, 3), "a, b, c and 1 more");
  assert.equal(listed(names, 2, { between: "," }), "a,b and 2 more");
  assert.equal(listed(names, 2, { between: "; ", of: "entries" }), "a; b; and 2 more entries");
  assert.equal(listed(["a"], 2, { count: 100 }), "a and 99 more");
  assert.equal(listed([], 2), "");
});
