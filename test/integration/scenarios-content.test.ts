// What a source holds, and what of it may stand on a copy: types, immutability, long names, other
// controllers' labels and annotations, owner references, and the API's limits of size. Runs on the
// sandbox and on a real API server.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { NewSecret, RawSecret } from "../support/api.ts";
import { eventually } from "../support/eventually.ts";
import { openScene, type Scene } from "../support/scene.ts";

const MARKS = ["source", "source-uid", "placed-at", "source-version"].map(
  (word) => `secretcast.io/${word}`,
);
const MANAGED = { "app.kubernetes.io/managed-by": "secretcast" };

/** A source "registry" for the teams, "team-a", and "team-taken" with a stranger in the way. */
async function stage(scene: Scene, source: NewSecret): Promise<string> {
  const taken = await scene.namespace("team-taken");
  await scene.stranger(taken, "registry", { data: { mine: "untouched" } });
  await publish(scene, source);
  return scene.namespace("team-a");
}

async function publish(scene: Scene, source: NewSecret): Promise<RawSecret> {
  const annotations = { "secretcast.io/to": scene.name("team-*"), ...source.annotations };
  return scene.api.createSecret(scene.source, "registry", { ...source, annotations });
}

async function rotate(scene: Scene, source: NewSecret): Promise<void> {
  await scene.api.deleteSecret(scene.source, "registry");
  await publish(scene, source);
}

async function copyIn(scene: Scene, namespace: string): Promise<RawSecret> {
  const copy = await scene.api.secret(namespace, "registry");
  assert.ok(copy, `the copy in ${namespace} is there`);
  return copy;
}

const LOGIN = { username: "ada", password: "one" };

test("S28 a source made again with another type has its copies replaced, and no stranger", async (t) => {
  const scene = await openScene(t);
  const namespace = await stage(scene, { data: LOGIN });
  const running = scene.start({ "delete-grace": "1m" });
  await scene.holds(namespace, "registry", LOGIN);
  const before = await copyIn(scene, namespace);
  await rotate(scene, { type: "kubernetes.io/basic-auth", data: LOGIN });
  await eventually("the copy has the new type", async () => {
    const copy = await scene.api.secret(namespace, "registry");
    return copy?.type === "kubernetes.io/basic-auth" && copy.metadata.uid !== before.metadata.uid;
  });
  await scene.holds(namespace, "registry", LOGIN);
  await running.stop();
  const { states } = await scene.finish();
  assert.deepEqual([states.current, states.conflict], [1, 1]);
});

test("S28 a copy that somebody's finalizer holds is replaced when it is let go, not before", async (t) => {
  const scene = await openScene(t);
  const namespace = await stage(scene, { data: LOGIN });
  const running = scene.start({ "delete-grace": "1m" });
  await scene.holds(namespace, "registry", LOGIN);
  const held = { metadata: { finalizers: ["example.com/hold"] } };
  await scene.api.patchSecret(namespace, "registry", held);
  await rotate(scene, { type: "kubernetes.io/basic-auth", data: LOGIN });
  await eventually("the copy is on its way out", async () => {
    return (await copyIn(scene, namespace)).metadata.deletionTimestamp !== undefined;
  });
  await eventually("and waited for", () => running.settled()?.counts.wait === 1);
  await scene.api.patchSecret(namespace, "registry", { metadata: { finalizers: null } });
  await eventually("the copy has the new type", async () => {
    const copy = await scene.api.secret(namespace, "registry");
    return copy?.type === "kubernetes.io/basic-auth";
  });
  await running.stop();
  await scene.finish();
});

