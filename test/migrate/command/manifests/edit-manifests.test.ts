// Manifests in a repository get the new annotations, and keep every other byte.
import { AS_WRITTEN } from "../../../../src/inspect/files/file-places.ts";
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { loadAll } from "js-yaml";
import { editManifest } from "../../../../src/migrate/command/manifests/edit-manifests.ts";
import { commandLine } from "../../../support/programs/command-line.ts";
import { folderOf } from "../../../../packages/kube/testing/folder.ts";

const at = (namespace: string) => ({ namespace, place: AS_WRITTEN });

const MANIFEST = `# Our pull secret.
apiVersion: v1
kind: Secret
metadata:
    name: registry   # four spaces, as we like it
    namespace: platform
    annotations:
        # everybody needs it
        replicator.v1.mittwald.de/replicate-to: 'team-.*'
type: Opaque
stringData: {token: "hunter2"}
---
apiVersion: v1
kind: Namespace
metadata: {name: team-a}   # the first
---
{"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "json", "namespace": "platform", "annotations": {"replicator.v1.mittwald.de/replicate-to": ".*"}}}
`;

test("-f DIR --write adds annotations, keeps every other byte and prints the diff", async (t) => {
  const folder = folderOf(t, { "registry.yaml": MANIFEST });
  const file = join(folder, "registry.yaml");
  const args = ["migrate", "--from", "replicator", "-f", folder, "--write"];
  const asked = await commandLine(args);
  assert.equal(asked.code, 1);
  assert.match(asked.stderr, /nobody can be asked here whether to change 2 objects in 1 files/);
  assert.equal(readFileSync(file, "utf8"), MANIFEST, "nobody agreed");
  const { code, stdout, stderr } = await commandLine([...args, "--yes"]);
  assert.equal(code, 0, stderr);
  assert.equal(
    stdout,
    `--- ${file}
+++ ${file}
@@ -8,0 +9,1 @@
+        secretcast.io/to: "team-*"
@@ -17,1 +18,1 @@
-{"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "json", "namespace": "platform", "annotations": {"replicator.v1.mittwald.de/replicate-to": ".*"}}}
+{"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "json", "namespace": "platform", "annotations": {"secretcast.io/to": "*", "replicator.v1.mittwald.de/replicate-to": ".*"}}}
`,
  );
  assert.match(stderr, /flag of the controller: --source-namespaces=platform\n/);
  const now = readFileSync(file, "utf8");
  assert.equal(
    now
      .replace('        secretcast.io/to: "team-*"\n', "")
      .replace('"secretcast.io/to": "*", ', ""),
    MANIFEST,
  );
  assert.doesNotMatch(stdout + stderr, /hunter2/);
  const again = await commandLine([...args, "--yes"]);
  assert.match(again.stderr, /changed: 0 objects in 0 files\n/);
  assert.equal(readFileSync(file, "utf8"), now);
});

test("-f DIR --write --by-list names unwritten entries and exits with 2", async (t) => {
  const made = MANIFEST.replace(
    "metadata:\n",
    "metadata:\n    labels: {kustomize.toolkit.fluxcd.io/name: apps}\n",
  );
  const folder = folderOf(t, { "registry.yaml": made });
  const args = ["migrate", "--from", "replicator", "-f", folder, "--write", "--yes", "--by-list"];
  const { code, stderr } = await commandLine(args);
  assert.match(stderr, /changed: 1 objects in 1 files\n/);
  assert.match(
    stderr,
    /not complete:\n {2}Secret platform\/registry: its entry platform\.registry of the source list is not put into files\n/,
  );
  assert.equal(code, 2);
});

