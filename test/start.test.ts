// How the process starts: what Node compiled is kept for the next start, where only its user may write;
// and no more is loaded than a command needs.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { folderOf } from "../packages/kube/testing/folder.ts";

function start(home: string, env: NodeJS.ProcessEnv = {}): void {
  const { NODE_COMPILE_CACHE: _tests, ...inherited } = process.env;
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    ["bin/secretcast.js", "--version"],
    { env: { ...inherited, XDG_CACHE_HOME: home, ...env }, encoding: "utf8" },
  );
  assert.equal(status, 0, stderr);
  assert.match(stdout, /^\d+\.\d+\.\d+\S*\n$/);
  assert.equal(stderr, "");
}

const kept = (folder: string): readonly string[] =>
  existsSync(folder) ? readdirSync(folder, { recursive: true, encoding: "utf8" }) : [];

test("what Node compiled is kept in the user's cache folder, which nobody else may write", (t) => {
  const home = folderOf(t);
  start(home);
  const first = kept(join(home, "secretcast"));
  assert.ok(first.length > 20, first.join("\n"));
  start(home);
  assert.deepEqual(kept(join(home, "secretcast")).toSorted(), [...first].toSorted());
});

test("a folder that others may write is not trusted with it", (t) => {
  const home = folderOf(t);
  mkdirSync(join(home, "secretcast"));
  chmodSync(join(home, "secretcast"), 0o777);
  start(home);
  assert.deepEqual(kept(join(home, "secretcast")), []);
});

test("where nothing can be kept, and where NODE_DISABLE_COMPILE_CACHE says so, it starts as well", (t) => {
  start("/dev/null/nowhere");
  const home = folderOf(t);
  start(home, { NODE_DISABLE_COMPILE_CACHE: "1" });
  assert.deepEqual(kept(join(home, "secretcast")), []);
});

test("in a pod nothing is written", (t) => {
  const home = folderOf(t);
  start(home, { KUBERNETES_SERVICE_HOST: "127.0.0.1" });
  assert.deepEqual(kept(home), []);
});
