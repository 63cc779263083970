// The npm package as a user has it: packed from a copy of the tree, installed in an empty folder,
// and the Node versions that it says it runs on. npm takes packages from its cache where it has them,
// else from the registry.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { givenRelease } from "./release-folder.ts";

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));
const PARTS = [
  "packages",
  "bin",
  "src",
  "manifests",
  "tools",
  "LICENSE",
  "README.md",
  "package.json",
];
const CONFIGS = ["tsconfig.json", "tsconfig.build.json", "tsconfig.kube.json"];
const INSTALL = ["install", "--no-audit", "--no-fund", "--prefer-offline", "--silent"];

export type Manifest = {
  readonly version: string;
  readonly bin: Readonly<Record<string, string>>;
  readonly engines: { readonly node: string };
  readonly dependencies: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
};

export function readManifest(): Manifest {
  return JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
}

export function npm(cwd: string, ...words: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync("npm", words, { cwd, encoding: "utf8" });
  assert.equal(status, 0, stderr);
  return stdout;
}

/**
 * Installs the package, and `more`, in an empty project below `folder`; where that is. It is the package
 * of the release that is given, else the tree is packed.
 */
export function installPacked(folder: string, ...more: readonly string[]): string {
  const release = givenRelease();
  const archive =
    release === undefined
      ? packTree(folder)
      : join(release, "npm", `secretcast-${readManifest().version}.tgz`);
  const project = join(folder, "project");
  mkdirSync(project);
  writeFileSync(join(project, "package.json"), '{ "type": "module" }');
  npm(project, ...INSTALL, archive, ...more);
  return project;
}

/** As strictly as there is, with `more` or other options. */
export function configureProject(project: string, more: object): void {
  const compilerOptions = {
    target: "es2024",
    lib: ["es2024"],
    module: "nodenext",
    types: ["node"],
    noEmit: true,
    strict: true,
    noUncheckedIndexedAccess: true,
    exactOptionalPropertyTypes: true,
    noPropertyAccessFromIndexSignature: true,
    noImplicitOverride: true,
    verbatimModuleSyntax: true,
    erasableSyntaxOnly: true,
    ...more,
  };
  const config = { compilerOptions, include: ["*.ts"] };
  writeFileSync(join(project, "tsconfig.json"), JSON.stringify(config));
}

/** Checks the types of a project in which the compiler is installed. */
export function compileProject(project: string): {
  readonly status: number | null;
  readonly stdout: string;
} {
  const compiler = join(project, "node_modules/typescript/bin/tsc");
  return spawnSync(process.execPath, [compiler], { cwd: project, encoding: "utf8" });
}

/** Packs a copy of the tree, so that the clone stays clean. The path of the archive. */
export function packTree(folder: string): string {
  const tree = join(folder, "tree");
  const skip = join(ROOT, "tools/dev-node/node_modules");
  for (const each of [...PARTS, ...CONFIGS])
    cpSync(join(ROOT, each), join(tree, each), {
      recursive: true,
      filter: (path) => !path.startsWith(skip),
    });
  symlinkSync(join(ROOT, "node_modules"), join(tree, "node_modules"));
  return join(folder, npm(tree, "pack", "--silent", "--pack-destination", folder).trim());
}

/** Folders with a `node` by its version: the oldest that package.json allows, and the one that runs this. */
export function allowedNodes(folder: string): Readonly<Record<string, string>> {
  const [, oldest = ""] = /^>=(\d+\.\d+\.\d+)$/.exec(readManifest().engines.node) ?? [];
  const home = join(folder, "node");
  mkdirSync(home, { recursive: true });
  writeFileSync(join(home, "package.json"), "{}");
  const built = `node-${process.platform}-${process.arch}`;
  npm(home, ...INSTALL, "--no-save", `${built}@${oldest}`);
  const older = join(home, "node_modules", built, "bin");
  return { [oldest]: older, [process.versions.node]: dirname(process.execPath) };
}
