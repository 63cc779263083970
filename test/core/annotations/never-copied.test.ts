// Keys that are never copied, and what --copyable-keys lets go of them.
import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import {
  isNeverCopied,
  isNeverReleased,
  mayBeCopied,
  NEVER_RELEASED,
  parseCopyableKeys,
} from "../../../src/core/annotations/never-copied.ts";

const PROTECTED = [
  "secretcast.io/to",
  "secretcast.io/placed-at",
  "kubectl.kubernetes.io/last-applied-configuration",
  "app.kubernetes.io/managed-by",
];

test("the additions to the list: a tool's key without a slash, and two tools' domains", () => {
  for (const key of ["clustersecret.io", "kopf.zalando.org/last-handled", "projection.sh/owned-by"])
    assert.equal(isNeverCopied(key), true, key);
  for (const key of ["clustersecret", "xclustersecret.io", "zalando.org/team", "projection.sh"])
    assert.equal(isNeverCopied(key), false, key);
});

test("what never comes off the list is on it", () => {
  for (const glob of NEVER_RELEASED) assert.equal(isNeverCopied(glob), true, glob);
  for (const key of PROTECTED) assert.ok(isNeverCopied(key) && isNeverReleased(key), key);
  for (const key of ["secretcast.io", "app.kubernetes.io/instance", "kubernetes.io/x"])
    assert.equal(isNeverReleased(key), false, key);
});

test("no value of --copyable-keys that is taken lets our keys, kubectl's or the managed-by label go", () => {
  const parts = fc.constantFrom(
    "*",
    "?",
    "secretcast",
    "kubectl",
    "app",
    ".",
    "kubernetes",
    "io",
    "o",
  );
  const half = fc.array(parts, { minLength: 1, maxLength: 6 }).map((all) => all.join(""));
  const entry = fc.oneof(
    half,
    fc.tuple(half, half).map((both) => both.join("/")),
  );
  fc.assert(
    fc.property(fc.array(entry, { minLength: 1, maxLength: 4 }), (entries) => {
      const list = parseCopyableKeys(entries);
      if (!list.ok) return;
      for (const key of PROTECTED) assert.equal(mayBeCopied(key, list.value), false, key);
    }),
    { numRuns: 2000 },
  );
  const all = parseCopyableKeys(["*", "*/*"]);
  assert.ok(all.ok);
  for (const key of PROTECTED) assert.equal(mayBeCopied(key, all.value), false, key);
  assert.equal(mayBeCopied("argocd.argoproj.io/secret-type", all.value), true);
  assert.equal(mayBeCopied("owner", all.value), true);
});

test("only what the globs name comes off the list, and a ! glob keeps some of it on", () => {
  const list = parseCopyableKeys(["argocd.argoproj.io/*", "!argocd.argoproj.io/tracking-id"]);
  assert.ok(list.ok);
  assert.equal(mayBeCopied("argocd.argoproj.io/secret-type", list.value), true);
  assert.equal(mayBeCopied("argocd.argoproj.io/tracking-id", list.value), false);
  assert.equal(mayBeCopied("helm.sh/chart", list.value), false);
  assert.equal(mayBeCopied("example.com/team", list.value), true);
  assert.equal(mayBeCopied("argocd.argoproj.io/secret-type", undefined), false);
});
