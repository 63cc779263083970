// Repositories as people clone them: what is a manifest, what is not, and what cannot be read.
import assert from "node:assert/strict";
import { symlinkSync, truncateSync } from "node:fs";
import { join, relative } from "node:path";
import { test } from "node:test";
import { readFileObjects } from "../../../src/inspect/files/file-objects.ts";
import { commandLine } from "../../support/programs/command-line.ts";
import { folderOf } from "../../../packages/kube/testing/folder.ts";

const SOURCE = `apiVersion: v1
kind: Secret
metadata: {namespace: secretcast, name: registry, annotations: {secretcast.io/to: "team-*"}}
data: {token: b25l}
`;

const CLONE = {
  "apps/registry.yaml": SOURCE,
  "apps/team-a.yaml": "apiVersion: v1\nkind: Namespace\nmetadata: {name: team-a}\n",
  ".github/workflows/ci.yaml": "on: [push]\njobs: {}\n",
  ".git/config.yaml": "apiVersion: v1\nkind: Secret\nmetadata: {name: 1}\n",
  "apps/kustomization.yaml": "resources: [registry.yaml]\npatches: [{path: patch.yaml}]\n",
  "apps/patch.yaml":
    "apiVersion: v1\nkind: Secret\nmetadata: {name: registry}\ndata: {token: dHdv}\n",
  "chart/Chart.yaml": "apiVersion: v2\nname: chart\n",
  "chart/values.yaml": "replicas: 1\n",
  "chart/templates/secret.yaml":
    "apiVersion: v1\nkind: Secret\nmetadata: {name: {{ .Release.Name }}}\n",
  "chart/templates/tests/job.yaml": "apiVersion: batch/v1\nkind: Job\nmetadata: {name: x}\n",
  "other/template.yaml":
    "kind: Secret\nmetadata:\n  name: {{ .x }}\n{{- if .y }}\n  z: 1\n{{- end }}\n",
  "other/list.json": "[1, 2]",
  "other/tsconfig.json": "{ // a comment\n}",
};

test("in a folder what is no manifest is counted, and the manifests are read", async (t) => {
  const { objects, passedOver, unread } = await readFileObjects([folderOf(t, CLONE)], {
    recursive: true,
  });
  assert.deepEqual(
    objects.map(({ raw }) => raw["kind"]),
    ["Secret", "Namespace"],
  );
  assert.deepEqual(Object.fromEntries(passedOver), {
    "other file": 5,
    kustomization: 1,
    patch: 1,
    template: 3,
  });
  assert.deepEqual(unread, []);
});

test("plan -f plans a clone, counts other objects and names unreadable ones", async (t) => {
  const root = folderOf(t, {
    ...CLONE,
    "broken/one.yaml": "apiVersion: v1\nkind: Secret\n  metadata: [\n",
    "broken/two.yaml": "apiVersion: v1\nkind: Secret\nmetadata: {name: x}\ndata: [1]\n",
  });
  const { code, stdout, stderr } = await commandLine(["plan", "-f", root, "-R"]);
  assert.equal(code, 1);
  assert.match(stdout, /create +team-a +registry +secretcast\/registry/);
  assert.match(stderr, /passed over: .*5 other file/);
  assert.match(stderr, /not read: .*one\.yaml:3:.*: is not YAML/);
  assert.match(stderr, /not read: .*two\.yaml:1: data of Secret default\/x is no mapping/);
  const sound = await commandLine(["plan", "-f", folderOf(t, CLONE), "-R"]);
  assert.equal(sound.code, 2);
});

test("links to folders are not followed, and broken links are skipped", async (t) => {
  const root = folderOf(t, { "a/b/registry.yaml": SOURCE, "other/c/team.yaml": SOURCE });
  const folder = join(root, "a");
  for (const [name, target] of [
    ["up", ".."],
    ["here", "."],
    ["b/up", ".."],
    ["b/self.yaml", "self.yaml"],
    ["b/broken.yaml", "nowhere.yaml"],
    ["b/folder.yaml", "../../other"],
    ["other", "../other"],
  ] as const)
    symlinkSync(target, join(folder, name));
  const named = join(folder, "by-name");
  symlinkSync("../other", named);
  symlinkSync("../../other/c/team.yaml", join(folder, "b/linked.yaml"));
  const read = async (path: string): Promise<readonly string[]> => {
    const { objects, unread } = await readFileObjects([path], { recursive: true });
    assert.deepEqual(unread, []);
    return objects.map(({ where }) => relative(root, where));
  };
  assert.deepEqual(await read(folder), ["a/b/linked.yaml:1", "a/b/registry.yaml:1"]);
  assert.deepEqual(await read(named), ["a/by-name/c/team.yaml:1"]);
});

