// The npm package: what `npm pack` puts into it, that the program runs from it where Node strips no
// types, and what its bill of materials lists. A copy of the tree is packed, so the clone stays clean.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from "node:fs";
import { join, relative } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import {
  KEEP_LINKS,
  linkProductionPackages,
  lockedPackages,
  productionPackages,
} from "./support/programs/production-packages.ts";
import { folderOf } from "./support/programs/folder.ts";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const TREE = ["bin", "src", "manifests", "tools", "LICENSE", "README.md", "package.json"];
const { version }: { version: string } = JSON.parse(
  readFileSync(join(ROOT, "package.json"), "utf8"),
);

const folder = folderOf({ after });

function npm(cwd: string, ...words: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync("npm", words, { cwd, encoding: "utf8" });
  assert.equal(status, 0, stderr);
  return stdout;
}

type Packed = { readonly filename: string; readonly files: readonly { readonly path: string }[] };
let packed: Packed;

before(() => {
  const tree = join(folder, "tree");
  const skip = join(ROOT, "tools/dev-node/node_modules");
  for (const each of [...TREE, "tsconfig.json", "tsconfig.build.json", "tsconfig.kube.json"])
    cpSync(join(ROOT, each), join(tree, each), {
      recursive: true,
      filter: (path) => !path.startsWith(skip),
    });
  symlinkSync(join(ROOT, "node_modules"), join(tree, "node_modules"));
  npm(tree, "pack", "--silent", "--pack-destination", folder);
  const dry = npm(tree, "pack", "--json", "--dry-run", "--ignore-scripts", "--silent");
  const [first]: readonly Packed[] = JSON.parse(dry);
  packed = first ?? assert.fail(dry);
});

test("the package holds the program, its example and its papers, and no source or test", () => {
  const paths = packed.files.map(({ path }) => path);
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
  const declared = packed.files.map(({ path }) => path).filter((path) => path.endsWith(".d.ts"));
  for (const library of ["kube", "sandbox"])
    assert.ok(declared.includes(`dist/${library}/library/index.d.ts`), library);
  assert.deepEqual(
    declared.filter((path) => !/^dist\/(?:kube|sandbox\/library)\//.test(path)),
    [],
  );
});

/** Every file of src, as the build names it; types alone are no part of it. */
function inDist(): readonly string[] {
  const files = readdirSync(join(ROOT, "src"), { recursive: true, withFileTypes: true });
  return files
    .filter((file) => file.isFile() && !/\.(?:d\.ts|md)$/.test(file.name))
    .map((file) => join("dist", relative(join(ROOT, "src"), file.parentPath), file.name))
    .map((path) => path.replace(/\.ts$/, ".js"));
}

test("the packed program runs from node_modules beside production packages alone", () => {
  const home = join(folder, "project");
  const installed = join(home, "node_modules/secretcast");
  mkdirSync(installed, { recursive: true });
  const archive = join(folder, packed.filename);
  const unpacked = spawnSync("tar", ["-xzf", archive, "-C", installed, "--strip-components=1"]);
  assert.equal(unpacked.status, 0, String(unpacked.stderr));
  linkProductionPackages(home);
  const { bin }: { bin: Record<string, string> } = JSON.parse(
    readFileSync(join(installed, "package.json"), "utf8"),
  );
  const program = join(installed, bin["secretcast"] ?? "");
  const start = (...words: readonly string[]) =>
    spawnSync(process.execPath, [...KEEP_LINKS, program, ...words], {
      encoding: "utf8",
      env: { HOME: home },
    });
  assert.equal(start("--version").stdout.trim(), version);
  const demo = start("sandbox", "--once");
  assert.equal(demo.status, 0, demo.stderr);
  assert.match(demo.stdout, /^team-c +registry /m);
});

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
