import assert from "node:assert/strict";
import { test } from "node:test";
import { outdatedSince } from "../../src/page/freshness.ts";
import { connected } from "../support/browser/status-stage.ts";

const NOW = 1_000_000_000;
const SECOND = 1000;

test("the page is out of date from the moment of a disconnection", () => {
  const secrets = connected("secrets", NOW - 40 * SECOND);
  const namespaces = connected("namespaces", NOW - 10 * SECOND);
  assert.equal(outdatedSince(NOW, [secrets, namespaces], undefined), undefined);
  const cut = { ...namespaces, disconnectedMs: NOW - 9 * SECOND };
  assert.deepEqual(outdatedSince(NOW, [secrets, cut], undefined), {
    sinceMs: NOW - 9 * SECOND,
    asOfMs: NOW - 10 * SECOND,
  });
  const both = [{ ...secrets, disconnectedMs: NOW - 8 * SECOND }, cut];
  assert.deepEqual(outdatedSince(NOW, both, undefined), {
    sinceMs: NOW - 9 * SECOND,
    asOfMs: NOW - 40 * SECOND,
  });
});

test("a cache that is not filled yet is not out of date", () => {
  const empty = { ...connected("secrets", NOW), filled: false, disconnectedMs: NOW - 60 * SECOND };
  assert.equal(outdatedSince(NOW, [empty], NOW - 60 * SECOND), undefined);
});

test("a connection that died silently is found by the API server's silence", () => {
  const quiet = connected("secrets", NOW - 60 * SECOND);
  const heard = connected("namespaces", NOW);
  const away = NOW - 20 * SECOND;
  assert.deepEqual(outdatedSince(NOW, [quiet, heard], away), {
    sinceMs: away,
    asOfMs: NOW - 60 * SECOND,
  });
  assert.equal(outdatedSince(NOW, [heard], away), undefined, "it is heard");
  assert.equal(outdatedSince(NOW, [quiet], NOW - 4 * SECOND), undefined, "one answer failed");
  const silent = connected("secrets", NOW - 180 * SECOND);
  assert.deepEqual(outdatedSince(NOW, [silent, heard], undefined), {
    sinceMs: NOW - 180 * SECOND,
    asOfMs: NOW - 180 * SECOND,
  });
});
