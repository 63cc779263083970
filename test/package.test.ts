// The npm package: what `npm pack` puts into it, and what its bill of materials lists.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { join, relative } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { folderOf } from "../packages/kube/testing/folder.ts";
import { npm, packTree, readManifest } from "./support/programs/packed-project.ts";
import { lockedPackages, productionPackages } from "./support/programs/production-packages.ts";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const { version } = readManifest();

let paths: readonly string[] = [];
before(() => {
  const archive = packTree(folderOf({ after }));
  const { status, stdout, stderr } = spawnSync("tar", ["-tzf", archive], { encoding: "utf8" });
  assert.equal(status, 0, stderr);
  paths = stdout
    .trim()
    .split("\n")
    .map((path) => path.replace(/^package\//, ""));
});

test("the package holds the program, its example and its papers, and no source or test", () => {
  for (const needed of [
    "LICENSE",
    "README.md",
    "bin/kubectl-secretcast.js",
    "bin/kubectl_complete-secretcast.js",
    "bin/secretcast.js",
    ...inDist(),
    "dist/page/browser/page.html",
    "dist/page/browser/page.js",
    "manifests/example/source.yaml",
    "package.json",
  ])
    assert.ok(paths.includes(needed), needed);
  const allowed = /^(LICENSE|README\.md|package\.json|bin\/|dist\/|manifests\/example\/)/;
  assert.deepEqual(
    paths.filter((path) => !allowed.test(path) || /(?<!\.d)\.ts$/.test(path)),
    [],
  );
});

test("the package declares the machinery for others, and nothing else", () => {
  const declared = paths.filter((path) => path.endsWith(".d.ts"));
  for (const library of ["kube", "sandbox"])
    assert.ok(declared.includes(`dist/packages/${library}/library/index.d.ts`), library);
  assert.deepEqual(
    declared.filter((path) => !/^dist\/packages\/(?:kube|sandbox\/library)\//.test(path)),
    [],
  );
});

/** Every file of src and of the packages, as the build names it; types alone are no part of it. */
function inDist(): readonly string[] {
  return ["src", "packages"].flatMap((root) =>
    readdirSync(join(ROOT, root), { recursive: true, withFileTypes: true })
      .filter((file) => file.isFile() && !/\.(?:d\.ts|md|test\.ts)$/.test(file.name))
      .map((file) => relative(ROOT, join(file.parentPath, file.name)))
      .filter((path) => !/\/testing\/|^packages\/\w+\/package\.json$/.test(path))
      .map((path) => join("dist", path.replace(/^src\//, "")).replace(/\.ts$/, ".js")),
  );
}

type Bom = {
  readonly bomFormat: string;
  readonly metadata: { readonly component: { readonly purl: string; readonly type: string } };
  readonly components: readonly { readonly name: string; readonly version: string }[];
};

// npm leaves out what package.json names as a development dependency too, which is the types of
// Node alone; so packages without a line of code are not compared.
const isTypes = (name: string) => name.startsWith("@types/") || name === "undici-types";

test("the bill of materials is CycloneDX and lists every production package and no other", () => {
  const bom: Bom = JSON.parse(npm(ROOT, "run", "--silent", "sbom"));
  assert.equal(bom.bomFormat, "CycloneDX");
  assert.equal(bom.metadata.component.purl, `pkg:npm/secretcast@${version}`);
  assert.equal(bom.metadata.component.type, "application");
  const locked = lockedPackages();
  const expected = productionPackages().map((path) => ({
    name: path.slice(path.lastIndexOf("node_modules/") + "node_modules/".length),
    version: locked[path]?.version ?? "",
  }));
  assert.deepEqual(codeOf(bom.components), codeOf(expected));
});

function codeOf(packages: Bom["components"]): readonly string[] {
  const code = packages.filter(({ name }) => !isTypes(name));
  return [...new Set(code.map(({ name, version }) => `${name}@${version}`))].toSorted();
}
