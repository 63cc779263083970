// The store under the sandbox: order, versions, and past states.
import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import type { StoredObject } from "./object.ts";
import { Storage, countFrom, keysFrom } from "./storage.ts";
import type { Collection, StorageView } from "./storage.ts";

function object(name: string): StoredObject {
  const metadata = { name, uid: "", resourceVersion: "", creationTimestamp: "" };
  return { apiVersion: "v1", kind: "Secret", metadata };
}

function shown(view: StorageView | undefined): string[] | undefined {
  return view?.keys().map((key) => {
    const version = view.objects.get(key)?.metadata.resourceVersion;
    return `${key}@${version}`;
  });
}

const keys = fc.constantFrom("a/x", "a/y", "a-b/x", "a0/x", "b/x", "b/y");
const steps = fc.array(fc.record({ key: keys, remove: fc.boolean() }), { maxLength: 40 });

function take(collection: Collection, step: { key: string; remove: boolean }): void {
  if (step.remove) collection.remove(step.key);
  else collection.put(step.key, object(step.key));
}

test("every past state can be seen again, in order of keys", () => {
  fc.assert(
    fc.property(steps, (all) => {
      const storage = new Storage(1000);
      const collection = storage.collection("secrets");
      const states = all.map((step) => {
        take(collection, step);
        return { version: storage.version, view: shown(collection.view()) };
      });
      for (const { version, view } of states) {
        assert.deepEqual(shown(collection.viewAt(version)), view);
        assert.deepEqual(view, view?.toSorted());
      }
    }),
  );
});

test("a stretch of keys is one namespace from one key on", () => {
  fc.assert(
    fc.property(steps, fc.constantFrom("", "a/", "a-b/", "b/"), keys, (all, prefix, start) => {
      const collection = new Storage(1000).collection("secrets");
      for (const step of all) take(collection, step);
      const view = collection.view();
      const expected = view.keys().filter((key) => key.startsWith(prefix) && key >= start);
      assert.deepEqual([...keysFrom(view, prefix, start)], expected);
      if (start.startsWith(prefix)) assert.equal(countFrom(view, prefix, start), expected.length);
    }),
  );
});

test("each write has a version of its own, over all collections", () => {
  const storage = new Storage(10);
  const first = storage.collection("secrets").put("a/x", object("x"));
  const second = storage.collection("events").put("a/x", object("x"));
  const versions = [first, second].map(({ metadata }) => Number(metadata.resourceVersion));
  assert.deepEqual(versions, [storage.version - 1, storage.version]);
});

test("what is forgotten cannot be seen again", () => {
  const storage = new Storage(10);
  const collection = storage.collection("secrets");
  collection.put("a/x", object("x"));
  const { version } = storage;
  collection.put("a/y", object("y"));
  storage.compact();
  assert.equal(collection.viewAt(version), undefined);
  assert.equal(collection.changesAfter(version), undefined);
  assert.deepEqual(collection.changesAfter(storage.version), []);
});
