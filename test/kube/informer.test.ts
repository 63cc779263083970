import assert from "node:assert/strict";
import { test } from "node:test";
import { added, deleted, modified, raw } from "../support/scripted-api.ts";
import { setup } from "../support/informer.ts";

test("IN-05 handlers hear adds, updates with the old object, and deletes with the last state", async (t) => {
  const { filled, heard, shown } = setup(t);
  const watch = await filled(2, raw("x", 1));
  await watch.send(added(raw("y", 3)), modified(raw("x", 4)), deleted(raw("y", 5)));
  assert.deepEqual(heard, ["add a/x@1 initial", "add a/y@3", "update a/x@1>4", "delete a/y@5"]);
  assert.deepEqual(shown(), ["x@4"]);
});
