// `npm run release -- --dry-run`: what a release leaves in its folder, made twice from one commit.
// The first is the one that is given, where CI has made it for all tests.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { after, before, test, type TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import { load, loadAll } from "js-yaml";
import { readLayout, type Descriptor } from "./support/programs/oci-registry.ts";
import { givenRelease } from "./support/programs/release-folder.ts";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "secretcast-release-test-"));
after(() => rmSync(folder, { recursive: true, force: true }));
const { version }: { version: string } = JSON.parse(
  readFileSync(join(ROOT, "package.json"), "utf8"),
);
const IMAGE = `registry.example/secretcast@sha256:${"0".repeat(64)}`;

const release = (...words: readonly string[]) =>
  spawnSync("npm", ["run", "--silent", "release", "--", ...words], { cwd: ROOT, encoding: "utf8" });
const given = givenRelease();
const first = given ?? join(folder, "first");
const second = join(folder, "second");
const read = (file: string) => readFileSync(join(first, file));
const sha256 = (file: string) => createHash("sha256").update(read(file)).digest("hex");
const yamlOf = (made: string) => readFileSync(join(made, `secretcast-${version}.yaml`), "utf8");
const imageOf = (yaml: string) =>
  /image: (\S*secretcast[@:]\S+)$/m.exec(yaml)?.[1] ?? assert.fail("no image in the YAML");

before(() => {
  if (given === undefined) make(first, IMAGE);
  // A release that was given has an image of its own, which image.test.ts builds again.
  const image = imageOf(yamlOf(first));
  make(second, ...(image.includes("@") ? [image] : []));
});

function make(out: string, ...image: readonly string[]): void {
  const words = ["--dry-run", "--out", out, ...image.flatMap((each) => ["--image", each])];
  const { status, stderr } = release(...words);
  assert.equal(status, 0, stderr);
}

test("two releases of one commit are the same, byte for byte", () => {
  const sums = [first, second].map((made) => readFileSync(join(made, "SHA256SUMS"), "utf8"));
  const [ours = [], others = []] = sums.map((text) => text.trim().split("\n"));
  for (const line of ours) {
    const [digest = "", file = ""] = line.split("  ");
    assert.equal(sha256(file), digest, file);
  }
  // Of what was built once, and given by its digest the second time, the archive is there once.
  const differ = given === undefined ? /^$/ : /(\.oci\.tar|provenance\.json)$/;
  const common = (lines: readonly string[]) => lines.filter((line) => !differ.test(line));
  assert.deepEqual(common(ours), common(others));
  assert.ok(common(ours).length >= 6);
});

test("the YAML is what is applied, with the image by the digest that was built or given", () => {
  const yaml = yamlOf(first);
  assert.ok(loadAll(yaml).length > 5);
  const image = imageOf(yaml);
  const archive = join(first, "image", `secretcast-${version}.oci.tar`);
  if (given === undefined) assert.equal(image, IMAGE);
  else if (existsSync(archive)) assert.equal(image, `secretcast@${digestOfArchive(archive)}`);
  else assert.equal(image, `secretcast:${version}`);
});

function digestOfArchive(archive: string): string {
  const { stdout } = spawnSync("tar", ["-xOf", archive, "index.json"], { encoding: "utf8" });
  const index: { manifests: readonly Descriptor[] } = JSON.parse(stdout);
  return index.manifests[0]?.digest ?? assert.fail(stdout);
}

const chart = (t: TestContext): string | undefined => {
  const archive = join(first, "chart", `secretcast-${version}.tgz`);
  if (existsSync(archive)) return archive;
  t.skip("no helm, and no Go to build it: no chart was packed");
  return undefined;
};

test("the chart is packed with every file that it has", (t) => {
  const archive = chart(t);
  if (archive === undefined) return;
  const { stdout } = spawnSync("tar", ["-xzOf", archive, "secretcast/values.yaml"]);
  assert.deepEqual(stdout, readFileSync(join(ROOT, "manifests/chart/values.yaml")));
  const list = spawnSync("tar", ["-tzf", archive], { encoding: "utf8" }).stdout.split("\n");
  const files = globSync("**/*", { cwd: join(ROOT, "manifests/chart"), withFileTypes: true })
    .filter((file) => file.isFile())
    .map(({ parentPath, name }) => relative(join(ROOT, "manifests/chart"), join(parentPath, name)));
  for (const file of files) assert.ok(list.includes(`secretcast/${file}`), file);
});

test("the chart's OCI layout holds its archive and its metadata under Helm's media types", (t) => {
  const archive = chart(t);
  if (archive === undefined) return;
  const layout = join(first, "chart/oci");
  assert.deepEqual(JSON.parse(readFileSync(join(layout, "oci-layout"), "utf8")), {
    imageLayoutVersion: "1.0.0",
  });
  // Reading it holds each blob against its digest and its size.
  const { manifest, descriptor, blob } = readLayout(layout);
  assert.equal(descriptor.annotations?.["org.opencontainers.image.ref.name"], version);
  assert.equal(descriptor.mediaType, "application/vnd.oci.image.manifest.v1+json");
  assert.equal(manifest.mediaType, descriptor.mediaType);
  assert.equal(manifest.config.mediaType, "application/vnd.cncf.helm.config.v1+json");
  const metadata = load(readFileSync(join(ROOT, "manifests/chart/Chart.yaml"), "utf8"));
  assert.deepEqual(JSON.parse(blob(manifest.config).toString()), metadata);
  const [layer, ...more] = manifest.layers;
  assert.deepEqual(more, []);
  assert.equal(layer?.mediaType, "application/vnd.cncf.helm.chart.content.v1.tar+gzip");
  assert.deepEqual(blob(layer), readFileSync(archive));
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