test("S29 copies of an immutable source follow it when it is rotated by making it again", async (t) => {
  const scene = await openScene(t);
  const namespace = await stage(scene, { immutable: true, data: LOGIN });
  const running = scene.start({ "delete-grace": "1m" });
  await scene.holds(namespace, "registry", LOGIN);
  assert.equal((await copyIn(scene, namespace)).immutable, true);
  const rotated = { ...LOGIN, password: "two" };
  await rotate(scene, { immutable: true, data: rotated });
  await scene.holds(namespace, "registry", rotated);
  assert.equal((await copyIn(scene, namespace)).immutable, true);
  await rotate(scene, { data: LOGIN });
  await scene.holds(namespace, "registry", LOGIN);
  assert.equal((await copyIn(scene, namespace)).immutable, undefined);
  await eventually("all is settled", () => running.settled()?.states.pending === 0);
  await running.stop();
  const replaced = running.outcomes.filter(({ action }) => action.kind === "replace");
  assert.equal(replaced.length, 2, "one replacement a rotation");
  await scene.finish();
});

test("S29 a copy that somebody made immutable is replaced once and follows its source", async (t) => {
  const scene = await openScene(t);
  const namespace = await stage(scene, { data: LOGIN });
  const running = scene.start();
  await scene.holds(namespace, "registry", LOGIN);
  await scene.api.patchSecret(namespace, "registry", { immutable: true });
  await scene.api.setData(scene.source, "registry", { password: "two" });
  await scene.holds(namespace, "registry", { ...LOGIN, password: "two" });
  assert.equal((await copyIn(scene, namespace)).immutable, undefined);
  await running.stop();
  await scene.finish();
});

