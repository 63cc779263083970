import assert from "node:assert/strict";
import { test } from "node:test";
import {
  controllerOf,
  controllerReference,
  enqueueKeys,
  objectKey,
  splitKey,
  wholeObject,
} from "./whole-object.ts";

const raw = (name: string, namespace?: string, version = "1") => ({
  metadata: { name, uid: `uid-${name}`, resourceVersion: version, ...(namespace && { namespace }) },
  spec: { replicas: 1 },
});

test("IN-33 a key is namespace/name, or the name alone, and comes apart again", () => {
  const pod = wholeObject(raw("web-0", "shop"));
  const node = wholeObject(raw("node-1"));
  assert.deepEqual([objectKey(pod), objectKey(node)], ["shop/web-0", "node-1"]);
  assert.deepEqual(splitKey("shop/web-0"), ["shop", "web-0"]);
  assert.deepEqual(splitKey("node-1"), ["", "node-1"]);
});

test("a whole object is the server's own, under the fields of a cache", () => {
  const given = raw("web-0", "shop");
  const { object, ...kept } = wholeObject(given);
  assert.equal(object, given);
  const expected = { namespace: "shop", name: "web-0", uid: "uid-web-0", resourceVersion: "1" };
  assert.deepEqual(kept, expected);
});

test("CL-02 a handler enqueues the keys before and after a change, and once in a resync", () => {
  const added: string[] = [];
  const handler = enqueueKeys<{ readonly keys: readonly string[] }>(
    ({ keys }) => keys,
    (key) => added.push(key),
  );
  const before = { keys: ["a", "b"] };
  handler.add?.(before, true, false);
  handler.update?.(before, { keys: ["b", "c"] }, false);
  handler.update?.(before, before, false);
  handler.delete?.(before, { finalStateUnknown: true, ownWrite: false });
  assert.deepEqual(added, ["a", "b", "a", "b", "b", "c", "a", "b", "a", "b"]);
});

test("the controller of an object is the one owner that says so, whatever stands there", () => {
  const owner = raw("web", "shop");
  const reference = controllerReference(owner, "apps/v1", "Deployment");
  const of = (ownerReferences: unknown) =>
    controllerOf({ metadata: { ...raw("x", "shop").metadata, ownerReferences } });
  assert.equal(of([{ ...reference, controller: false }, reference])?.uid, "uid-web");
  for (const nothing of [undefined, null, "text", [], [{ ...reference, controller: false }]])
    assert.equal(of(nothing), undefined);
});
