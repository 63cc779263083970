// `npm run docs`: the documentation as a site, in website/.vitepress/dist. The pages are the Markdown of
// this repository, laid out as the generator wants them, with their links turned to where things are
// then. A link to what is not there, of a page or within one, fails the build.
import { spawnSync } from "node:child_process";
import { copyFileSync, existsSync } from "node:fs";
import { join } from "node:path";
import { layOutPages } from "./site-pages.ts";
import { deadLinks } from "./site-links.ts";
import { wordsOf } from "./words.ts";

const ROOT = join(import.meta.dirname, "..");
const WEBSITE = join(ROOT, "website");
const SITE = join(WEBSITE, ".vitepress/dist");

function run(command: string, words: readonly string[]): number {
  return spawnSync(command, words, { cwd: WEBSITE, stdio: "inherit" }).status ?? 1;
}

function build(): number {
  // The generator is no dependency of the program: who builds the site fetches it once.
  if (!existsSync(join(WEBSITE, "node_modules")))
    if (run("npm", ["ci", "--no-audit", "--no-fund", "--prefer-offline"]) !== 0) return 1;
  layOutPages(ROOT, join(WEBSITE, "pages"));
  copyFileSync(join(ROOT, "src/page/browser/icon.svg"), join(WEBSITE, "pages/public/icon.svg"));
  const generator = join(WEBSITE, "node_modules/vitepress/bin/vitepress.js");
  if (run(process.execPath, [generator, "build"]) !== 0) return 1;
  const dead = deadLinks(SITE);
  for (const each of dead) process.stderr.write(`dead link: ${each}\n`);
  if (dead.length === 0)
    process.stdout.write("website/.vitepress/dist: every link leads somewhere\n");
  return dead.length === 0 ? 0 : 1;
}

wordsOf(import.meta.filename, {});
process.exitCode = build();