test("S30 a source with a name of 253 characters is copied, and no label value comes from it", async (t) => {
  const scene = await openScene(t);
  const name = Array.from({ length: 4 }, (_, n) => `${n}`.padEnd(63, "x"))
    .join(".")
    .slice(0, 253)
    .replace(/\.$/, "x");
  assert.equal(name.length, 253);
  const namespace = await scene.namespace("team-a");
  await scene.stranger(namespace, name.slice(0, 63), { data: { mine: "x" } });
  const annotations = { "secretcast.io/to": namespace, "secretcast.io/copy-labels": "*" };
  await scene.api.createSecret(scene.source, name, { annotations, data: LOGIN });
  const running = scene.start();
  await scene.holds(namespace, name, LOGIN);
  await scene.api.setData(scene.source, name, { password: "two" });
  await scene.holds(namespace, name, { ...LOGIN, password: "two" });
  const copy = await scene.api.secret(namespace, name);
  assert.deepEqual(copy?.metadata.labels, MANAGED);
  assert.equal(copy?.metadata.annotations?.["secretcast.io/source"], `${scene.source}/${name}`);
  await running.stop();
  await scene.finish();
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

test("S31 labels and annotations that other controllers obey are never on a copy, asked for or not", async (t) => {
  const scene = await openScene(t);
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
  const running = scene.start();
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
  await running.stop();
  await scene.finish();
});

test("S32 owner references stay where they are: a source's off its copies, a copy's own on it", async (t) => {
  const scene = await openScene(t);
  const parent = await scene.api.createSecret(scene.source, "parent");
  const namespace = await stage(scene, { ownerReferences: [ownedBy(parent)], data: LOGIN });
  const running = scene.start();
  await scene.holds(namespace, "registry", LOGIN);
  assert.equal((await copyIn(scene, namespace)).metadata.ownerReferences, undefined);
  const local = await scene.api.createSecret(namespace, "local-parent");
  const own = { metadata: { ownerReferences: [ownedBy(local)] } };
  await scene.api.patchSecret(namespace, "registry", own);
  await scene.api.setData(scene.source, "registry", { password: "two" });
  await scene.holds(namespace, "registry", { ...LOGIN, password: "two" });
  const { metadata } = await copyIn(scene, namespace);
  assert.deepEqual(metadata.ownerReferences, own.metadata.ownerReferences);
  await running.stop();
  await scene.finish();
});

function ownedBy({ metadata: { name, uid = "" } }: RawSecret) {
  return { apiVersion: "v1", kind: "Secret", name, uid };
}

test("S33 Secrets that other controllers make and fill are refused as sources, with a reason", async (t) => {
  const scene = await openScene(t);
  const namespace = await stage(scene, { data: LOGIN });
  const account = { "kubernetes.io/service-account.name": "default" };
  const refused: readonly (readonly [string, NewSecret])[] = [
    ["token", { type: "kubernetes.io/service-account-token", annotations: account }],
    ["bootstrap", { type: "bootstrap.kubernetes.io/token" }],
    ["release", { type: "helm.sh/release.v1" }],
    ["sh.helm.release.v1.db.v1", { data: { release: "x" } }],
  ];
  for (const [name, secret] of refused) {
    const annotations = { ...secret.annotations, "secretcast.io/to": scene.name("team-*") };
    await scene.api.createSecret(scene.source, name, { ...secret, annotations });
  }
  const running = scene.start();
  await scene.holds(namespace, "registry", LOGIN);
  await running.stop();
  const { sources } = await scene.finish();
  const told = sources.filter(({ state }) => state === "refused");
  // A Secret of Helm's type is left out by the watch: it is nobody's source and no one's cost.
  assert.deepEqual(
    told
      .flatMap(({ problems }) => problems)
      .map(({ annotation, part }) => `${annotation} ${part}`)
      .toSorted(),
    [
      "name sh.helm.release.v1.db.v1",
      "type bootstrap.kubernetes.io/token",
      "type kubernetes.io/service-account-token",
    ],
  );
  const there = await scene.api.secrets(namespace);
  assert.deepEqual(
    there.map(({ metadata }) => metadata.name),
    ["registry"],
  );
});

test("S34 a source without data has copies without data; a list of keys that is empty or leaves none refuses", async (t) => {
  const scene = await openScene(t);
  const namespace = await stage(scene, {});
  const keys = (text: string): NewSecret => ({
    annotations: { "secretcast.io/to": namespace, "secretcast.io/keys": text },
    data: LOGIN,
  });
  await scene.api.createSecret(scene.source, "no-list", keys(""));
  await scene.api.createSecret(scene.source, "no-match", keys("token*"));
  const running = scene.start();
  await eventually("the copy is there", () => scene.api.secret(namespace, "registry"));
  assert.equal((await copyIn(scene, namespace)).data, undefined);
  await scene.api.setData(scene.source, "registry", LOGIN);
  await scene.holds(namespace, "registry", LOGIN);
  await scene.api.patchSecret(scene.source, "registry", { data: null });
  await eventually("the copy is empty again", async () => {
    return Object.keys((await copyIn(scene, namespace)).data ?? {}).length === 0;
  });
  await running.stop();
  const { sources } = await scene.finish();
  const refused = sources.filter(({ state }) => state === "refused");
  assert.deepEqual(
    refused.map(({ source, problems }) => [source.name, problems[0]?.annotation]),
    [
      ["no-list", "secretcast.io/keys"],
      ["no-match", "secretcast.io/keys"],
    ],
  );
});

test("S34 a source at the limits of data and annotations is copied: what does not fit beside our marks is left out", async (t) => {
  const scene = await openScene(t);
  const annotations = { "secretcast.io/copy-annotations": "*", small: "s", big: "" };
  const to = { "secretcast.io/to": scene.name("team-*") };
  // kube-apiserver: at most 1 MiB of values, and 256 KiB of annotations' keys and values.
  const used = Object.entries({ ...to, ...annotations })
    .flat()
    .join("").length;
  const data = { blob: "x".repeat(1024 * 1024) };
  const big = "b".repeat(256 * 1024 - used);
  const namespace = await stage(scene, { annotations: { ...annotations, big }, data });
  const running = scene.start();
  await eventually("the copy is there", () => scene.api.secret(namespace, "registry"));
  const copy = await copyIn(scene, namespace);
  assert.equal(copy.data?.["blob"], data.blob);
  const { small, big: left } = copy.metadata.annotations ?? {};
  assert.deepEqual([small, left], ["s", undefined]);
  await running.stop();
  const { sources } = await scene.finish();
  assert.match(sources[0]?.notes.join() ?? "", /^annotation big is not copied/);
});
