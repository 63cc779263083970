// Whose write has waited long is not overtaken for ever.
import assert from "node:assert/strict";
import { test } from "node:test";
import { FirstSeen } from "../../../src/controller/state/first-seen.ts";
import { keyedHash } from "../../../src/text/keyed-hash.ts";
import { Cluster } from "../../support/planner/planner-cluster.ts";

test("a place keeps its time while each sync asks for it", () => {
  const ages = new FirstSeen();
  const places = Array.from({ length: 10_000 }, (_, n) => `team-${n}/registry`);
  for (const now of [1000, 2000, 3000]) {
    ages.beginSync();
    const since = places.map((place) => ages.since(place, now));
    assert.ok(since.filter((at) => at === 1000).length > 9990);
  }
  ages.beginSync();
  ages.beginSync();
  assert.equal(ages.since("team-1/registry", 4000), 4000);
});

// The hash of the table before, which had no key.
function fnv1a(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return (hash ^ (hash >>> 15)) >>> 0;
}

// A look-up ends after a fixed number of slots, so an age that is kept was found in a few steps.
test("names with equal hashes keep their times within a bounded number of steps", () => {
  const slots = 2 ** 13;
  const chosen: string[] = [];
  for (let at = 0; chosen.length < 3000; at++) {
    const place = `Secret tenant/n${at}`;
    if ((fnv1a(place) & (slots - 1)) < 64) chosen.push(place);
  }
  const ages = new FirstSeen();
  for (const now of [1000, 2000]) {
    ages.beginSync();
    const kept = chosen.filter((place) => ages.since(place, now) === 1000);
    assert.ok(kept.length > 2990, `${kept.length} of ${chosen.length} at ${now}`);
  }
});

test("a table without a secret key forgets ages instead of searching for long", () => {
  const key = [1, 2] as const;
  const chosen: string[] = [];
  for (let at = 0; chosen.length < 1000; at++) {
    const place = `Secret tenant/n${at}`;
    if ((keyedHash(place, key) & 2047) < 4) chosen.push(place);
  }
  const ages = new FirstSeen(1, key);
  ages.beginSync();
  for (const place of chosen) ages.since(place, 1000);
  ages.beginSync();
  const kept = chosen.filter((place) => ages.since(place, 2000) === 1000);
  assert.ok(kept.length < 300, `${kept.length} ages were found`);
});

test("a write due for three seconds alternates with younger ones, deletes included", () => {
  const made = new Cluster();
  for (const [at, name] of ["shared", "team-a", "team-b", "team-c"].entries())
    made.namespace(name, {}, {}, at);
  made.secret("shared/old", { to: "team-*" });
  made.settle();
  made.annotate("shared/old", { to: "team-c" });
  made.settings = { ...made.settings, deleteGraceMs: 0 };
  const order = (): readonly string[] =>
    made
      .plan()
      .actions.filter(({ kind }) => kind !== "confirm")
      .map(({ kind, place }) => `${kind} ${place.namespace}/${place.name}`);
  made.now += 60_000;
  made.settle(1 + 20);
  made.secret("shared/new", { to: "team-*" });
  made.secret("team-b/forged", {});
  const first = order();
  assert.deepEqual(first, ["create team-c/new", "create team-b/new", "create team-a/new"]);
  made.now += 3000;
  made.namespace("team-d", {}, {}, 9);
  assert.deepEqual(order(), [
    "create team-d/new",
    "create team-c/new",
    "create team-b/new",
    "create team-a/new",
  ]);
  for (const name of ["x", "y", "z"]) made.secret(`shared/${name}`, { to: "team-d" });
  const mixed = order();
  assert.equal(mixed[0], "create team-d/new", "the youngest namespace is not held up");
  assert.ok(mixed.indexOf("create team-c/new") === 1, mixed.join());
  assert.ok(mixed.indexOf("create team-b/new") === 3, mixed.join());
});
