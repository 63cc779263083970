// Work for many items: results in order, a limit on what runs at a time, the first failure.
import assert from "node:assert/strict";
import { test } from "node:test";
import { mapAtOnce } from "../../../src/inspect/requests/at-once.ts";
import { nextTurn } from "../../../packages/kube/time/turns.ts";

test("results have the order of the items, with a limited number at a time", async () => {
  let [running, most] = [0, 0];
  const results = await mapAtOnce([5, 1, 4, 2, 3], 2, async (turns) => {
    most = Math.max(most, ++running);
    for (let turn = 0; turn < turns; turn++) await nextTurn();
    running--;
    return turns * 10;
  });
  assert.deepEqual([results, most], [[50, 10, 40, 20, 30], 2]);
});

test("the first failure is the answer, and nothing new begins after it where it happened", async () => {
  const begun: number[] = [];
  const work = async (item: number): Promise<void> => {
    begun.push(item);
    await nextTurn();
    if (item === 1) throw new Error("refused");
  };
  await assert.rejects(mapAtOnce([1, 2, 3], 1, work), /^Error: refused$/);
  assert.deepEqual(begun, [1]);
});

test("after the first failure nothing new begins beside it either", async () => {
  const begun: number[] = [];
  const work = async (item: number): Promise<void> => {
    begun.push(item);
    await nextTurn();
    if (item === 1) throw new Error("refused");
  };
  await assert.rejects(mapAtOnce([1, 2, 3, 4, 5, 6, 7, 8], 2, work), /^Error: refused$/);
  for (let turn = 0; turn < 20; turn++) await nextTurn();
  assert.ok(begun.length <= 3, String(begun));
});
