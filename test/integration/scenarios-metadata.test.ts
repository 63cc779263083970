// What of a source never stands on a copy: long names in labels, labels and annotations that other
// controllers obey, owner references, and Secrets that are no sources at all. Runs on the sandbox and
// on a real API server.
import assert from "node:assert/strict";
import { scenario as test } from "../support/scenes/both-kinds.ts";
import type { NewSecret, RawSecret } from "../support/scenes/api.ts";
import { openFastScene } from "../support/scenes/fast-scene.ts";
import { LONGEST_NAME, modeNames } from "../support/scenes/named-mode.ts";
import { copyIn, LOGIN, stage } from "../support/scenes/registry.ts";
import type { Scene } from "../support/scenes/scene.ts";

const MARKS = ["source", "source-uid", "placed-at", "source-version"].map(
  (word) => `secretcast.io/${word}`,
);
const MANAGED = { "app.kubernetes.io/managed-by": "secretcast" };

test("a source with a name of 253 characters is copied without a label of it", async (t) => {
  const scene = await openFastScene(t);
  const name = LONGEST_NAME;
  assert.equal(name.length, 253);
  const namespace = await scene.namespace("team-a");
  await scene.unmanaged(namespace, name.slice(0, 63), { data: { mine: "x" } });
  const annotations = { "secretcast.io/to": namespace, "secretcast.io/copy-labels": "*" };
  await scene.api.createSecret(scene.source, name, { annotations, data: LOGIN });
  scene.start();
  await scene.holds(namespace, name, LOGIN);
  await scene.api.setData(scene.source, name, { password: "two" });
  await scene.holds(namespace, name, { ...LOGIN, password: "two" });
  const copy = await scene.api.secret(namespace, name);
  assert.deepEqual(copy?.metadata.labels, MANAGED);
  assert.equal(copy?.metadata.annotations?.["secretcast.io/source"], `${scene.source}/${name}`);
});

const ACTING_LABELS = {
  "app.kubernetes.io/instance": "root",
  "app.kubernetes.io/managed-by": "Helm",
  "argocd.argoproj.io/instance": "root",
  "kustomize.toolkit.fluxcd.io/name": "apps",
  "helm.toolkit.fluxcd.io/name": "apps",
  "strimzi.io/cluster": "kafka",
  "strimzi.io/kind": "KafkaUser",
  "controller.cert-manager.io/fao": "true",
  "objectset.rio.cattle.io/hash": "abc",
  owner: "helm",
};
const ACTING_ANNOTATIONS = {
  "kubectl.kubernetes.io/last-applied-configuration": '{"data":{"password":"b25l"}}',
  "argocd.argoproj.io/tracking-id": "root:/Secret:a/registry",
  "argocd.argoproj.io/sync-options": "Prune=false",
  "fluxcd.io/sync-checksum": "abc",
  "kustomize.toolkit.fluxcd.io/prune": "enabled",
  "meta.helm.sh/release-name": "db",
  "helm.sh/resource-policy": "keep",
  "cert-manager.io/certificate-name": "db",
  "sealedsecrets.bitnami.com/managed": "true",
  "strimzi.io/generation": "1",
  "reflector.v1.k8s.emberstack.com/reflection-allowed": "true",
  "replicator.v1.mittwald.de/replicate-to": "*",
};

test("a copy never has labels and annotations that other controllers obey", async (t) => {
  const scene = await openFastScene(t);
  const plain = { team: "pay", "app.kubernetes.io/name": "db" };
  const contact = { "example.com/contact": "ada" };
  const namespace = await stage(scene, {
    labels: { ...ACTING_LABELS, ...plain },
    annotations: {
      ...ACTING_ANNOTATIONS,
      ...contact,
      "secretcast.io/copy-labels": "*,*/*",
      "secretcast.io/copy-annotations": "*,*/*",
    },
    finalizers: ["example.com/hold"],
    data: LOGIN,
  });
  scene.start();
  await scene.holds(namespace, "registry", LOGIN);
  const { metadata } = await copyIn(scene, namespace);
  assert.deepEqual(metadata.labels, { ...plain, ...MANAGED });
  assert.deepEqual(
    Object.keys(metadata.annotations ?? {}).toSorted(),
    [...MARKS, "secretcast.io/copied-keys", ...Object.keys(contact)].toSorted(),
  );
  assert.equal(metadata.finalizers, undefined);
  assert.equal(metadata.ownerReferences, undefined);
  await scene.api.patchSecret(scene.source, "registry", { metadata: { finalizers: null } });
});

