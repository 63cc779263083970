// What was made within the last hold: counts, by namespace and by source, in as many steps as removals.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { CountedRemoval } from "../../../src/controller/model/actions.ts";
import { EVERYWHERE, RecentRemovals } from "../../../src/controller/state/recent-removals.ts";

const removal = (over: Partial<CountedRemoval> = {}): CountedRemoval => ({
  namespace: "team-a",
  source: "Secret shared/one",
  countedAs: "everywhere",
  byEdit: true,
  vanished: undefined,
  ...over,
});

test("removals count until they are older than the hold", () => {
  const recent = new RecentRemovals();
  recent.add(removal(), 0);
  recent.add(removal({ countedAs: "namespace" }), 1000);
  recent.add(removal({ byEdit: false }), 2000);
  recent.forget(0);
  assert.deepEqual([recent.byAccount.get(EVERYWHERE), recent.size], [2, 3]);
  assert.equal(recent.byAccount.get("team-a"), 1);
  assert.equal(recent.ofSource("Secret shared/one"), 1);
  recent.forget(1001);
  assert.deepEqual([recent.byAccount.get(EVERYWHERE), recent.size], [1, 1]);
  assert.equal(recent.byAccount.has("team-a"), false);
  assert.equal(recent.ofSource("Secret shared/one"), 0);
  recent.forget(2001);
  assert.deepEqual([recent.byAccount.size, recent.size], [0, 0]);
});

test("outdated removals are passed over, and copied away only when they are most of the list (B13)", () => {
  const recent = new RecentRemovals();
  let copies = 0;
  for (let at = 0; at < 120_000; at++) {
    recent.add(removal(), at);
    const kept = recent.kept;
    recent.forget(at - 20_000);
    if (recent.kept < kept) copies++;
    assert.ok(recent.kept <= 2 * recent.size + 1024);
  }
  assert.ok(copies <= 10, `${copies} copies of the list`);
  recent.forget(120_000);
  assert.deepEqual([recent.size, recent.byAccount.size], [0, 0]);
});