for (const [form, text] of [
  ["no annotations", "kind: Secret\nmetadata:\n  # a comment\n  name: a\n  namespace: b\n"],
  ["a flow mapping", "kind: Secret\nmetadata: { name: a, namespace: b }\n"],
  [
    "an item of a List",
    "kind: List\nitems:\n  - kind: Secret\n    metadata:\n      name: a\n      namespace: b\n",
  ],
  [
    "metadata behind a dash",
    "kind: SecretList\nitems:\n- metadata:\n    annotations:\n      x: y\n    name: a\n    namespace: b\n  kind: Secret\n",
  ],
  [
    "a list that alone says the kind",
    "kind: SecretList\nitems:\n- metadata:\n    name: a\n    namespace: b\n",
  ],
  ["no namespace of its own", "kind: Secret\nmetadata:\n  name: a\n  annotations: {x: y}\n"],
  ["lines that end as on Windows", "kind: Secret\r\nmetadata:\r\n  name: a\r\n  namespace: b\r\n"],
  [
    "a Secret whose name is a number's text",
    'kind: Secret\nmetadata:\n  "name": a\n  "namespace": b\n',
  ],
] as const) {
  test(`annotations go into a manifest with ${form}`, () => {
    const added = { "secretcast.io/to": "*", "secretcast.io/keys": "true" };
    const edits = new Map([["Secret b/a", added]]);
    const edited = editManifest("f.yaml", text, edits, at("b"));
    assert.deepEqual(edited.done, ["Secret b/a"]);
    // Every line ends as the others do.
    assert.equal(/(?<!\r)\n/.test(edited.text), /(?<!\r)\n/.test(text));
    const [before, after] = [loadAll(text)[0], loadAll(edited.text)[0]];
    assert.deepEqual(annotationsIn(after), { ...annotationsIn(before), ...added });
    assert.deepEqual(without(after), without(before));
  });
}

for (const [form, lines] of [
  ["a block", "  annotations:\n    x: y\n    secretcast.io/accept: ops/*\n"],
  ["a flow mapping", "  annotations: {secretcast.io/accept: ops/*, x: y}\n"],
] as const) {
  test(`an annotation that ${form} has already refuses the file with the right text`, () => {
    const text = `kind: Namespace\nmetadata:\n  name: team-a\n${lines}`;
    const edits = new Map([["Namespace /team-a", { "secretcast.io/accept": "ops/*,central/*" }]]);
    const edited = editManifest("f.yaml", text, edits, at("default"));
    assert.equal(edited.text, text);
    assert.deepEqual(edited.refused, [
      'f.yaml: Namespace /team-a has secretcast.io/accept already: make it "ops/*,central/*" there and run this again',
    ]);
  });
}

const SHARED = "  - {kind: Secret, metadata: {name: other, annotations: *shared}}\n";

for (const [form, items] of [
  [
    "an anchor that others refer to",
    `  - {kind: Secret, metadata: {name: a, annotations: &shared {x: y}}}\n${SHARED}`,
  ],
  [
    "an alias",
    `  - {kind: Secret, metadata: {name: b, annotations: &shared {x: y}}}\n${SHARED.replace("other", "a")}`,
  ],
  ["an empty value", "  - {kind: Secret, metadata: {name: a, annotations: }}\n"],
] as const) {
  test(`a manifest whose annotations are ${form} is refused, and no byte of it changes`, () => {
    const text = `kind: List\nitems:\n${items}`;
    const edits = new Map([["Secret b/a", { "secretcast.io/to": "*" }]]);
    const edited = editManifest("f.yaml", text, edits, at("b"));
    assert.equal(edited.text, text);
    assert.match(edited.refused.join(), /^f\.yaml: Secret b\/a (shares|has no plain mapping)/);
    assert.deepEqual(edited.found, ["Secret b/a"]);
  });
}

type Loaded = { metadata: { annotations?: Record<string, string> }; items?: readonly Loaded[] };

function first(loaded: unknown): Loaded {
  const object = loaded as Loaded;
  return object.items?.[0] ?? object;
}

function annotationsIn(loaded: unknown): Readonly<Record<string, string>> {
  return first(loaded).metadata.annotations ?? {};
}

function without(loaded: unknown): unknown {
  const { metadata, ...rest } = first(structuredClone(loaded));
  const { annotations: _annotations, ...own } = metadata;
  return { ...rest, metadata: own };
}
