// The chart and the kustomize base with its components are one installation: its files are made of the chart, and
// what Helm renders for a release called as the base is what kubectl builds, object by object and letter by letter.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { globSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { test, type TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import { COMPONENTS, TOGETHER } from "../support/documents/components.ts";
import { helmMissing, objectsIn, readable } from "../support/programs/helm.ts";
import { kustomizeFiles } from "../../tools/kustomize-files.ts";

const MANIFESTS = fileURLToPath(new URL("../../manifests", import.meta.url));
const HOME = "secretcast";
// A release has labels of its own, and the last one is what a component of the base selects by.
const OF_ONE_SIDE = [
  "app.kubernetes.io/instance",
  "app.kubernetes.io/version",
  "app.kubernetes.io/managed-by",
  "helm.sh/chart",
  "secretcast.io/scope",
];
// Helm makes the namespace by a flag. The base has no source list until its user makes one.
const ONLY_THERE = ["ConfigMap secretcast-sources", "Namespace secretcast", "Pod secretcast-test"];

type Built = { readonly kind: string; readonly metadata: { readonly name: string } };

function run(program: string, ...words: readonly string[]): readonly Built[] {
  const { status, stdout, stderr } = spawnSync(program, words, { encoding: "utf8" });
  assert.equal(status, 0, stderr);
  return objectsIn(stdout) as readonly Built[];
}

function kustomized(t: TestContext, components: readonly string[]): readonly Built[] {
  const folder = mkdtempSync(join(tmpdir(), "secretcast-overlay-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const base = relative(realpathSync(folder), MANIFESTS);
  const paths = components.map((name) => `${base}/components/${name}`);
  writeFileSync(
    join(folder, "kustomization.yaml"),
    JSON.stringify({ resources: [base], components: paths }),
  );
  return run("kubectl", "kustomize", folder);
}

function rendered(settings: readonly string[]): readonly Built[] {
  const set = settings.flatMap((setting) => ["--set", setting]);
  const of = ["--namespace", HOME, "--kube-version", "1.36.0"];
  return run("helm", "template", HOME, `${MANIFESTS}/chart`, ...of, ...readable(...set));
}

/** Sorted by name, each with its text. */
function texts(objects: readonly Built[]): readonly (readonly [string, string])[] {
  const named = objects.map((object): readonly [string, string] => [
    `${object.kind} ${object.metadata.name}`,
    JSON.stringify(inOrder(object), undefined, 1),
  ]);
  return named
    .filter(([name]) => !ONLY_THERE.includes(name))
    .toSorted(([a], [b]) => (a < b ? -1 : 1));
}

/** Lists keep their order; the keys of an object have none. */
function inOrder(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inOrder);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value)
    .filter(([key]) => !OF_ONE_SIDE.includes(key))
    .map(([key, inner]): [string, unknown] => [key, inOrder(inner)]);
  return Object.fromEntries(entries.toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

// The chart knows the namespaces that the component only has examples of.
const ALIKE = COMPONENTS.filter(({ name }) => name !== "listed-namespaces");
// The stricter binding is one more of the same policy. The chart turns the guardrail on by itself.
const BESIDE = new Map([
  ["early-check-deny", "early-check"],
  ["only-names", "guardrail"],
]);
const CASES = new Map<string, typeof TOGETHER>([
  ["the base", []],
  ["every component at once", TOGETHER],
  ...ALIKE.map(({ name, setting }): [string, typeof TOGETHER] => [
    name,
    ALIKE.filter((one) => one.name === BESIDE.get(name)).concat({ name, setting }),
  ]),
]);

for (const [what, components] of CASES)
  test(
    `chart and kustomize are the same objects: ${what}`,
    { skip: helmMissing() ?? false },
    (t) => {
      const chart = rendered(components.map(({ setting }) => setting));
      const base = kustomized(
        t,
        components.map(({ name }) => name),
      );
      assert.deepEqual(texts(chart), texts(base));
      for (const { kind, metadata } of [...chart, ...base].filter(({ kind }) => kind !== "Pod"))
        assert.match(
          JSON.stringify(metadata),
          /"app\.kubernetes\.io\/name":"secretcast"/,
          `${kind} ${metadata.name} has the common label`,
        );
    },
  );

test(
  "the files of the kustomize base are what npm run chart:docs makes of the chart",
  { skip: helmMissing() ?? false },
  () => {
    const { PATH, HOME: home } = process.env;
    const files = kustomizeFiles({ PATH, HOME: home });
    for (const [file, wanted] of files)
      assert.equal(
        readFileSync(join(MANIFESTS, file), "utf8"),
        wanted,
        `${file}: run npm run chart:docs`,
      );
    const here = globSync("{*,components/*/*}.yaml", { cwd: MANIFESTS });
    const byHand = here.filter((file) => !files.has(file) && !file.endsWith("kustomization.yaml"));
    assert.deepEqual(byHand, ["namespace.yaml"]);
  },
);
