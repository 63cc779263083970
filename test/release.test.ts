// `npm run release -- --dry-run`: what a release leaves in its folder, made twice from one commit.
// The first is the one that is given, where CI has made it for all tests. Then what the workflow publishes of it.
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { cpSync, existsSync, globSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { after, before, test, type TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import { load, loadAll } from "js-yaml";
import { OciRegistry, readLayout } from "./support/programs/oci-registry.ts";
import { givenRelease } from "./support/programs/release-folder.ts";
import { byTagAlone, unpinnedBases } from "../tools/release/bases.ts";
import { digestOfArchive, writeLayout } from "../tools/release/oci-layout.ts";
import { notesOf } from "../tools/release/page.ts";
import { folderOf } from "../packages/kube/testing/folder.ts";
import { readManifest } from "./support/programs/packed-project.ts";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const folder = folderOf({ after });
const { version } = readManifest();
const REGISTRY = "registry.example/owner";
// Where no release is given, and no image need be built: one that holds a file.
const standIn = join(folder, "image.oci.tar");
const IMAGE = `${REGISTRY}/secretcast@${standInImage()}`;

function standInImage(): string {
  const layout = join(folder, "image");
  const config = Buffer.from(
    '{"architecture":"amd64","os":"linux","rootfs":{"type":"layers","diff_ids":["sha256:0"]}}',
  );
  writeLayout(layout, version, {
    config: { mediaType: "application/vnd.oci.image.config.v1+json", content: config },
    layers: [
      {
        mediaType: "application/vnd.oci.image.layer.v1.tar+gzip",
        content: readFileSync(join(ROOT, "LICENSE")),
      },
    ],
    annotations: {},
  });
  const tar = spawnSync("tar", ["-C", layout, "-cf", standIn, "index.json", "oci-layout", "blobs"]);
  assert.equal(tar.status, 0, String(tar.stderr));
  return digestOfArchive(standIn);
}

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
  const sumsIn = (of: string): readonly (readonly string[])[] =>
    [first, second].map((made) => readFileSync(join(made, of), "utf8").trim().split("\n"));
  const [ours = [], others = []] = sumsIn("SHA256SUMS");
  for (const line of ours) {
    const [digest = "", file = ""] = line.split("  ");
    assert.equal(sha256(file), digest, file);
  }
  // Of what was built once, and given by its digest the second time, the archive is there once.
  const differ = given === undefined ? /^$/ : /(\.oci\.tar|page\/SHA256SUMS)$/;
  const common = (lines: readonly string[]) => lines.filter((line) => !differ.test(line));
  assert.deepEqual(common(ours), common(others));
  assert.ok(common(ours).length >= 6);
  const [page = [], pageAgain = []] = sumsIn("page/SHA256SUMS");
  assert.deepEqual(common(page), common(pageAgain));
});

test("the YAML is what is applied, with the image by its digest", () => {
  const yaml = yamlOf(first);
  assert.ok(loadAll(yaml).length > 5);
  const image = imageOf(yaml);
  const archive = join(first, "image", `secretcast-${version}.oci.tar`);
  if (given === undefined) assert.equal(image, IMAGE);
  else if (existsSync(archive)) assert.equal(image, `secretcast@${digestOfArchive(archive)}`);
  else assert.equal(image, `secretcast:${version}`);
});

const chart = (t: TestContext): string | undefined => {
  const archive = join(first, "chart", `secretcast-${version}.tgz`);
  if (existsSync(archive)) return archive;
  t.skip("no helm, and no Go to build it: no chart was packed");
  return undefined;
};

