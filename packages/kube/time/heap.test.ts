import assert from "node:assert/strict";
import { test } from "node:test";
import { array, assert as assertProperty, integer, nat, property } from "fast-check";
import { Heap } from "./heap.ts";

type Item = { readonly rank: number };

test("WQ-24 a heap gives its items in order, whatever was removed from the middle", () => {
  const ranks = array(integer({ min: 0, max: 30 }), { minLength: 15, maxLength: 40 });
  const removals = array(nat({ max: 39 }), { minLength: 1, maxLength: 5 });
  assertProperty(
    property(ranks, removals, (ranks, removals) => {
      const items = ranks.map((rank): Item => ({ rank }));
      const heap = new Heap<Item>((a, b) => a.rank < b.rank);
      for (const item of items) heap.push(item);
      const gone = new Set<Item>();
      for (const item of removals.map((at) => items[at]).filter((found) => found !== undefined)) {
        assert.equal(heap.remove(item), !gone.has(item));
        gone.add(item);
      }
      const left: number[] = [];
      for (let item = heap.pop(); item; item = heap.pop()) left.push(item.rank);
      const expected = items.filter((item) => !gone.has(item)).map((item) => item.rank);
      assert.deepEqual(
        left,
        expected.toSorted((a, b) => a - b),
      );
      assert.equal(heap.size, 0);
    }),
    { numRuns: 300 },
  );
});