test("an unreadable file of a folder is named, and the others are read", async (t) => {
  const root = folderOf(t, { "huge.yaml": "", "registry.yaml": SOURCE });
  truncateSync(join(root, "huge.yaml"), 2 ** 32);
  const { objects, unread } = await readFileObjects([root]);
  assert.equal(objects.length, 1);
  assert.match(unread.join("\n"), /^-f \S+huge\.yaml: is larger than \d+ bytes$/);
});

test("a file that is named by itself must be a manifest", async (t) => {
  const root = folderOf(t, CLONE);
  const { code, stderr } = await commandLine(["plan", "-f", join(root, "chart/values.yaml")]);
  assert.equal(code, 1);
  assert.match(stderr, /values\.yaml:1: has no kind: is it an object of Kubernetes\?/);
});

test("YAML is read as by kubectl, with merge keys and words of YAML 1.1", async (t) => {
  const root = folderOf(t, {
    "merged.yaml": `apiVersion: v1
kind: Secret
metadata:
  namespace: secretcast
  name: registry
  annotations: {<<: {secretcast.io/to: team-a}}
data: {token: b25l}
`,
    "team-a.yaml": "apiVersion: v1\nkind: Namespace\nmetadata: {name: team-a}\n",
    "bare.yaml": `apiVersion: v1
kind: Namespace
metadata: {name: team-b, annotations: {secretcast.io/accept: yes}}
`,
  });
  const { code, stdout, stderr } = await commandLine(["plan", "-f", root]);
  assert.equal(code, 1);
  assert.match(stdout, /create +team-a +registry +secretcast\/registry/);
  assert.match(stderr, /bare\.yaml:1: .*secretcast\.io\/accept is no text; put it in quotes/);
  assert.doesNotMatch(stderr, /<</);
});

test("numbers of both versions of YAML are no text, and those of base sixty are", async () => {
  const planned = async (value: string): Promise<string> => {
    const stdin = `apiVersion: v1\nkind: Namespace\nmetadata: {name: a, annotations: {x: ${value}}}\n`;
    return (await commandLine(["plan", "-f", "-"], { stdin })).stderr;
  };
  for (const number of ["1e3", "12e03", "007", "0o17", "1_000", "0b11", ".5", "+1", "Off"])
    assert.match(await planned(number), /: x is no text; put it in quotes/, number);
  for (const text of ["1:30", "12:30:45", "2024-01-01", "1e", "0x", "v1.10", "1.2.3"])
    assert.match(await planned(text), /^read 1 Namespaces/, text);
});

test("lists that contain each other by aliases are refused in one line", async (t) => {
  const levels = Array.from({ length: 12 }, (_, level) => {
    const items = Array.from({ length: 9 }, () =>
      level === 0 ? "{kind: X, apiVersion: v1}" : `*l${level - 1}`,
    );
    return `l${level}: &l${level} {apiVersion: v1, kind: List, items: [${items.join(", ")}]}`;
  });
  const bomb = `apiVersion: v1\nkind: List\nx:\n${levels.map((line) => `  ${line}`).join("\n")}\nitems: [*l11]\n`;
  const loop = "&a\napiVersion: v1\nkind: List\nitems: [*a]\n";
  for (const text of [bomb, loop]) {
    const root = folderOf(t, { "list.yaml": text });
    const { code, stderr } = await commandLine(["plan", "-f", join(root, "list.yaml")]);
    assert.equal(code, 1);
    assert.match(
      stderr,
      /^secretcast: .*list\.yaml:\d+: has (lists within lists|more than \d+ objects).*\n$/,
    );
  }
});
