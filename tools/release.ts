// `npm run release -- --dry-run --out FOLDER [--image NAME@sha256:…]`: everything of a release, made and
// checked, and nothing published: the chart and its OCI layout, one YAML, the npm package, the image,
// source maps of its bundle, bills of materials, provenance and checksums. Two runs on one commit give
// equal files. The image is the one that is given; else it is built, where it can be, on stand-ins for
// its base images.
import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { bundleInto } from "./bundle.ts";
import { buildImage } from "./image.ts";
import { whyNoImage } from "./image/buildah.ts";
import { packChart } from "./release/chart.ts";
import { archive, ROOT, run, sha256OfFile } from "./release/files.ts";
import { provenanceOf } from "./release/provenance.ts";

const say = (line: string): void => void process.stderr.write(`release: ${line}\n`);

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
    packChart(join(out, "chart"), { version, seconds, scratch, say });
    run("npm", ["pack", "--silent", "--pack-destination", join(out, "npm")]);
    writeFileSync(join(out, "npm", "sbom.json"), bill([], seconds));
    const [layer, maps] = [join(scratch, "layer"), join(scratch, "maps")];
    await bundleInto(layer, maps);
    archive(maps, ".", join(out, "image", `source-maps-${version}.tgz`), seconds);
    const packages = join(maps, "packages.json");
    writeFileSync(join(out, "image", "sbom.json"), bill(["--", packages], seconds));
    const built = image === undefined ? imageInto(out, { version, seconds, scratch }) : undefined;
    writeFileSync(join(out, `secretcast-${version}.yaml`), oneYaml(image, built));
  } finally {
    rmSync(scratch, { recursive: true });
  }
  const files = globSync("**/*", { cwd: out, withFileTypes: true })
    .filter((file) => file.isFile())
    .map(({ parentPath, name }) => join(parentPath, name).slice(out.length + 1))
    .toSorted();
  const provenance = provenanceOf(out, files, { version, commit, image });
  writeFileSync(join(out, "provenance.json"), `${JSON.stringify(provenance, null, 2)}\n`);
  const sums = [...files, "provenance.json"].map(
    (file) => `${sha256OfFile(join(out, file))}  ${file}\n`,
  );
  writeFileSync(join(out, "SHA256SUMS"), sums.join(""));
}

type Building = { readonly version: string; readonly seconds: number; readonly scratch: string };

/** The archive of the image beside its maps, and its digest; undefined where none can be built. */
function imageInto(out: string, { version, seconds, scratch }: Building): string | undefined {
  const why = whyNoImage();
  if (why !== undefined) {
    say(`no image: ${why}; the YAML names it by its tag, or give --image NAME@sha256:DIGEST`);
    return undefined;
  }
  say("the image is built on stand-ins for its base images: it shows that it builds, and runs");
  const file = join(out, "image", `secretcast-${version}.oci.tar`);
  return buildImage(join(scratch, "image"), file, seconds).digest;
}

/** Everything that `kubectl apply -k manifests` applies, with the image as it is given or was built. */
function oneYaml(image: string | undefined, built: string | undefined): string {
  const yaml = run("kubectl", ["kustomize", "manifests"]);
  const named = /^( +image: )((\S*secretcast):\S+)$/gm;
  const found = [...yaml.matchAll(named)].length;
  if (found !== 1) throw new Error(`the image is named ${found} times in the manifests, not once`);
  return yaml.replace(named, (_, before: string, tagged: string, name: string) => {
    const chosen = image ?? (built === undefined ? tagged : `${name}@${built}`);
    return `${before}${chosen}`;
  });
}

/** npm writes a serial number and the time into it: these follow from its content and the commit. */
function bill(words: readonly string[], seconds: number): string {
  const bom = JSON.parse(run("npm", ["run", "--silent", "sbom", ...words]));
  delete bom.serialNumber;
  bom.metadata.timestamp = new Date(seconds * 1000).toISOString();
  return `${JSON.stringify(bom, null, 2)}\n`;
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
