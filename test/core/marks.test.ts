// Whether a Secret is ours, by its marks.
import assert from "node:assert/strict";
import { test } from "node:test";
import { marksOf } from "../../src/core/replica.ts";

const PLACE = { namespace: "team-a", name: "registry" };
const LABELS = { "app.kubernetes.io/managed-by": "secretcast" };
const ANNOTATIONS = {
  "secretcast.io/source": "infra/registry",
  "secretcast.io/source-uid": "u-1",
  "secretcast.io/placed-at": "team-a/registry",
  "secretcast.io/source-version": "17",
};

test("S20 a Secret that lacks one of the four marks, or has one that is not so, is a stranger's", () => {
  assert.ok(marksOf(PLACE, LABELS, ANNOTATIONS));
  assert.equal(marksOf(PLACE, {}, ANNOTATIONS), undefined);
  for (const [word, bad] of [
    ["source", ""],
    ["source", "registry"],
    ["source", "infra/registry/x"],
    ["source", "team-a/other"],
    ["source-uid", ""],
    ["placed-at", ""],
    ["placed-at", "team-b/registry"],
    ["placed-at", "team-a/renamed"],
  ] as const) {
    const annotations = { ...ANNOTATIONS, [`secretcast.io/${word}`]: bad };
    assert.equal(marksOf(PLACE, LABELS, annotations), undefined, `${word}: "${bad}"`);
  }
});

test("S25 a source-version that no API server gives out counts as none, so that it is restored", () => {
  for (const bad of ["tampered", "", "0", "-1", "1.5", "1e9", " 17", "1".repeat(21)]) {
    const annotations = { ...ANNOTATIONS, "secretcast.io/source-version": bad };
    assert.equal(marksOf(PLACE, LABELS, annotations)?.sourceVersion, "", `"${bad}"`);
  }
  assert.equal(marksOf(PLACE, LABELS, ANNOTATIONS)?.sourceVersion, "17");
});