test("owner references stay on their own objects, and copies inherit none", async (t) => {
  const scene = await openFastScene(t);
  const parent = await scene.api.createSecret(scene.source, "parent");
  const namespace = await stage(scene, { ownerReferences: [ownedBy(scene, parent)], data: LOGIN });
  scene.start();
  await scene.holds(namespace, "registry", LOGIN);
  assert.equal((await copyIn(scene, namespace)).metadata.ownerReferences, undefined);
  const local = await scene.api.createSecret(namespace, "local-parent");
  const own = { metadata: { ownerReferences: [ownedBy(scene, local)] } };
  await scene.api.patchSecret(namespace, "registry", own);
  await scene.api.setData(scene.source, "registry", { password: "two" });
  await scene.holds(namespace, "registry", { ...LOGIN, password: "two" });
  const { metadata } = await copyIn(scene, namespace);
  assert.deepEqual(metadata.ownerReferences, own.metadata.ownerReferences);
});

function ownedBy({ api }: Scene, { metadata: { name, uid = "" } }: RawSecret) {
  return { apiVersion: "v1", kind: api.kind, name, uid };
}

test("Secrets that other controllers make and fill are refused as sources, with a reason", async (t) => {
  const scene = await openFastScene(t);
  const namespace = await stage(scene, { data: LOGIN });
  // An API server's controllers delete the token of an account that is not there, as "default" is not
  // at first in a namespace just made.
  const path = `/api/v1/namespaces/${scene.source}/serviceaccounts`;
  const body = { metadata: { name: "robot" } };
  await scene.api.client.request({ method: "POST", path, body, what: "create account robot" });
  const account = { "kubernetes.io/service-account.name": "robot" };
  const typed = scene.api.kind === "Secret";
  const ofTypes: readonly (readonly [string, NewSecret])[] = [
    ["token", { type: "kubernetes.io/service-account-token", annotations: account }],
    ["bootstrap", { type: "bootstrap.kubernetes.io/token" }],
    ["release", { type: "helm.sh/release.v1" }],
  ];
  const refused: readonly (readonly [string, NewSecret])[] = [
    ...(typed ? ofTypes : []),
    ["sh.helm.release.v1.db.v1", { data: { release: "x" } }],
  ];
  for (const [name, secret] of refused) {
    const annotations = { ...secret.annotations, "secretcast.io/to": scene.name("team-*") };
    await scene.api.createSecret(scene.source, name, { ...secret, annotations });
  }
  scene.start();
  await scene.holds(namespace, "registry", LOGIN);
  const { sources } = await scene.finish();
  const reported = sources.filter(({ state }) => state === "refused");
  // A Secret of Helm's type is left out by the watch: it is nobody's source and no one's cost.
  assert.deepEqual(
    reported
      .flatMap(({ problems }) => problems)
      .map(({ annotation, part }) => `${annotation} ${part}`)
      .toSorted(),
    [
      // The flag takes no such name.
      ...(modeNames() ? [] : ["name sh.helm.release.v1.db.v1"]),
      ...(typed
        ? ["type bootstrap.kubernetes.io/token", "type kubernetes.io/service-account-token"]
        : []),
    ],
  );
  const there = await scene.api.secrets(namespace);
  const names = there.map(({ metadata }) => metadata.name);
  assert.deepEqual(
    refused.filter(([name]) => names.includes(name)).map(([name]) => name),
    [],
  );
});

// Names that JavaScript objects have by themselves. The API takes them as keys, the last one only of data.
const INHERITED = ["valueOf", "toString", "constructor", "hasOwnProperty"] as const;

test("labels and data entries that are called like members of every object serve everyone", async (t) => {
  const scene = await openFastScene(t);
  const odd = Object.fromEntries(INHERITED.map((key) => [key, "1"]));
  const first = await scene.namespace("team-a", { labels: odd });
  const second = await scene.namespace("team-b");
  const data = Object.fromEntries([...INHERITED, "__proto__"].map((key) => [key, `of ${key}`]));
  await scene.api.createSecret(scene.source, "odd", {
    labels: odd,
    annotations: {
      "secretcast.io/to": `${first},${second}`,
      "secretcast.io/copy-labels": "*",
      "secretcast.io/keys": "*,renamed=valueOf",
    },
    data,
  });
  scene.start();
  const renamed = "of valueOf";
  const rest = Object.fromEntries(Object.entries(data).filter(([key]) => key !== "valueOf"));
  for (const namespace of [first, second])
    await scene.holds(namespace, "odd", { ...rest, renamed });
  const copy = await scene.api.secret(first, "odd");
  assert.deepEqual(copy?.metadata.labels, { ...odd, ...MANAGED });
  await scene.api.setData(scene.source, "odd", { ["__proto__"]: "two" });
  const changed = [...Object.entries(rest), ["renamed", renamed], ["__proto__", "two"]];
  for (const namespace of [first, second])
    await scene.holds(namespace, "odd", Object.fromEntries(changed));
});
