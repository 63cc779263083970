import assert from "node:assert/strict";
import { test } from "node:test";
import { reasonShape, sharedReason } from "../../src/text/shared-reason.ts";

const quota = (name: string): string => `quota ${name} would be exceeded`;

test("one reason is itself, and several name what differs between them", () => {
  assert.equal(sharedReason([]), "");
  assert.equal(sharedReason([quota("a"), quota("a")]), quota("a"));
  assert.equal(sharedReason([quota("b"), quota("a")]), quota("a, b"));
  assert.equal(
    sharedReason(["f", "e", "d", "c", "b", "a"].map(quota)),
    quota("a, b, c, d, e and 1 more"),
  );
  assert.equal(sharedReason(["a b", "a b c"]), "a b c");
  assert.equal(sharedReason(["x y", "z"]), "x y, z");
});

test("a reason's shape has no name that a tenant chose", () => {
  assert.equal(reasonShape(quota("a")), reasonShape(quota("b")));
  assert.notEqual(reasonShape(quota("a")), reasonShape("quota a is not counted yet"));
  assert.equal(reasonShape("webhook a refused it"), "webhook a refused it");
});
