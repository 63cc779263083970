// What `npm run release -- --dry-run` left: in the folder that SECRETCAST_RELEASE names, as CI makes it
// once for all that install from it, else made here.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Ending } from "../../../packages/kube/testing/fault-proxy.ts";
import { folderOf } from "../../../packages/kube/testing/folder.ts";

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));

/** Where CI has made it, of the commit that is tested; undefined where nothing is named. */
export function givenRelease(): string | undefined {
  const folder = process.env["SECRETCAST_RELEASE"];
  if (folder === undefined || folder === "") return undefined;
  const commit = readFileSync(join(folder, "commit"), "utf8");
  const head = spawnSync("git", ["rev-parse", "HEAD"], { cwd: ROOT, encoding: "utf8" });
  assert.equal(
    commit,
    head.stdout,
    `SECRETCAST_RELEASE=${folder} is of another commit: make it anew by "npm run release -- --dry-run --out ${folder}", or unset it`,
  );
  return folder;
}

/** The one that is given, or one that is made with `more` words and is gone when the test has ended. */
export function releaseFolder(t: Ending, ...more: readonly string[]): string {
  const given = givenRelease();
  if (given !== undefined) return given;
  const folder = folderOf(t);
  const out = join(folder, "made");
  const words = ["run", "--silent", "release", "--", "--dry-run", "--out", out, ...more];
  const { status, stderr } = spawnSync("npm", words, { cwd: ROOT, encoding: "utf8" });
  assert.equal(status, 0, stderr);
  return out;
}
