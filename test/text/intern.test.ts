import assert from "node:assert/strict";
import { test } from "node:test";
import { createIntern, createShare } from "../../src/text/intern.ts";

type Value = { readonly of: string };

/** How many of the keys are still known. */
function known(share: (key: string, value: Value) => Value, keys: readonly string[]): number {
  return keys.filter((of) => share(of, { of: "anew" }).of !== "anew").length;
}

const keys = (count: number, of: string): readonly string[] =>
  Array.from({ length: count }, (_, at) => `${of}-${at}`);

test("equal texts become one, and equal keys the first value", () => {
  const intern = createIntern();
  const [one, other] = [["a", "b"].join(""), ["a", "b"].join("")];
  assert.equal(intern(one), intern(other));
  const share = createShare<Value>();
  const first = { of: "first" };
  assert.equal(share("key", first), first);
  assert.equal(share("key", { of: "second" }), first);
});

test("unused names are forgotten in a small cluster, and used ones stay", () => {
  const share = createShare<Value>(() => 100);
  const live = keys(100, "live");
  for (const of of live) share(of, { of });
  const dead = keys(130_000, "dead");
  for (const [at, of] of dead.entries()) {
    share(of, { of });
    const asked = live[at % live.length] ?? "";
    share(asked, { of: asked });
  }
  assert.equal(known(share, live), live.length);
  assert.ok(known(share, dead.slice(-2000).toReversed()) <= 1000);
});

test("in a large cluster the texts of all its objects are kept", () => {
  const share = createShare<Value>(() => 5000);
  const live = keys(20_000, "live");
  for (const of of live) share(of, { of });
  assert.equal(known(share, live), live.length);
});

test("before anybody knows how many objects there are, all are kept up to the bound", () => {
  const share = createShare<Value>(() => Number.POSITIVE_INFINITY);
  const live = keys(25_000, "live");
  for (const of of live) share(of, { of });
  assert.equal(known(share, live), live.length);
  for (const of of keys(50_001, "more")) share(of, { of });
  assert.equal(known(share, live), 0);
});
