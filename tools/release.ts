// `npm run release -- --dry-run --out FOLDER [--image NAME@sha256:…]`, and in the job that publishes
// `npm run release -- --registry HOST/OWNER --executables FOLDER --nodes FOLDER --out FOLDER`: everything of a
// release, made and checked, and nothing published: the chart and its OCI layout, one YAML, the npm package, the image, source maps
// of its bundle, the executables with a krew manifest and a Homebrew formula, bills of materials, checksums,
// the commit, and the files of the release's page. Two runs on one commit give equal files. With --registry the image is built on its base images, which must be named by
// digest, and the YAML names it there; in a dry run it is the one that is given, else it is built, where it
// can be, on stand-ins for its base images. Executables for Linux are made here; --executables names a folder with
// those that were made elsewhere, and --nodes one with Node's own archives; a dry run can do without both.
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { bundleInto } from "./bundle.ts";
import { buildImage } from "./image.ts";
import { missingArchives } from "./executable/node-program.ts";
import { PLATFORMS } from "./executable/platforms.ts";
import { whyNoImage } from "./image/buildah.ts";
import { dockerfileOf } from "./image/stand-in-bases.ts";
import { unpinnedBases } from "./release/bases.ts";
import { packChart } from "./release/chart.ts";
import { missingExecutables, packExecutables } from "./release/executables.ts";
import { archive, ROOT, run } from "./release/files.ts";
import { homebrewFormula, krewManifest, type Manifest } from "./release/installers.ts";
import { digestOfArchive } from "./release/oci-layout.ts";
import { missingOf } from "./release/owner-values.ts";
import { fillPage, notesOf, writeSums } from "./release/page.ts";
import { buildPublishedImage } from "./release/published-image.ts";
import { billOfMaterials, ofBundle, type Bom } from "./sbom.ts";
import { wordsOf } from "./words.ts";

const say = (line: string): void => void process.stderr.write(`release: ${line}\n`);

type Made = {
  /** Without a slash at its end; undefined in a dry run. */
  readonly registry?: string | undefined;
  /** NAME@sha256:DIGEST of one that was built elsewhere. */
  readonly image?: string | undefined;
  /** A folder with those that were made elsewhere. */
  readonly executables?: string | undefined;
  /** A folder with Node's own archives beside SHASUMS256.txt, whose signature was verified. */
  readonly nodes?: string | undefined;
};

async function release(out: string, { registry, image, executables, nodes }: Made): Promise<void> {
  const manifest: Manifest = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
  const { version } = manifest;
  const commit = run("git", ["rev-parse", "HEAD"]).trim();
  const seconds = Number(run("git", ["log", "-1", "--format=%ct"]).trim());
  const notes = notesFor(version, registry);
  rmSync(out, { recursive: true, force: true });
  for (const folder of ["chart", "npm", "image", "executables"])
    mkdirSync(join(out, folder), { recursive: true });
  const scratch = mkdtempSync(join(tmpdir(), "secretcast-release-"));
  try {
    packChart(join(out, "chart"), { version, seconds, scratch, say });
    run("npm", ["pack", "--silent", "--pack-destination", join(out, "npm")]);
    const bom = billOfMaterials();
    writeFileSync(join(out, "npm", "sbom.json"), bill(bom, seconds));
    const [layer, maps] = [join(scratch, "layer"), join(scratch, "maps")];
    await bundleInto(layer, maps);
    archive(maps, ["."], join(out, "image", `source-maps-${version}.tgz`), seconds);
    const bundled = ofBundle(bom, JSON.parse(readFileSync(join(maps, "packages.json"), "utf8")));
    writeFileSync(join(out, "image", "sbom.json"), bill(bundled, seconds));
    const made = { layer, version, seconds, scratch, given: executables, nodes };
    const packed = packExecutables(join(out, "executables"), registry !== undefined, made);
    writeFileSync(join(out, ".krew.yaml"), krewManifest(manifest, packed));
    writeFileSync(join(out, "secretcast.rb"), homebrewFormula(manifest, packed));
    const digest =
      image === undefined ? imageInto(out, { registry, version, seconds, scratch }) : undefined;
    writeFileSync(join(out, `secretcast-${version}.yaml`), oneYaml(image, digest));
  } finally {
    rmSync(scratch, { recursive: true });
  }
  writeFileSync(join(out, "notes.md"), `${notes}\n`);
  writeFileSync(join(out, "commit"), `${commit}\n`);
  fillPage(out, version);
  writeSums(out);
}

/** What the version brings; in a dry run, of one that has no section yet, what is unreleased. */
function notesFor(version: string, registry: string | undefined): string {
  const changelog = readFileSync(join(ROOT, "CHANGELOG.md"), "utf8");
  const headings = registry === undefined ? [version, "Unreleased"] : [version];
  for (const heading of headings) {
    const notes = notesOf(changelog, heading);
    if (notes !== undefined) return notes;
  }
  throw new Error(`CHANGELOG.md has no section ${headings.join(" or ")}`);
}

