// The documentation as a site: it is built from this tree, every link of it leads somewhere, and its
// search finds things without asking anybody. The generator comes from npm's cache or the registry;
// where neither has it, this is skipped, and says so.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, statSync } from "node:fs";
import type { RequestListener } from "node:http";
import { extname, join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { serve } from "../../packages/kube/testing/http-server.ts";
import { Chromium, noBrowser } from "../support/browser/browser.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const SITE = join(ROOT, "website/.vitepress/dist");
const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html",
  ".js": "text/javascript",
  ".css": "text/css",
  ".svg": "image/svg+xml",
};

function noGenerator(): string | false {
  if (existsSync(join(ROOT, "website/node_modules"))) return false;
  const words = ["ci", "--prefer-offline", "--no-audit", "--no-fund"];
  const { status } = spawnSync("npm", words, { cwd: join(ROOT, "website") });
  return status === 0 ? false : "no site: its generator could not be fetched by npm";
}

const answer: RequestListener = ({ url = "/" }, response) => {
  const path = join(SITE, decodeURIComponent(new URL(url, "http://x").pathname));
  const file = existsSync(path) && statSync(path).isDirectory() ? join(path, "index.html") : path;
  if (!file.startsWith(SITE) || !existsSync(file)) return response.writeHead(404).end();
  const type = TYPES[extname(file)] ?? "application/octet-stream";
  return response.writeHead(200, { "content-type": type }).end(readFileSync(file));
};

test("the documentation builds as a site without a dead link, and its search works offline", async (t) => {
  const missing = noGenerator();
  if (missing !== false) return t.skip(missing);
  const built = spawnSync(process.execPath, ["tools/site.ts"], { cwd: ROOT, encoding: "utf8" });
  assert.equal(built.status, 0, built.stdout + built.stderr);
  if (noBrowser !== false) return t.skip(noBrowser);
  const chromium = await Chromium.start();
  t.after(() => chromium.close());
  const { page, complaints } = await chromium.open((await serve(t, answer)).url);
  await page.getByRole("button", { name: "Search" }).click();
  await page.getByRole("searchbox").or(page.locator("#localsearch-input")).fill("delete-hold");
  const first = page.locator("#localsearch-list a.result").first();
  await first.waitFor();
  assert.ok((await page.locator("#localsearch-list a.result").count()) > 1);
  const href = await first.getAttribute("href");
  await first.click();
  await page.waitForURL((url) => url.href.endsWith(href ?? "?"));
  assert.match((await page.locator("main").textContent()) ?? "", /delete-hold/);
  // No request went anywhere else, and no script failed.
  assert.deepEqual(complaints, []);
});
