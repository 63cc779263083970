// `npm run build`: dist/ for the npm package, since Node strips no types inside node_modules, and for
// the image. Every .ts file of src becomes a .js file at the same depth, and the packages that src imports are in
// dist/packages, without their tests. Other files of src are copied, except the READMEs of contributors. dist/ is made anew each time. A clone never runs it.
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { wordsOf } from "./words.ts";

const ROOT = join(import.meta.dirname, "..");
const DIST = join(ROOT, "dist");

wordsOf(import.meta.filename, {});
rmSync(DIST, { recursive: true, force: true });
const compiler = join(ROOT, "node_modules/typescript/bin/tsc");
const compiled = spawnSync(process.execPath, [compiler, "--project", "tsconfig.build.json"], {
  cwd: ROOT,
  stdio: "inherit",
});
if (compiled.status === 0) {
  raiseSources();
  cpSync(join(ROOT, "src"), DIST, {
    recursive: true,
    filter: (path) => !/\.(?:ts|md)$/.test(path),
  });
}

/** Moves dist/src into dist, where the packages are one folder nearer. */
function raiseSources(): void {
  const sources = join(DIST, "src");
  for (const file of readdirSync(sources, { recursive: true, withFileTypes: true })) {
    if (!file.isFile()) continue;
    const from = join(file.parentPath, file.name);
    const to = join(DIST, relative(sources, from));
    mkdirSync(dirname(to), { recursive: true });
    const text = readFileSync(from, "utf8");
    writeFileSync(
      to,
      text.replaceAll(/"\.\.\/((?:\.\.\/)*)packages\//g, (_, up) => `"${up || "./"}packages/`),
    );
  }
  rmSync(sources, { recursive: true });
}

process.exitCode = compiled.status ?? 1;
