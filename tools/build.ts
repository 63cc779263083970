// `npm run build`: dist/ for the npm package, since Node strips no types inside node_modules, and for
// the image. Every .ts file of src becomes a .js file at the same depth. Other files are copied, except the
// READMEs of contributors. dist/ is made anew each time. A clone never runs it.
import { spawnSync } from "node:child_process";
import { cpSync, rmSync } from "node:fs";
import { join } from "node:path";
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
if (compiled.status === 0)
  cpSync(join(ROOT, "src"), DIST, {
    recursive: true,
    filter: (path) => !/\.(?:ts|md)$/.test(path),
  });
process.exitCode = compiled.status ?? 1;
