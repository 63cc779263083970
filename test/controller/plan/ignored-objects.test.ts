// Annotations of ours that have no effect where they stand: found, counted, and reported with what to do.
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  IGNORED_HEADLINES,
  IGNORED_REASONS,
  ignoredText,
} from "../../../src/controller/annotations/ignored.ts";
import type { IgnoredReport } from "../../../src/controller/model/verdicts.ts";
import { refText } from "../../../src/text/names.ts";
import { Cluster, globs } from "../../support/planner/planner-cluster.ts";

function cluster(): Cluster {
  return new Cluster().withNamespaces("shared", "team-a", "team-b");
}

function counted({ counts }: IgnoredReport): Readonly<Record<string, number>> {
  return Object.fromEntries(Object.entries(counts).filter(([, count]) => count > 0));
}

test("each annotation without effect is counted under its reason with the remedy", () => {
  const made = cluster();
  made.secret("shared/good", { to: "team-*", name: "copied", keys: "*" });
  made.secret("shared/offer", { allow: "team-*" });
  made.settle();
  made.annotate("team-a/copied", { paused: "true" });
  made.secret("team-a/published", { to: "*" });
  made.secret("team-a/half", { "on-delete": "keep" });
  made.secret("shared/asks-nothing", { keys: "a" });
  made.secret("team-a/pulls", { from: "shared/offer", paused: "true" });
  made.secret("team-a/adopts", { adopt: "nonsense" });
  made.secret("team-a/accepts", { accept: "true" });
  made.secret("team-a/unknown", { "too-much": "x" });
  made.secret("team-a/pasted", { source: "shared/good", "placed-at": "team-b/copied" });
  made.namespace("team-c", { accept: "sometimes" });
  const { ignored } = made.settle();
  assert.deepEqual(counted(ignored), {
    namespace: 2,
    incomplete: 1,
    pull: 1,
    copy: 1,
    adopt: 1,
    unknown: 2,
    marks: 1,
    accept: 1,
  });
  const reported = new Map(
    ignored.sample.map((one) => [refText(one.object), ignoredText(one.kind, one.ignored)]),
  );
  assert.match(reported.get("shared/asks-nothing") ?? "", /io\/keys has no effect without to,/);
  assert.match(
    reported.get("team-a/pasted") ?? "",
    /io\/source has no effect here: this is no copy/,
  );
  for (const reason of IGNORED_REASONS) assert.ok(IGNORED_HEADLINES[reason]);
});

test("sources, pulls, copies, offers and refused objects are not without effect", () => {
  const made = cluster();
  made.secret("shared/good", { to: "team-*" });
  made.secret("shared/wrong", { to: "team-*", too: "x" });
  made.secret("shared/token", { to: "*" }, { type: "kubernetes.io/service-account-token" });
  made.secret("shared/offer", { allow: "team-*", "allow-selector": "a=b" });
  made.secret("team-a/pulls", { from: "shared/offer", keys: "*", "on-delete": "keep" });
  made.secret("team-a/was-filled", {
    "placed-at": "team-a/was-filled",
    "source-uid": "u",
    "source-version": "1",
  });
  made.secret("team-a/adopts", { adopt: "shared/elsewhere" });
  made.secret("team-a/plain");
  const { ignored, sources } = made.settle();
  assert.deepEqual(counted(ignored), {});
  assert.deepEqual(ignored.sample, []);
  const refused = sources
    .filter(({ state }) => state === "refused")
    .map(({ source }) => source.name);
  assert.deepEqual(refused.toSorted(), ["token", "wrong"], "what is refused is told as refused");
});

test("six thousand objects of one namespace are a count and the last five", () => {
  const made = cluster();
  for (let n = 0; n < 6000; n++) made.secret(`team-a/spam-${n}`, { to: "*" });
  made.secret("team-b/honest", { to: "*" });
  const { ignored } = made.plan();
  assert.equal(ignored.counts.namespace, 6001);
  assert.deepEqual(ignored.sample.map(({ object }) => refText(object)).toSorted(), [
    "team-a/spam-5995",
    "team-a/spam-5996",
    "team-a/spam-5997",
    "team-a/spam-5998",
    "team-a/spam-5999",
    "team-b/honest",
  ]);
});

test("of however many namespaces, at most five hundred Secrets are kept by name", () => {
  const made = new Cluster({ sourceNamespaces: globs("shared") });
  for (let n = 0; n < 200; n++) {
    made.namespace(`team-${n}`);
    for (let m = 0; m < 4; m++) made.secret(`team-${n}/spam-${m}`, { to: "*" });
  }
  const { ignored } = made.plan();
  assert.equal(ignored.counts.namespace, 800);
  assert.equal(ignored.sample.length, 500);
});

test("an unmanaged object that is ignored keeps no text of its own", () => {
  const made = cluster();
  made.secret("team-a/one", { to: "x".repeat(5000), keys: "y".repeat(5000) });
  made.secret("team-a/two", { to: "z" });
  const [one, two] = [made.cached("team-a/one"), made.cached("team-a/two")];
  assert.ok(one.ignored);
  assert.equal(one.ignored, two.ignored, "one object for all of a reason and a word");
  assert.ok(JSON.stringify(one).length < 300);
});
