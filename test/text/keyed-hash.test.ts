// The hash of tables whose texts users choose.
import assert from "node:assert/strict";
import { test } from "node:test";
import { keyedHash, randomHashKey } from "../../src/text/keyed-hash.ts";

const texts = Array.from({ length: 20_000 }, (_, at) => `Secret team-${at}/registry`);

test("equal texts have equal hashes, and almost all other texts other ones", () => {
  const key = randomHashKey();
  const hashes = new Set(texts.map((text) => keyedHash(text, key)));
  assert.ok(hashes.size > texts.length - 10);
  for (const text of texts.slice(0, 100)) assert.ok(hashes.has(keyedHash(text, key)));
});

test("texts that fall into one bucket under one key are spread under another", () => {
  const [known, secret] = [[7, 9] as const, [8, 9] as const];
  const chosen = texts.filter((text) => (keyedHash(text, known) & 63) === 0);
  const buckets = new Set(chosen.map((text) => keyedHash(text, secret) & 63));
  assert.ok(buckets.size > 55, `${chosen.length} texts in ${buckets.size} buckets`);
});

test("a text and its beginnings, and characters beyond one byte, have hashes of their own", () => {
  const key = [1, 2] as const;
  const like = ["", "\0", "\0\0", "a", "a\0", "ab", "ab\0", "abc", "a\u0162", "\u6261", "ba"];
  assert.equal(new Set(like.map((text) => keyedHash(text, key))).size, like.length);
});
