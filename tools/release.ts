// `npm run release -- --dry-run --out FOLDER [--image NAME@sha256:…]`: everything of a release but the
// image, made and checked, and nothing published: the chart, one YAML, the npm package, source maps of the
// image's bundle, bills of materials, provenance and checksums. Two runs on one commit give equal files.
// The provenance is a statement without a signature: the job that publishes signs with its identity.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { bundleInto } from "./bundle.ts";
import { goToolFolders } from "./go-tools.ts";

const ROOT = join(import.meta.dirname, "..");
const say = (line: string): void => void process.stderr.write(`release: ${line}\n`);

type Environment = Readonly<Record<string, string | undefined>>;

function run(command: string, words: readonly string[], env: Environment = {}): string {
  const { status, stdout, stderr } = spawnSync(command, words, {
    cwd: ROOT,
    encoding: "utf8",
    env: { ...process.env, ...env },
    maxBuffer: 64 * 2 ** 20,
  });
  if (status !== 0) throw new Error(`${command} ${words[0] ?? ""}: ${stderr.trim()}`);
  return stdout;
}

const sha256 = (file: string): string =>
  createHash("sha256").update(readFileSync(file)).digest("hex");

async function release(out: string, image: string | undefined): Promise<void> {
  const { version }: { version: string } = JSON.parse(
    readFileSync(join(ROOT, "package.json"), "utf8"),
  );
  const commit = run("git", ["rev-parse", "HEAD"]).trim();
  const seconds = Number(run("git", ["log", "-1", "--format=%ct"]).trim());
  rmSync(out, { recursive: true, force: true });
  for (const folder of ["chart", "npm", "image"]) mkdirSync(join(out, folder), { recursive: true });
  const scratch = mkdtempSync(join(tmpdir(), "secretcast-release-"));
  try {
    packChart(join(out, "chart"), version, seconds, scratch);
    writeFileSync(join(out, `secretcast-${version}.yaml`), oneYaml(image));
    run("npm", ["pack", "--silent", "--pack-destination", join(out, "npm")]);
    writeFileSync(join(out, "npm", "sbom.json"), bill([], seconds));
    const [layer, maps] = [join(scratch, "layer"), join(scratch, "maps")];
    await bundleInto(layer, maps);
    archive(maps, ".", join(out, "image", `source-maps-${version}.tgz`), seconds);
    const packages = join(maps, "packages.json");
    writeFileSync(join(out, "image", "sbom.json"), bill(["--", packages], seconds));
  } finally {
    rmSync(scratch, { recursive: true });
  }
  const files = globSync("**/*", { cwd: out, withFileTypes: true })
    .filter((file) => file.isFile())
    .map(({ parentPath, name }) => join(parentPath, name).slice(out.length + 1))
    .toSorted();
  const provenance = statement(out, files, { version, commit, image });
  writeFileSync(join(out, "provenance.json"), `${JSON.stringify(provenance, null, 2)}\n`);
  const sums = [...files, "provenance.json"].map((file) => `${sha256(join(out, file))}  ${file}\n`);
  writeFileSync(join(out, "SHA256SUMS"), sums.join(""));
}

/** Helm writes the time of packing into the archive, so its content is packed anew. */
function packChart(folder: string, version: string, seconds: number, scratch: string): void {
  const path = [...goToolFolders(process.env, say), process.env["PATH"]].join(":");
  if (spawnSync("helm", ["version"], { env: { ...process.env, PATH: path } }).status !== 0) {
    say("no chart: there is no helm, and no Go to build it");
    return;
  }
  run("helm", ["package", "manifests/chart", "--destination", scratch], { PATH: path });
  run("tar", ["-xzf", join(scratch, `secretcast-${version}.tgz`), "-C", scratch]);
  archive(scratch, "secretcast", join(folder, `secretcast-${version}.tgz`), seconds);
}

/** The same bytes for the same content, whoever packs it and when. */
function archive(folder: string, what: string, file: string, seconds: number): void {
  const owner = ["--owner=0", "--group=0", "--numeric-owner", "--mode=u=rwX,go=rX"];
  const words = ["--sort=name", `--mtime=@${seconds}`, ...owner, "--format=ustar"];
  run("tar", [...words, "--use-compress-program=gzip -n -9", "-C", folder, "-cf", file, what]);
}

/** Everything that `kubectl apply -k manifests` applies, with the image as it is given. */
function oneYaml(image: string | undefined): string {
  const yaml = run("kubectl", ["kustomize", "manifests"]);
  const named = /^( +image: )(\S*secretcast:\S+)$/gm;
  const found = [...yaml.matchAll(named)].length;
  if (found !== 1) throw new Error(`the image is named ${found} times in the manifests, not once`);
  if (image === undefined) {
    say("no --image NAME@sha256:…: the YAML names the image by its tag");
    return yaml;
  }
  return yaml.replace(named, (_, before: string) => `${before}${image}`);
}

/** npm writes a serial number and the time into it: these follow from its content and the commit. */
function bill(words: readonly string[], seconds: number): string {
  const bom = JSON.parse(run("npm", ["run", "--silent", "sbom", ...words]));
  delete bom.serialNumber;
  bom.metadata.timestamp = new Date(seconds * 1000).toISOString();
  return `${JSON.stringify(bom, null, 2)}\n`;
}

type Made = {
  readonly version: string;
  readonly commit: string;
  readonly image: string | undefined;
};

/** An in-toto statement with SLSA's predicate: from what these files were made. */
function statement(out: string, files: readonly string[], { version, commit, image }: Made) {
  const lock = sha256(join(ROOT, "package-lock.json"));
  return {
    _type: "https://in-toto.io/Statement/v1",
    subject: files.map((name) => ({ name, digest: { sha256: sha256(join(out, name)) } })),
    predicateType: "https://slsa.dev/provenance/v1",
    predicate: {
      buildDefinition: {
        buildType: "urn:secretcast:release:v1",
        externalParameters: { version, ...(image !== undefined && { image }) },
        resolvedDependencies: [
          { name: "git", digest: { gitCommit: commit } },
          { name: "package-lock.json", digest: { sha256: lock } },
        ],
      },
      runDetails: { builder: { id: "urn:secretcast:tools/release.ts" } },
    },
  };
}

if (import.meta.main) {
  const { values } = parseArgs({
    options: {
      "dry-run": { type: "boolean" },
      out: { type: "string" },
      image: { type: "string" },
    },
  });
  const { out, image } = values;
  const wrong =
    values["dry-run"] !== true
      ? "this script publishes nothing: say so with --dry-run"
      : out === undefined
        ? "give --out FOLDER"
        : image !== undefined && !/^\S+@sha256:[0-9a-f]{64}$/.test(image)
          ? `--image "${image}" is not NAME@sha256:DIGEST`
          : undefined;
  if (wrong === undefined && out !== undefined) await release(resolve(out), image);
  else {
    say(wrong ?? "");
    process.exitCode = 1;
  }
}
