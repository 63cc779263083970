// Which word was meant by a mistyped one.
import assert from "node:assert/strict";
import { test } from "node:test";
import { nearest } from "../../../src/cli/completion/nearest.ts";

const WORDS = ["status", "start", "all-namespaces", "namespace", "namespaces", "wait", "o"];

test("a letter left out, too many, another, or two that changed places is one slip", () => {
  for (const typed of ["statu", "statuss", "statis", "sattus", "tsatus"])
    assert.equal(nearest(typed, WORDS), "status", typed);
});

test("the one with the fewest slips is meant, of equal ones the first", () => {
  assert.equal(nearest("namespcaes", WORDS), "namespaces");
  assert.equal(nearest("namespac", WORDS), "namespace");
  assert.equal(nearest("starus", WORDS), "status");
});

test("the beginning of only one word means that word, and a shared one none", () => {
  assert.equal(nearest("all", WORDS), "all-namespaces");
  assert.equal(nearest("sta", WORDS), undefined);
  assert.equal(nearest("a", WORDS), undefined);
});

test("what is like nothing is nothing, however long it is", () => {
  assert.equal(nearest("frobnicate", WORDS), undefined);
  assert.equal(nearest("", WORDS), undefined);
  assert.equal(nearest("x", WORDS), undefined);
  assert.equal(nearest("status".repeat(100_000), WORDS), undefined);
});