test("the chart is packed with every file that it has, but for its own tests", (t) => {
  const archive = chart(t);
  if (archive === undefined) return;
  const { stdout } = spawnSync("tar", ["-xzOf", archive, "secretcast/values.yaml"]);
  assert.deepEqual(stdout, readFileSync(join(ROOT, "manifests/chart/values.yaml")));
  const list = spawnSync("tar", ["-tzf", archive], { encoding: "utf8" }).stdout.split("\n");
  const files = globSync("**/*", { cwd: join(ROOT, "manifests/chart"), withFileTypes: true })
    .filter((file) => file.isFile())
    .map(({ parentPath, name }) => relative(join(ROOT, "manifests/chart"), join(parentPath, name)));
  for (const file of files)
    assert.equal(list.includes(`secretcast/${file}`), !file.startsWith("tests/"), file);
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

test("the folder says from which commit it was made", () => {
  const commit = spawnSync("git", ["rev-parse", "HEAD"], { cwd: ROOT, encoding: "utf8" });
  assert.equal(read("commit").toString(), commit.stdout);
});

test("the page holds the release's own files under names that differ, with their checksums", () => {
  const page = join(first, "page");
  const sums = readFileSync(join(page, "SHA256SUMS"), "utf8").trim().split("\n");
  const all = read("SHA256SUMS").toString();
  for (const line of sums) {
    const [digest = "", name = ""] = line.split("  ");
    assert.equal(sha256(join("page", name)), digest, name);
    const elsewhere = new RegExp(`^${digest}  (?!page/)`, "m");
    assert.match(all, elsewhere, `${name} is no file of the release`);
  }
  assert.deepEqual(
    globSync("*", { cwd: page }).toSorted(),
    [...sums.map((line) => line.split("  ")[1] ?? ""), "SHA256SUMS"].toSorted(),
  );
  assert.ok(read("notes.md").length > 100);
});

test("notes are the section of that version alone", () => {
  const changelog =
    "# Log\n\n## Unreleased\n\n- c\n\n## 1.2.0 (2026-01-31)\n\n- b\n\n## 1.1.0\n\n- a\n";
  assert.equal(notesOf(changelog, "1.2.0"), "- b");
  assert.equal(notesOf(changelog, "Unreleased"), "- c");
  assert.equal(notesOf(changelog, "1.2"), undefined);
});

test("a base image is pinned by the digest behind its tag", () => {
  const pinned = `FROM node:24-slim@sha256:${"a".repeat(64)} AS build\nFROM build AS more\n`;
  assert.deepEqual(unpinnedBases(pinned), []);
  assert.deepEqual(unpinnedBases(`${pinned}FROM a/b:c\nFROM a/b:c AS d\n`), ["a/b:c"]);
  assert.equal(byTagAlone(pinned), "FROM node:24-slim AS build\nFROM build AS more\n");
});

const WRONG: readonly (readonly [words: readonly string[], says: RegExp])[] = [
  [[], /--dry-run, or --registry/],
  [["--dry-run", "--registry", REGISTRY], /--dry-run, or --registry/],
  [["--dry-run", "--image", "a/b:latest"], /NAME@sha256/],
  [["--registry", "Not A Registry"], /HOST\/OWNER/],
  [["--registry", REGISTRY, "--image", IMAGE], /--image is for a dry run/],
  [["--dry-run", "--executables", "no-such-folder"], /"no-such-folder" is no folder/],
  // Before the owner has given every value in the tree, nothing can be published.
  [
    ["--registry", REGISTRY],
    /owner\.yaml: registry is missing; home is missing; .*owner\.md|not the registry of owner\.yaml/,
  ],
];

test("contradictory words end it before anything is made", () => {
  const out = join(folder, "none");
  for (const [words, says] of WRONG) {
    const { status, stderr } = release("--out", out, ...words);
    assert.equal(status, 1, words.join(" "));
    assert.match(stderr, says);
    assert.equal(existsSync(out), false);
  }
});

/** The release as the job that publishes finds it: with an image that the YAML names in its registry. */
function toBePublished(registry: string): string {
  const made = join(folder, "published");
  cpSync(first, made, { recursive: true });
  const archive = join(made, "image", `secretcast-${version}.oci.tar`);
  if (!existsSync(archive)) cpSync(standIn, archive);
  const yaml = yamlOf(made).replace(
    imageOf(yamlOf(made)),
    `${registry}/secretcast@${digestOfArchive(archive)}`,
  );
  writeFileSync(join(made, `secretcast-${version}.yaml`), yaml);
  return made;
}

type Publishing = { readonly steps: readonly { readonly run?: string }[] };

/** The scripts of a job of release.yml but the first, which fetches what was made. */
function scriptOf(job: string): string {
  const file = readFileSync(join(ROOT, ".github/workflows/release.yml"), "utf8");
  const { jobs } = load(file) as { jobs: Readonly<Record<string, Publishing>> };
  const [, ...scripts] = jobs[job]?.steps.flatMap(({ run = [] }) => run) ?? assert.fail(job);
  assert.ok(scripts.length > 0, job);
  return scripts.join("\n");
}

/** Runs it as the runner does; answers with each command that it gave to a program which publishes. */
async function published(job: string, cwd: string, registry: string): Promise<readonly string[]> {
  const bin = join(folder, `bin-${job}`);
  mkdirSync(bin, { recursive: true });
  const log = join(bin, "log");
  writeFileSync(log, "");
  for (const program of ["skopeo", "cosign", "npm", "gh"])
    writeFileSync(join(bin, program), `#!/bin/sh\necho "${program} $*" >>"${log}"\n`, {
      mode: 0o755,
    });
  if (SKOPEO !== "") {
    const plain = `exec "${SKOPEO}" --insecure-policy "$@" --dest-tls-verify=false`;
    writeFileSync(join(bin, "skopeo"), `#!/bin/sh\necho "skopeo $*" >>"${log}"\n${plain}\n`);
  }
  const child = spawn("bash", ["--noprofile", "--norc", "-eo", "pipefail", "-c", scriptOf(job)], {
    cwd,
    env: {
      ...process.env,
      PATH: `${bin}:${process.env["PATH"]}`,
      VERSION: version,
      REGISTRY: registry,
      TAG: `v${version}`,
    },
    stdio: ["ignore", "ignore", "inherit"],
  });
  const [code] = await once(child, "exit");
  assert.equal(code, 0, job);
  return readFileSync(log, "utf8").trim().split("\n");
}

const SKOPEO = spawnSync("sh", ["-c", "command -v skopeo"], { encoding: "utf8" }).stdout.trim();

test("the workflow publishes what is in the folder, by its digests", async (t) => {
  if (chart(t) === undefined) return;
  const registry = await OciRegistry.start(t);
  const name = `${registry.host}/owner`;
  const made = toBePublished(name);
  const image = digestOfArchive(join(made, "image", `secretcast-${version}.oci.tar`));
  const layout = readLayout(join(made, "chart/oci")).descriptor.digest;
  assert.deepEqual(await published("image", made, name), [
    `skopeo copy --all --preserve-digests oci-archive:image/secretcast-${version}.oci.tar docker://${name}/secretcast:${version}`,
    `cosign sign --yes ${name}/secretcast@${image}`,
    `cosign attest --yes --type cyclonedx --predicate image/sbom.json ${name}/secretcast@${image}`,
  ]);
  assert.deepEqual(await published("chart", made, name), [
    `skopeo copy --preserve-digests oci:chart/oci:${version} docker://${name}/charts/secretcast:${version}`,
    `cosign sign --yes ${name}/charts/secretcast@${layout}`,
  ]);
  if (SKOPEO !== "") {
    registry.manifest("owner/secretcast", image);
    registry.manifest("owner/charts/secretcast", layout);
  } else t.diagnostic("no skopeo on PATH: nothing was pushed to the registry on loopback");
  assert.deepEqual(await published("npm", made, name), [
    `npm publish --provenance --access public ./npm/secretcast-${version}.tgz`,
  ]);
  const files = globSync("page/*", { cwd: made }).toSorted();
  assert.deepEqual(await published("page", made, name), [
    "cosign sign-blob --yes --bundle page/SHA256SUMS.sigstore.json page/SHA256SUMS",
    `gh release create v${version} --verify-tag --title v${version} --notes-file notes.md ${files.join(" ")}`,
  ]);
  for (const file of [`npm/secretcast-${version}.tgz`, "image/sbom.json", "notes.md"])
    assert.ok(existsSync(join(made, file)), file);
});

test("an image that the YAML does not name is not pushed", async (t) => {
  if (chart(t) === undefined) return;
  const made = join(folder, "published");
  await assert.rejects(published("image", made, "registry.example/another"));
  assert.equal(readFileSync(join(folder, "bin-image", "log"), "utf8"), "");
});
