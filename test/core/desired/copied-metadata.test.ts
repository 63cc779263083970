// Labels and annotations of a copy: the source's, ours, and those of others.
import assert from "node:assert/strict";
import { test } from "node:test";
import { isNeverCopied, NEVER_COPIED } from "../../../src/core/desired/copied-metadata.ts";
import type { Given, RawSecret, Texts } from "../../support/planner/raw-cluster.ts";
import { Cluster } from "../../support/planner/planner-cluster.ts";

function copied(words: Texts, given: Given = {}): { made: Cluster; copy: RawSecret } {
  const made = new Cluster();
  for (const name of ["shared", "team-a"]) made.namespace(name);
  made.secret("shared/one", { to: "*", ...words }, given);
  made.settle();
  return { made, copy: made.get("team-a/one") };
}

test("S25 labels, annotations, owners and finalizers of others survive an update; ours are restored", () => {
  const { made } = copied(
    { "copy-labels": "team", "copy-annotations": "note" },
    { labels: { team: "x" } },
  );
  made.edit("team-a/one", ({ metadata }) => {
    metadata.labels["team"] = "edited";
    metadata.labels["theirs"] = "1";
    metadata.annotations["theirs"] = "2";
    Object.assign(metadata, { finalizers: ["example.com/f"], ownerReferences: [{ name: "o" }] });
  });
  made.now += 5000;
  made.settle();
  const { metadata } = made.get("team-a/one");
  assert.equal(metadata.labels["team"], "x");
  assert.equal(metadata.labels["theirs"], "1");
  assert.equal(metadata.annotations["theirs"], "2");
  assert.deepEqual(
    Object.entries(metadata).filter(([key]) => key === "finalizers" || key === "ownerReferences")
      .length,
    2,
  );
});

test("what is no longer copied is taken off the copy", () => {
  const { made } = copied({ "copy-labels": "team,tier" }, { labels: { team: "x", tier: "y" } });
  assert.equal(
    made.get("team-a/one").metadata.annotations["secretcast.io/copied-keys"],
    "label:team,label:tier",
  );
  made.edit(
    "shared/one",
    ({ metadata }) => (metadata.annotations["secretcast.io/copy-labels"] = "team"),
  );
  made.now += 5000;
  made.settle();
  const { metadata } = made.get("team-a/one");
  assert.deepEqual(Object.keys(metadata.labels).toSorted(), [
    "app.kubernetes.io/managed-by",
    "team",
  ]);
  assert.equal(metadata.annotations["secretcast.io/copied-keys"], "label:team");
});

test("a mark taken off a copy that is still ours is put back", () => {
  for (const word of ["source-version", "copied-keys"]) {
    const { made } = copied({ "copy-labels": "team" }, { labels: { team: "x" } });
    const before = made.get("team-a/one").metadata.annotations;
    made.edit("team-a/one", ({ metadata }) => {
      const { [`secretcast.io/${word}`]: _, ...rest } = metadata.annotations;
      metadata.annotations = rest;
    });
    made.now += 5000;
    made.settle();
    assert.deepEqual(made.get("team-a/one").metadata.annotations, before);
  }
});

test("a forged record of copied keys cannot take our own marks off", () => {
  const { made } = copied({});
  made.edit("team-a/one", ({ metadata }) => {
    metadata.annotations["secretcast.io/copied-keys"] =
      "label:app.kubernetes.io/managed-by,annotation:secretcast.io/placed-at";
  });
  made.now += 5000;
  made.settle();
  assert.equal(made.cached("team-a/one").role, "copy");
});

const REFUSED_KEYS = [
  "secretcast.io/to",
  "kubernetes.io/x",
  "kubectl.kubernetes.io/last-applied-configuration",
  "app.kubernetes.io/instance",
  "app.kubernetes.io/managed-by",
  "argocd.argoproj.io/tracking-id",
  "kustomize.toolkit.fluxcd.io/name",
  "helm.sh/chart",
  "meta.helm.sh/release-name",
  "owner",
  "sealedsecrets.bitnami.com/managed",
  "cert-manager.io/certificate-name",
  "controller.cert-manager.io/fao",
  "strimzi.io/cluster",
  "reflector.v1.k8s.emberstack.com/reflects",
  "replicator.v1.mittwald.de/replicate-to",
  "kubed.appscode.com/origin.name",
  "clustersecret.io/created-by",
];

test("S31 S32 keys that make other controllers act are never copied, whatever the source asks for", () => {
  const labels = Object.fromEntries(REFUSED_KEYS.map((key) => [key, "v"]));
  const wanted = { "app.kubernetes.io/name": "n", "example.com/team": "t", plain: "p" };
  const { copy } = copied(
    { "copy-labels": "*,*/*", "copy-annotations": "*,*/*" },
    { labels: { ...labels, ...wanted } },
  );
  assert.deepEqual(copy.metadata.labels, {
    ...wanted,
    "app.kubernetes.io/managed-by": "secretcast",
  });
  for (const key of REFUSED_KEYS) assert.equal(isNeverCopied(key), true, key);
  assert.equal(isNeverCopied("notowner"), false);
  assert.equal(new Set(NEVER_COPIED).size, NEVER_COPIED.length);
});

test("S34 copied annotations that would not fit are dropped and told; ours never", () => {
  const made = new Cluster();
  for (const name of ["shared", "team-a"]) made.namespace(name);
  made.secret("shared/one", { to: "*", "copy-annotations": "*" });
  made.edit("shared/one", ({ metadata }) => {
    metadata.annotations["big"] = "b".repeat(200_000);
    metadata.annotations["bigger"] = "c".repeat(61_000);
    metadata.annotations["small"] = "s";
  });
  const result = made.settle();
  const { annotations } = made.get("team-a/one").metadata;
  assert.ok("big" in annotations && "small" in annotations);
  assert.equal("bigger" in annotations, false);
  assert.match(result.sources[0]?.notes[0] ?? "", /bigger/);
  const bytes = Object.entries(annotations).reduce(
    (sum, [key, value]) => sum + key.length + value.length,
    0,
  );
  assert.ok(bytes <= 262_144);
});
