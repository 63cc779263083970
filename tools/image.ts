// `npm run image -- ARCHIVE`: builds the Dockerfile as it stands, without an engine and without a
// registry of images, into an OCI archive, on stand-ins for its base images; exit code 3 where that
// cannot be done. What comes out shows that the image builds and runs. It is not what is published.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { buildahIn, whyNoImage, type Buildah } from "./image/buildah.ts";
import { byTagAlone } from "./release/bases.ts";
import { dockerfileOf, standInBases } from "./image/stand-in-bases.ts";
import { wordsOf } from "./words.ts";

const ROOT = join(import.meta.dirname, "..");
const NOT_TO_BE_HAD = 3;

export type BuiltImage = {
  readonly name: string;
  readonly digest: string;
  readonly buildah: Buildah;
};

/**
 * `folder` holds the storage of images, and everything that is made on the way. Every file in the image is
 * of the time `seconds` since the epoch, so that the same content makes the same digest.
 */
export function buildImage(folder: string, archive: string, seconds: number): BuiltImage {
  const buildah = buildahIn(folder);
  const name = "localhost/secretcast:stand-in";
  mkdirSync(folder, { recursive: true });
  const dockerfile = join(folder, "Dockerfile");
  writeFileSync(dockerfile, byTagAlone(dockerfileOf(ROOT)));
  const mounts = standInBases(buildah, readFileSync(dockerfile, "utf8"), folder, process.env);
  buildah(
    "build",
    "--isolation=chroot",
    "--pull-never",
    "--layers=false",
    `--timestamp=${seconds}`,
    ...mounts.flatMap((mount) => ["--volume", mount]),
    "--tag",
    name,
    "--file",
    dockerfile,
    ROOT,
  );
  const digestFile = join(folder, "digest");
  buildah("push", "--quiet", "--digestfile", digestFile, name, `oci-archive:${archive}`);
  return { name, digest: readFileSync(digestFile, "utf8").trim(), buildah };
}

if (import.meta.main) {
  const { positionals } = wordsOf(import.meta.filename, { allowPositionals: true });
  const [archive] = positionals;
  const why = archive === undefined ? "give the archive's path" : whyNoImage();
  if (archive === undefined || why !== undefined) {
    process.stderr.write(`image: ${why}\n`);
    process.exitCode = archive === undefined ? 1 : NOT_TO_BE_HAD;
  } else {
    const folder = mkdtempSync(join(tmpdir(), "secretcast-image-"));
    try {
      const { digest } = buildImage(folder, resolve(archive), 0);
      process.stdout.write(`${digest}\n`);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  }
}
