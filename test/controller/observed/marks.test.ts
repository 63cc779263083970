// Whether a Secret is ours, by its marks.
import { whyOf } from "../../support/planner/why-of.ts";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  annotationKey,
  annotationsOn,
  isMark,
} from "../../../src/controller/annotations/vocabulary.ts";
import { marksOf } from "../../../src/controller/observed/read-copy.ts";
import { Cluster, globs } from "../../support/planner/planner-cluster.ts";

const PLACE = { namespace: "team-a", name: "registry" };
const LABELS = { "app.kubernetes.io/managed-by": "secretcast" };
const ANNOTATIONS = {
  "secretcast.io/source": "infra/registry",
  "secretcast.io/source-uid": "u-1",
  "secretcast.io/placed-at": "team-a/registry",
  "secretcast.io/source-version": "17",
};

test("a Secret with a missing or faulty mark is unmanaged", () => {
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

test("an impossible source-version counts as none and is restored", () => {
  for (const bad of ["tampered", "", "0", "-1", "1.5", "1e9", " 17", "1".repeat(21)]) {
    const annotations = { ...ANNOTATIONS, "secretcast.io/source-version": bad };
    assert.equal(marksOf(PLACE, LABELS, annotations)?.sourceVersion, "", `"${bad}"`);
  }
  assert.equal(marksOf(PLACE, LABELS, ANNOTATIONS)?.sourceVersion, "17");
});

test("a copy with an unknown mark is frozen, whatever becomes of its source", () => {
  for (const end of [
    (made: Cluster) => made.delete("shared/one"),
    (made: Cluster) => void made.secret("shared/one", { to: "nowhere" }),
    (made: Cluster) => void made.secret("shared/one", { to: "*" }, { data: { key: "second" } }),
    (made: Cluster) => void made.namespace("team-a", { accept: "false" }),
    (made: Cluster) => void made.secret("other/one", { to: "*" }),
  ]) {
    const made = new Cluster({ sourceNamespaces: globs("other,shared") }).withNamespaces(
      "shared",
      "other",
      "team-a",
    );
    made.secret("shared/one", { to: "team-*" });
    made.settle();
    made.annotate("team-a/one", { "from-the-future": "wildcard-tls" });
    const before = made.get("team-a/one");
    made.now += 60_000;
    end(made);
    made.settle();
    assert.deepEqual(made.get("team-a/one"), before);
    const row = made.plan().rows.find(({ verdict }) => verdict === "frozen");
    assert.match(whyOf(row), /secretcast\.io\/from-the-future/);
  }
});

test("a mark that somebody changes is restored or makes the copy unmanaged", () => {
  for (const mark of annotationsOn("copy")) {
    // It changes with every version of the source; an impossible one is restored.
    if (mark === "source-version") continue;
    for (const value of ["changed", undefined]) {
      const made = new Cluster().withNamespaces("shared", "team-a");
      made.list({
        registry: 'secret: shared/one\nto: "team-*"\non-delete: keep\ncopy-labels: team',
      });
      made.secret("shared/one", {}, { labels: { team: "a" } });
      made.settle();
      const key = annotationKey(mark);
      const before = made.get("team-a/one");
      if (value === undefined && !(key in before.metadata.annotations)) continue;
      made.edit("team-a/one", ({ metadata }) => {
        if (value === undefined) delete metadata.annotations[key];
        else metadata.annotations[key] = value;
      });
      made.now += 600_000;
      const { rows } = made.plan();
      assert.equal(rows.length, 1, `${mark}: ${value}`);
    }
  }
});

test("the guardrail lets the controller write exactly the marks of the vocabulary", () => {
  const policy = readFileSync(
    join(import.meta.dirname, "../../../manifests/components/guardrail/policy.yaml"),
    "utf8",
  );
  const lists = Array.from(policy.matchAll(/key in \[([^\]]*)\]/g), ([, list = ""]) =>
    Array.from(list.matchAll(/'secretcast\.io\/([^']+)'/g), ([, name = ""]) => name).toSorted(),
  );
  const ofCopies = annotationsOn("copy").toSorted();
  const ofPulls = annotationsOn("pulling Secret").filter(isMark).toSorted();
  assert.deepEqual(lists, [ofPulls, ofPulls, ofCopies]);
});
