// What is learned of who is at a place that the cache shows empty: what the next sync starts from.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { CachedObject } from "../../../src/controller/model/cluster.ts";
import { recordOutcome, type WrittenCaches } from "../../../src/controller/writes/outcome.ts";
import { Cluster } from "../../support/planner/planner-cluster.ts";

const PLACE = "team-a/registry";
const NOW = 1000;

/** A create, or a later look at its place, met `met` (undefined: nobody): what is known of the place then. */
function afterMeeting(met: CachedObject | undefined, kind: "create" | "liveGet") {
  const made = new Cluster().withNamespaces("shared", "team-a");
  made.secret("shared/registry", { to: "*" });
  const [create] = made.plan().actions;
  assert.equal(create?.kind, "create");
  const { content: _, ...write } = create;
  const action = kind === "create" ? create : ({ ...write, kind } as const);
  const remembered: unknown[] = [];
  const cache = {
    get: () => undefined,
    read: () => met,
    remember: (raw: unknown) => {
      remembered.push(raw);
      return met;
    },
    forget: () => undefined,
  };
  const caches: WrittenCaches = {
    of: () => cache,
    namespace: () => undefined,
    rememberNamespace: () => undefined,
    forgetNamespace: () => undefined,
    namespaceRefused: () => undefined,
  };
  const { memories: memory } = made;
  // A look comes after somebody was met.
  if (kind === "liveGet") made.memory.places.uncached(PLACE, 0, 0);
  const outcome = { kind: "found", action, object: met && { metadata: {} } } as const;
  recordOutcome(outcome, { memory, caches, now: NOW, random: 0 });
  return {
    remembered: remembered.length,
    uncached: made.memory.places.uncachedAt(PLACE) !== undefined,
    again: made.memory.places.placeBackoff(PLACE, create.decisionKey)?.kind,
  };
}

function cachedAt(place: string): CachedObject {
  const made = new Cluster().withNamespaces("shared", "team-a");
  made.secret("shared/registry", { to: "*" });
  made.secret("team-a/stranger", {});
  made.settle();
  return made.cached(place);
}

for (const kind of ["create", "liveGet"] as const) {
  test(`a copy of our own that a ${kind} meets goes into the cache`, () => {
    assert.deepEqual(afterMeeting(cachedAt(PLACE), kind), {
      remembered: 1,
      uncached: kind === "liveGet",
      again: "stale",
    });
  });

  test(`an unmanaged Secret that a ${kind} meets stays out of the cache`, () => {
    const after = afterMeeting(cachedAt("team-a/stranger"), kind);
    assert.deepEqual(after, { remembered: 0, uncached: true, again: undefined });
  });
}

test("a place without an object after all is free and retried", () => {
  const free = { remembered: 0, uncached: false, again: undefined };
  assert.deepEqual(afterMeeting(undefined, "liveGet"), free);
  assert.deepEqual(afterMeeting(undefined, "create"), { ...free, again: "stale" });
});
