// Of an object with more labels than anybody reads only the beginning is parsed, and our own keys.
import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { MOST_MEMBERS, narrow } from "./narrow.ts";
import { propertyRuns } from "../testing/extent.ts";

const KEEPS = ["example.com/", "managed-by"];
const many = (count: number, value: unknown = ""): Record<string, unknown> =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [`k${at}`, value]));

function narrowed(value: unknown, space?: number): unknown {
  return JSON.parse(narrow(JSON.stringify(value, undefined, space), KEEPS));
}

test("a map with too many members keeps the first ones and the requested keys", () => {
  const labels = { ...many(5000), "example.com/to": "*", z: "", "managed-by": "us", zz: "" };
  const event = { type: "ADDED", object: { metadata: { labels, name: "a" }, data: { a: "b" } } };
  for (const space of [0, 2]) {
    const { type, object } = narrowed(event, space) as typeof event;
    assert.equal(type, "ADDED");
    assert.deepEqual(object.data, { a: "b" });
    assert.equal(object.metadata.name, "a");
    assert.deepEqual(object.metadata.labels, {
      ...many(MOST_MEMBERS),
      "example.com/to": "*",
      "managed-by": "us",
    });
  }
});

test("keys that are asked for cannot be so many that they take long", () => {
  const labels = Object.fromEntries(
    Array.from({ length: 9000 }, (_, at) => [`example.com/${at}`, ""]),
  );
  const { length } = Object.keys(narrowed(labels) as object);
  assert.equal(length, MOST_MEMBERS + 100);
});

test("long lists of managers and owners are left out, unlike labels of those names", () => {
  const fields = { "f:metadata": many(3000, {}) };
  const object = {
    metadata: {
      labels: { a: "b", managedFields: "mine" },
      managedFields: [{ manager: "x", fieldsV1: fields }],
      ownerReferences: Array.from({ length: 1000 }, (_, at) => ({ uid: `owner-${at}` })),
      name: "n",
    },
    data: many(2000, "x"),
  };
  const { labels, name } = object.metadata;
  assert.deepEqual(narrowed(object), { metadata: { labels, name }, data: object.data });
});

test("the owners of an object in a long list are read while they are few", () => {
  const ownerReferences = [{ kind: "Widget", name: "w", uid: "1", controller: true }];
  const item = { metadata: { name: "n", ownerReferences }, data: { token: "x" } };
  const list = { kind: "SecretList", items: Array.from({ length: 500 }, () => item) };
  assert.deepEqual(narrowed(list), list);
});

test("the manager of a large object is read while the API server's list is short", () => {
  const object = {
    metadata: { name: "n", managedFields: [{ manager: "kubectl-edit", fieldsV1: many(100, {}) }] },
    data: many(2000, "x"),
  };
  assert.deepEqual(narrowed(object), object);
  assert.deepEqual(narrowed({ type: "MODIFIED", object }), { type: "MODIFIED", object });
  const table = { rows: [{ cells: [1], object: { metadata: object.metadata } }] };
  assert.deepEqual(narrowed({ ...table, data: object.data }), { ...table, data: object.data });
  const nested = { a: { b: { c: { d: { e: { f: "1", managedFields: [{ manager: "x" }] } } } } } };
  assert.deepEqual(narrowed({ ...nested, data: object.data }), {
    a: { b: { c: { d: { e: { f: "1" } } } } },
    data: object.data,
  });
});

test("lists stay whole, however long", () => {
  const list = { items: Array.from({ length: 5000 }, (_, at) => ({ name: `${at}`, more: [at] })) };
  assert.deepEqual(narrowed(list), list);
});

test("what is no JSON stays as it is", () => {
  const long = JSON.stringify(many(9000));
  for (const text of [long.slice(0, -1), long.slice(0, -2), `${long}}`, "}".repeat(20_000)])
    assert.equal(narrow(text, KEEPS), text);
});

// Long enough that it is looked at, whatever else it holds.
const PADDING = { padding: "p".repeat(20_000) };

test("an object without large maps stays as it is, whatever its texts hold", () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 4 }), fc.constantFrom(0, 1), (value, space) => {
      const whole = [value, PADDING, value];
      assert.deepEqual(narrowed(whole, space), JSON.parse(JSON.stringify(whole)));
    }),
    { numRuns: propertyRuns },
  );
});

test("whatever stands in and around a large map, its first members and all else stay", () => {
  const key = fc.oneof(
    fc.string(),
    fc.constantFrom('"', "\\", '\\"', "{", "example.com/x", "}", ",", ":", "a:", ""),
  );
  const some = fc.oneof(key, fc.jsonValue({ maxDepth: 2 }));
  const texts = fc.dictionary(key, some, { maxKeys: 20 });
  fc.assert(
    fc.property(texts, fc.jsonValue(), fc.constantFrom(0, 1), (extra, value, space) => {
      const large = { ...many(MOST_MEMBERS), ...extra };
      const first = Object.entries(large);
      const kept = first.filter(
        ([name], at) => at < MOST_MEMBERS || KEEPS.some((start) => name.startsWith(start)),
      );
      const parsed = narrowed({ value, large, after: value }, space);
      const same = JSON.parse(
        JSON.stringify({ value, large: Object.fromEntries(kept), after: value }),
      );
      assert.deepEqual(parsed, same);
    }),
    { numRuns: propertyRuns },
  );
});
