// `npm run release -- --dry-run`: what a release leaves in its folder, made twice from one commit.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { loadAll } from "js-yaml";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "secretcast-release-test-"));
after(() => rmSync(folder, { recursive: true, force: true }));
const { version }: { version: string } = JSON.parse(
  readFileSync(join(ROOT, "package.json"), "utf8"),
);
const IMAGE = `registry.example/secretcast@sha256:${"0".repeat(64)}`;

const release = (...words: readonly string[]) =>
  spawnSync("npm", ["run", "--silent", "release", "--", ...words], { cwd: ROOT, encoding: "utf8" });
const read = (file: string) => readFileSync(join(folder, "first", file));
const sha256 = (file: string) => createHash("sha256").update(read(file)).digest("hex");

before(() => {
  for (const name of ["first", "second"]) {
    const { status, stderr } = release("--dry-run", "--out", join(folder, name), "--image", IMAGE);
    assert.equal(status, 0, stderr);
  }
});

test("two releases of one commit are the same, byte for byte", () => {
  const [first, second] = ["first", "second"].map((name) =>
    readFileSync(join(folder, name, "SHA256SUMS"), "utf8"),
  );
  assert.equal(first, second);
  for (const line of first?.trim().split("\n") ?? []) {
    const [digest = "", file = ""] = line.split("  ");
    assert.equal(sha256(file), digest, file);
  }
});

test("the YAML is what is applied, with the image by the digest that was given", () => {
  const objects = loadAll(read(`secretcast-${version}.yaml`).toString());
  assert.ok(objects.length > 5);
  assert.equal(read(`secretcast-${version}.yaml`).toString().split(`image: ${IMAGE}\n`).length, 2);
});

test("the chart is packed with every file that it has", (t) => {
  const chart = join(folder, "first/chart", `secretcast-${version}.tgz`);
  if (!existsSync(chart)) return t.skip("no helm, and no Go to build it: no chart was packed");
  const { stdout } = spawnSync("tar", ["-xzOf", chart, "secretcast/values.yaml"]);
  assert.deepEqual(stdout, readFileSync(join(ROOT, "manifests/chart/values.yaml")));
});

test("the provenance names the commit, the lockfile and every file by its digest", () => {
  const statement: Statement = JSON.parse(read("provenance.json").toString());
  const sums = read("SHA256SUMS").toString().trim().split("\n");
  assert.deepEqual(
    [...statement.subject.map(({ name }) => name), "provenance.json"],
    sums.map((line) => line.split("  ")[1]),
  );
  for (const { name, digest } of statement.subject)
    assert.equal(sha256(name), digest["sha256"], name);
  const commit = spawnSync("git", ["rev-parse", "HEAD"], { cwd: ROOT, encoding: "utf8" });
  const [git, lock] = statement.predicate.buildDefinition.resolvedDependencies;
  assert.equal(git?.digest["gitCommit"], commit.stdout.trim());
  const locked = readFileSync(join(ROOT, "package-lock.json"));
  assert.equal(lock?.digest["sha256"], createHash("sha256").update(locked).digest("hex"));
});

type Digested = { readonly name: string; readonly digest: Readonly<Record<string, string>> };
type Statement = {
  readonly subject: readonly Digested[];
  readonly predicate: {
    readonly buildDefinition: { readonly resolvedDependencies: readonly Digested[] };
  };
};

test("without --dry-run, or with a tag for an image, nothing is made", () => {
  const out = join(folder, "none");
  for (const words of [
    ["--out", out],
    ["--dry-run", "--out", out, "--image", "a/b:latest"],
  ]) {
    const { status, stderr } = release(...words);
    assert.equal(status, 1);
    assert.match(stderr, /^release: .*(--dry-run|NAME@sha256)/m);
    assert.equal(existsSync(out), false);
  }
});
