// What sets names and namespaces outside of manifests: for a plan, a move, and its edits.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { readFileObjects } from "../../../src/inspect/files/file-objects.ts";
import { commandLine } from "../../support/programs/command-line.ts";
import { folderOf } from "../../../packages/kube/testing/folder.ts";

const SECRET = `apiVersion: v1
kind: Secret
metadata:
  name: cred
  annotations:
    replicator.v1.mittwald.de/replicate-to: dev
data: {token: b25l}
`;
const FLUX = (path: string, spec: string): string =>
  `apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: x, namespace: flux-system}\nspec: {path: ${path}, ${spec}}\n`;

const DEV = "apiVersion: v1\nkind: Namespace\nmetadata: {name: dev}\n";
const APPLICATION = `apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: x, namespace: argocd}
spec: {source: {path: app}, destination: {namespace: platform}}
`;

for (const [what, files, place] of [
  [
    "a kustomization",
    { "app/kustomization.yaml": "namespace: platform\nresources: [s.yaml]\n" },
    "platform/cred",
  ],
  [
    "a file that is called Kustomization, with names",
    {
      "app/Kustomization":
        "namespace: platform\nnamePrefix: a-\nnameSuffix: -b\nresources: [s.yaml]\n",
    },
    "platform/a-cred-b",
  ],
  [
    "an overlay, which has the last word",
    {
      "app/kustomization.yaml": "namespace: base\nnamePrefix: in-\nresources: [s.yaml]\n",
      "over/kustomization.yaml": "namespace: platform\nnamePrefix: out-\nresources: [../app/]\n",
    },
    "platform/out-in-cred",
  ],
  [
    "a Kustomization of Flux",
    { "flux.yaml": FLUX("./app", "targetNamespace: platform") },
    "platform/cred",
  ],
  ["an Application of Argo CD", { "argo.yaml": APPLICATION }, "platform/cred"],
] as const) {
  test(`${what} decides where an object is, in reading and in editing`, async (t) => {
    const folder = folderOf(t, { "app/s.yaml": SECRET, "dev.yaml": DEV, ...files });
    const args = ["migrate", "--from", "replicator", "-f", folder, "-R"];
    const shown = await commandLine(args);
    assert.equal(shown.code, 0, shown.stderr);
    assert.match(shown.stdout, new RegExp(`\\n${place} +annotate`));
    assert.match(shown.stdout, /--source-namespaces=platform\n/);
    const { code, stderr } = await commandLine([...args, "--write", "--yes"]);
    assert.equal(code, 0, stderr);
    assert.match(
      readFileSync(join(folder, "app/s.yaml"), "utf8"),
      /\n {4}secretcast.io\/to: dev\n/,
    );
    const plan = await commandLine(["plan", "-f", folder, "-R", "--source-namespaces=platform"]);
    assert.match(plan.stdout, new RegExp(`create +dev +\\S*cred\\S* +${place}`));
  });
}

