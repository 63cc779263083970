// Where `npm run cluster:assets` takes the control plane from, and how it fails. What it builds is
// proved by the cluster tests; here `go` is a stand-in on PATH that writes empty files.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { test } from "node:test";
import type { TestContext } from "node:test";
import { folderOf } from "../packages/kube/testing/folder.ts";

const PROGRAMS = ["etcd", "kube-apiserver", "kube-controller-manager"];

type Outcome = { readonly code: number | null; readonly out: string; readonly err: string };
type Room = { readonly folder: string; readonly run: (env?: Record<string, string>) => Outcome };

function room(t: TestContext): Room {
  const folder = folderOf(t);
  mkdirSync(join(folder, "bin"));
  const run = (env: Record<string, string> = {}): Outcome => {
    const { status, stdout, stderr } = spawnSync(process.execPath, ["tools/cluster-assets.ts"], {
      encoding: "utf8",
      env: {
        PATH: join(folder, "bin"),
        HOME: folder,
        XDG_CACHE_HOME: join(folder, "cache"),
        ...env,
      },
    });
    return { code: status, out: stdout.trim(), err: stderr };
  };
  return { folder, run };
}

function standInForGo(folder: string, version: string, build: string): void {
  const script = `#!/bin/sh
[ "$1" = env ] && { echo ${version}; exit 0; }
while [ "$1" != -o ]; do shift; done
${build}
`;
  const path = join(folder, "bin/go");
  writeFileSync(path, script);
  chmodSync(path, 0o755);
}

const BUILDS = `for p in ${PROGRAMS.join(" ")}; do : > "$2$p"; done; echo . >> "$HOME/builds"`;

test("a complete KUBEBUILDER_ASSETS is taken as it is", (t) => {
  const { folder, run } = room(t);
  for (const program of PROGRAMS) writeFileSync(join(folder, program), "");
  assert.deepEqual(run({ KUBEBUILDER_ASSETS: folder }), { code: 0, out: folder, err: "" });
});

test("an incomplete KUBEBUILDER_ASSETS is an error that names what is missing", (t) => {
  const { folder, run } = room(t);
  writeFileSync(join(folder, "etcd"), "");
  const { code, err } = run({ KUBEBUILDER_ASSETS: folder });
  assert.equal(code, 1);
  assert.match(err, /has no kube-apiserver, no kube-controller-manager: put it there/);
});

test("SECRETCAST_KUBERNETES selects a minor version with its module file", (t) => {
  const { folder, run } = room(t);
  standInForGo(folder, "go1.26.0", BUILDS);
  const found = ["", "1.35", "1.36", "1.37"].map((SECRETCAST_KUBERNETES) => {
    const { code, out, err } = run({ SECRETCAST_KUBERNETES });
    assert.equal(code, 0, err);
    return basename(out).replace(/\.\d+-.*$/, "");
  });
  assert.deepEqual(found, ["v1.37", "v1.35", "v1.36", "v1.37"]);
  assert.equal(readdirSync(join(folder, "cache/secretcast/cluster-assets")).length, 3);
});

test("an unknown version, or one beside KUBEBUILDER_ASSETS, is an error with the remedy", (t) => {
  const { folder, run } = room(t);
  const none = run({ SECRETCAST_KUBERNETES: "1.20" });
  assert.equal(none.code, 1);
  assert.match(none.err, /SECRETCAST_KUBERNETES "1\.20" is none of 1\.37, 1\.35, 1\.36/);
  const both = run({ SECRETCAST_KUBERNETES: "1.35", KUBEBUILDER_ASSETS: folder });
  assert.equal(both.code, 1);
  assert.match(both.err, /are both set: keep one of them/);
});

test("Go builds once, the second run finds the cache", (t) => {
  const { folder, run } = room(t);
  standInForGo(folder, "go1.26.0", BUILDS);
  const first = run();
  assert.equal(first.code, 0, first.err);
  assert.match(first.err, /about ten minutes/);
  for (const program of PROGRAMS) assert.ok(existsSync(join(first.out, program)), program);
  assert.deepEqual(run(), { code: 0, out: first.out, err: "" });
});

test("a build that fails, or ends half-way, leaves nothing in the cache", (t) => {
  const { folder, run } = room(t);
  for (const build of ["exit 1", ': > "$2etcd"']) {
    standInForGo(folder, "go1.27.1", build);
    const { code, out, err } = run();
    assert.deepEqual({ code, out }, { code: 1, out: "" });
    assert.match(err, /go build in ".*assets" failed/);
    assert.deepEqual(readdirSync(join(folder, "cache/secretcast/cluster-assets")), []);
  }
});

test("a broken folder in the cache is built anew", (t) => {
  const { folder, run } = room(t);
  standInForGo(folder, "go1.26.0", BUILDS);
  const { out } = run();
  rmSync(join(out, "kube-apiserver"));
  assert.equal(run().out, out);
  assert.ok(existsSync(join(out, "kube-apiserver")));
  assert.deepEqual(readdirSync(dirname(out)).length, 1);
});

test("a missing or old Go is one line with a code of its own", (t) => {
  const { folder, run } = room(t);
  const none = run();
  assert.equal(none.code, 3);
  assert.match(none.err, /^cluster:assets: .*there is no working go on PATH.*setup-envtest.*\n$/);
  standInForGo(folder, "go1.25.9", BUILDS);
  const old = run();
  assert.equal(old.code, 3);
  assert.match(old.err, /go on PATH is go1\.25\.9/);
});
