// Labels and annotations of a copy: the source's, ours, and those of others.
import assert from "node:assert/strict";
import { test } from "node:test";
import { isNeverCopied, NEVER_COPIED } from "../../../src/controller/annotations/never-copied.ts";
import { readConfig, type FlagValues } from "../../../src/controller/settings/config.ts";
import { readPlannerSettings } from "../../../src/controller/settings/planner-settings.ts";
import type { PlannerSettings } from "../../../src/controller/model/cluster.ts";
import type { Given, RawSecret, Texts } from "../../support/planner/raw-cluster.ts";
import { Cluster } from "../../support/planner/planner-cluster.ts";

function copied(words: Texts, given: Given = {}): { made: Cluster; copy: RawSecret } {
  const made = new Cluster().withNamespaces("shared", "team-a");
  made.secret("shared/one", { to: "*", ...words }, given);
  made.settle();
  return { made, copy: made.get("team-a/one") };
}

test("labels, annotations, owners and finalizers of others survive an update; ours are restored", () => {
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
  made.annotate("shared/one", { "copy-labels": "team" });
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
  "clustersecret.io",
  "kopf.zalando.org/last-handled-configuration",
  "projection.sh/owned-by",
];

test("keys that make other controllers act are never copied, whatever the source asks for", () => {
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

const ARGO = "argocd.argoproj.io/secret-type";

/** A source in `namespace` that asks for every key, under --copyable-keys; what its copy has of them. */
function released(
  flag: string | undefined,
  sources: string,
  namespace: string,
): { made: Cluster; keys: () => readonly string[] } {
  const flags = { "source-namespaces": sources, "namespace-policy": "opt-out" };
  const given = flag === undefined ? flags : { ...flags, "copyable-keys": flag };
  const made = new Cluster(settingsByFlags(given)).withNamespaces(namespace, "team-a");
  const words = { to: "team-a", "copy-labels": "*/*,*", "copy-annotations": "*/*,*" };
  made.secret(`${namespace}/one`, words, {
    labels: { [ARGO]: "repository", "helm.sh/chart": "x" },
  });
  made.edit(`${namespace}/one`, ({ metadata }) => {
    metadata.annotations["argocd.argoproj.io/sync-wave"] = "1";
    metadata.annotations["kubectl.kubernetes.io/last-applied-configuration"] = "{}";
  });
  made.settle();
  const keys = () => {
    const { labels, annotations } = made.get("team-a/one").metadata;
    return [...Object.keys(labels), ...Object.keys(annotations)]
      .filter((key) => !key.startsWith("secretcast.io/") && key !== "app.kubernetes.io/managed-by")
      .toSorted();
  };
  return { made, keys };
}

function settingsByFlags(given: FlagValues): PlannerSettings {
  const around = { env: {}, clusterNamespace: undefined, terminal: false };
  return readPlannerSettings(readConfig(given, around));
}

test("--copyable-keys lets keys be copied that else never are, and those that it names alone", () => {
  assert.deepEqual(released(undefined, "shared", "shared").keys(), []);
  assert.deepEqual(released(ARGO, "shared", "shared").keys(), [ARGO]);
  assert.deepEqual(released("*argoproj.io/*", "shared", "shared").keys(), [
    ARGO,
    "argocd.argoproj.io/sync-wave",
  ]);
  assert.deepEqual(released("*/*,*", "shared", "shared").keys(), [
    ARGO,
    "argocd.argoproj.io/sync-wave",
    "helm.sh/chart",
  ]);
});

test("a source in a namespace that publishes by * alone cannot use --copyable-keys", () => {
  for (const [sources, namespace, may] of [
    ["*", "team-x", false],
    ["platform,*", "team-x", false],
    ["platform,*", "platform", true],
    ["platform-*,**,!platform-b", "platform-a", true],
    ["!kube-system", "team-x", false],
    ["team-?", "team-x", true],
  ] as const)
    assert.deepEqual(released(ARGO, sources, namespace).keys(), may ? [ARGO] : [], sources);
});

test("a key that the administrator withdraws leaves the copies in one update", () => {
  const { made, keys } = released(ARGO, "shared", "shared");
  made.edit("team-a/one", ({ metadata }) => (metadata.labels["helm.sh/chart"] = "theirs"));
  const under = (flag: string | undefined): readonly string[] => {
    const flags = { "source-namespaces": "shared" };
    made.settings = settingsByFlags(
      flag === undefined ? flags : { ...flags, "copyable-keys": flag },
    );
    made.restart();
    made.reread();
    made.now += 5000;
    const { actions } = made.sync();
    assert.deepEqual(made.settle().actions, [], "nothing is left to write");
    return actions.map(({ kind }) => kind);
  };
  const uid = made.get("team-a/one").metadata.uid;
  assert.deepEqual(under(undefined), ["update"]);
  assert.deepEqual(keys(), ["helm.sh/chart"], "what others put there stays");
  assert.deepEqual(under(ARGO), ["update"]);
  assert.deepEqual(keys(), [ARGO, "helm.sh/chart"]);
  assert.deepEqual(under("argocd.argoproj.io/sync-wave"), ["update"]);
  assert.deepEqual(keys(), ["argocd.argoproj.io/sync-wave", "helm.sh/chart"]);
  assert.equal(made.get("team-a/one").metadata.uid, uid);
});

test("a source with too many keys for slow globs of --copyable-keys is refused", () => {
  const { made } = released("*oproj*/*a*", "shared", "shared");
  made.edit("shared/one", ({ metadata }) => {
    for (let at = 0; at < 1900; at++)
      metadata.labels[`${"x".repeat(60)}.argoproj.io/${"b".repeat(59)}${at}`] = "v";
  });
  made.now += 5000;
  const [source] = made.settle().sources;
  assert.equal(source?.problems[0]?.annotation, "secretcast.io/copy-labels");
  assert.match(source?.problems[0]?.expected ?? "", /^fewer than 1902 keys that --copyable-keys/);
});

test("copied annotations that would not fit are dropped and reported; ours never", () => {
  const made = new Cluster().withNamespaces("shared", "team-a");
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