test("an object that nothing places is named with exit code 2, and -n places it", async (t) => {
  const folder = folderOf(t, { "s.yaml": SECRET });
  const args = ["migrate", "--from", "replicator", "-f", folder];
  for (const more of [[], ["--write", "--yes"]]) {
    const { code, stdout, stderr } = await commandLine([...args, ...more]);
    assert.equal(code, 2);
    assert.match(stderr, /s\.yaml:1: Secret cred names no namespace, .*: pass -n NAMESPACE\n/);
    assert.doesNotMatch(stdout + stderr, /default\//);
  }
  const named = await commandLine([...args, "-n", "platform", "--write", "--yes"]);
  assert.equal(named.code, 0, named.stderr);
  assert.match(readFileSync(join(folder, "s.yaml"), "utf8"), /secretcast.io\/to: dev/);
  const plan = await commandLine(["plan", "-f", folder]);
  assert.equal(plan.code, 1);
  assert.match(plan.stderr, /names no namespace/);
});

test("an object of two overlays is named, and not edited", async (t) => {
  const overlay = (name: string): string => `namespace: ${name}\nresources: [../base]\n`;
  const folder = folderOf(t, {
    "base/kustomization.yaml": "resources: [s.yaml]\n",
    "base/s.yaml": SECRET,
    "staging/kustomization.yaml": overlay("staging"),
    "prod/kustomization.yaml": overlay("prod"),
  });
  const args = ["migrate", "--from", "replicator", "-f", folder, "-R", "--write", "--yes"];
  const { code, stderr } = await commandLine(args);
  assert.equal(code, 2);
  assert.match(stderr, /Secret cred is deployed more than once with different names or namespaces/);
  assert.equal(readFileSync(join(folder, "base/s.yaml"), "utf8"), SECRET);
});

for (const [what, files, file] of [
  ["a patch of a Kustomization file", { Kustomization: "patches: [{path: p.yaml}]\n" }, "p.yaml"],
  [
    "a file of a nested chart",
    { "charts/y/Chart.yaml": "name: y\n", "charts/y/charts/z/Chart.yaml": "name: z\n" },
    "charts/y/charts/z/crds/p.yaml",
  ],
  [
    "an input of a generator",
    { "kustomization.yaml": "configMapGenerator: [{name: x, files: [key=p.yaml]}]\n" },
    "p.yaml",
  ],
  [
    "a strategic patch in a list",
    { "kustomization.yml": "patchesStrategicMerge: [p.yaml]\n" },
    "p.yaml",
  ],
] as const) {
  test(`${what} is named and stays as it is`, async (t) => {
    const text = SECRET.replace("name: cred", "name: cred\n  namespace: platform");
    const folder = folderOf(t, { ...files, [file]: text });
    const args = ["migrate", "--from", "replicator", "-f", folder, "-R", "--write", "--yes"];
    const { code, stderr } = await commandLine(args);
    assert.equal(code, 2);
    assert.ok(stderr.includes(`${join(folder, file)}: `), stderr);
    assert.equal(readFileSync(join(folder, file), "utf8"), text);
  });
}

const PLACED = SECRET.replace("name: cred", "name: cred\n  namespace: platform");

for (const [what, bytes, why] of [
  [
    "Latin-1",
    Buffer.from(`# f\u00fcr alle\n${PLACED}`, "latin1"),
    /is in a file that is not UTF-8/,
  ],
  [
    "UTF-16",
    Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from(PLACED, "utf16le")]),
    /is in a file that is not UTF-8/,
  ],
  [
    "helm template",
    Buffer.from(`---\n# Source: chart/templates/s.yaml\n${PLACED}`),
    /is in a file that helm template rendered/,
  ],
] as const) {
  test(`a manifest from ${what} is read, named and not edited`, async (t) => {
    const folder = folderOf(t, { "s.yaml": bytes });
    const args = ["migrate", "--from", "replicator", "-f", folder, "--write", "--yes"];
    const { code, stderr } = await commandLine(args);
    assert.equal(code, 2);
    assert.match(stderr, /Secret platform\/cred /);
    assert.match(stderr, why);
    assert.deepEqual(readFileSync(join(folder, "s.yaml")), bytes);
  });
}

test("UTF-16 of either byte order is read by itself and in a folder", async (t) => {
  const big = Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from(PLACED, "utf16le")]).swap16();
  const folder = folderOf(t, { "s.yaml": big });
  for (const path of [folder, join(folder, "s.yaml")]) {
    const { objects } = await readFileObjects([path]);
    assert.deepEqual(
      objects.map(({ raw }) => raw["kind"]),
      ["Secret"],
    );
  }
});

test("a Namespace of a kustomization has the namespace of its objects as its name", async (t) => {
  const folder = folderOf(t, {
    "kustomization.yaml": "namespace: dev\nnamePrefix: x-\nresources: [ns.yaml]\n",
    "ns.yaml": "apiVersion: v1\nkind: Namespace\nmetadata: {name: _}\n",
    "s.yaml": PLACED,
  });
  const { code, stderr } = await commandLine(["migrate", "--from", "replicator", "-f", folder]);
  assert.equal(code, 0, stderr);
  assert.match(stderr, /taken for namespaces without labels: platform\n/);
});
