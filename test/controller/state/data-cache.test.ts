// The data of sources within a number of bytes.
import assert from "node:assert/strict";
import { test } from "node:test";
import { SecretData } from "../../../src/controller/model/secret-data.ts";
import { DataCache } from "../../../src/controller/state/data-cache.ts";
import type { SourcePayload } from "../../../src/controller/model/cluster.ts";
import { KINDS } from "../../../src/controller/model/kinds.ts";

function payload(bytes: number): SourcePayload {
  const data = new SecretData(KINDS.Secret, { key: "x".repeat(bytes) });
  return { data, labels: {}, annotations: {}, copiedKeys: "" };
}

const version = (uid: string, resourceVersion = "1") => ({ uid, resourceVersion });

test("what was unused the longest goes first, and the bytes are never above the most", () => {
  const cache = new DataCache(100_000);
  for (const uid of ["a", "b", "c"]) cache.put(version(uid), payload(30_000));
  assert.ok(cache.get(version("a")));
  cache.put(version("d"), payload(30_000));
  assert.ok(cache.bytes <= 100_000);
  const held = ["a", "b", "c", "d"].filter((uid) => cache.get(version(uid)));
  assert.deepEqual(held, ["a", "c", "d"]);
  for (let at = 0; at < 1000; at++) {
    cache.put(version(`${at}`), payload(at * 150));
    assert.ok(cache.bytes <= 100_000);
  }
});

test("the cache keeps one version of a source in place of the one before", () => {
  const cache = new DataCache(10_000);
  cache.put(version("a"), payload(100));
  const alone = cache.bytes;
  cache.put(version("a", "2"), payload(100));
  assert.equal(cache.bytes, alone);
  assert.equal(cache.get(version("a")), undefined);
  assert.ok(cache.get(version("a", "2")));
  cache.put(version("a", "3"), payload(20_000));
  assert.equal(cache.versionOf("a"), undefined);
  assert.equal(cache.bytes, 0);
});