type Building = Pick<Made, "registry"> & {
  readonly version: string;
  readonly seconds: number;
  readonly scratch: string;
};

/** The archive of the image beside its maps, and its digest; undefined where none can be built. */
function imageInto(
  out: string,
  { registry, version, seconds, scratch }: Building,
): string | undefined {
  const file = join(out, "image", `secretcast-${version}.oci.tar`);
  if (registry !== undefined) {
    buildPublishedImage({ tagged: `${registry}/secretcast:${version}`, archive: file, seconds });
    return digestOfArchive(file);
  }
  const why = whyNoImage();
  if (why !== undefined) {
    say(`no image: ${why}; the YAML names it by its tag, or give --image NAME@sha256:DIGEST`);
    return undefined;
  }
  say("the image is built on stand-ins for its base images: it shows that it builds, and runs");
  return buildImage(join(scratch, "image"), file, seconds).digest;
}

/** Everything that `kubectl apply -k manifests` applies, with the image as it is given or was built. */
function oneYaml(image: string | undefined, built: string | undefined): string {
  const { yaml, named } = appliedYaml();
  return yaml.replace(named, (_, before: string, tagged: string, name: string) => {
    const chosen = image ?? (built === undefined ? tagged : `${name}@${built}`);
    return `${before}${chosen}`;
  });
}

/** `named` finds the image in it: what stands before, its name with its tag, and without. */
function appliedYaml(): { readonly yaml: string; readonly named: RegExp } {
  const yaml = run("kubectl", ["kustomize", "manifests"]);
  const named = /^( +image: )((\S*secretcast):\S+)$/gm;
  const found = Array.from(yaml.matchAll(named)).length;
  if (found !== 1) throw new Error(`the image is named ${found} times in the manifests, not once`);
  return { yaml, named };
}

/** npm writes a serial number and the time into it: these follow from its content and the commit. */
function bill(of: Bom, seconds: number): string {
  const { serialNumber: _, ...bom } = of;
  const timestamp = new Date(seconds * 1000).toISOString();
  const metadata = { ...bom.metadata, timestamp };
  return `${JSON.stringify({ ...bom, metadata }, null, 2)}\n`;
}

type Words = typeof values;

/** Undefined when nothing is. */
function whatIsWrong(words: Words): string | undefined {
  const { "dry-run": dry, out, image, registry, executables, nodes } = words;
  if ((dry === true) === (registry !== undefined))
    return "give --dry-run, or --registry HOST/OWNER for what is to be published there: nothing is published here";
  if (out === undefined) return "give --out FOLDER";
  if (registry !== undefined && !/^[a-z0-9.:-]+(\/[a-z0-9._-]+)*$/.test(registry))
    return `--registry "${registry}" is not HOST/OWNER`;
  if (registry !== undefined && image !== undefined)
    return "--image is for a dry run: with --registry the image is built";
  if (image !== undefined && !/^\S+@sha256:[0-9a-f]{64}$/.test(image))
    return `--image "${image}" is not NAME@sha256:DIGEST`;
  if (executables !== undefined && !existsSync(executables))
    return `--executables "${executables}" is no folder`;
  return registry === undefined ? undefined : whatIsMissing(registry, executables, nodes);
}

/** In the tree and among what was made elsewhere, before anything may be published. */
function whatIsMissing(
  registry: string,
  executables: string | undefined,
  nodes: string | undefined,
): string | undefined {
  const read = (file: string): string => readFileSync(join(ROOT, file), "utf8");
  const missing = missingOf(registry, read);
  if (missing !== undefined) return missing;
  const macs = missingExecutables(executables);
  if (macs.length > 0)
    return `give --executables FOLDER with ${macs.join(" and ")}, made on a Mac by "npm run executable"`;
  const archives = missingArchives(PLATFORMS, nodes ?? "");
  if (nodes === undefined || archives.length > 0)
    return `give --nodes FOLDER with ${archives.join(", ")} of Node's own downloads (docs/release.md)`;
  const unpinned = unpinnedBases(dockerfileOf(ROOT));
  return unpinned.length === 0
    ? undefined
    : `the Dockerfile names ${unpinned.join(" and ")} without a digest: let Renovate pin it (docs/release.md)`;
}

const { values } = wordsOf(import.meta.filename, {
  options: {
    "dry-run": { type: "boolean" },
    out: { type: "string" },
    image: { type: "string" },
    registry: { type: "string" },
    executables: { type: "string" },
    nodes: { type: "string" },
  },
});
const { out, ...made } = values;
const wrong = whatIsWrong(values);
if (wrong === undefined && out !== undefined) await release(resolve(out), made);
else {
  say(wrong ?? "");
  process.exitCode = 1;
}
