// An OCI image layout of one manifest: a folder that any tool for registries can push as it stands.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { run, sha256 } from "./files.ts";

type Blob = { readonly mediaType: string; readonly content: Buffer };
type Descriptor = {
  readonly mediaType: string;
  /** `sha256:` and hexadecimal digits. */
  readonly digest: string;
  /** In bytes. */
  readonly size: number;
};
type Artifact = {
  readonly config: Blob;
  readonly layers: readonly Blob[];
  readonly annotations: Readonly<Record<string, string>>;
};

/** `tag` is the reference by which the layout names its manifest. */
export function writeLayout(folder: string, tag: string, artifact: Artifact): void {
  mkdirSync(join(folder, "blobs/sha256"), { recursive: true });
  const manifest = addBlob(folder, {
    mediaType: "application/vnd.oci.image.manifest.v1+json",
    content: jsonOf({
      schemaVersion: 2,
      mediaType: "application/vnd.oci.image.manifest.v1+json",
      config: addBlob(folder, artifact.config),
      layers: artifact.layers.map((layer) => addBlob(folder, layer)),
      annotations: sorted(artifact.annotations),
    }),
  });
  const index = {
    schemaVersion: 2,
    mediaType: "application/vnd.oci.image.index.v1+json",
    manifests: [{ ...manifest, annotations: { "org.opencontainers.image.ref.name": tag } }],
  };
  writeFileSync(join(folder, "index.json"), jsonOf(index));
  writeFileSync(join(folder, "oci-layout"), jsonOf({ imageLayoutVersion: "1.0.0" }));
}

/** Of the one image, or index of images, in an OCI archive: by it a registry will name it. */
export function digestOfArchive(file: string): string {
  const index: { readonly manifests: readonly Descriptor[] } = JSON.parse(
    run("tar", ["-xOf", file, "index.json"]),
  );
  const [only, ...more] = index.manifests;
  if (only === undefined || more.length > 0)
    throw new Error(`${file} holds ${index.manifests.length} images, not one`);
  return only.digest;
}

function addBlob(folder: string, { mediaType, content }: Blob): Descriptor {
  const digest = sha256(content);
  writeFileSync(join(folder, "blobs/sha256", digest), content);
  return { mediaType, digest: `sha256:${digest}`, size: content.length };
}

const jsonOf = (json: object): Buffer => Buffer.from(JSON.stringify(json));

function sorted(all: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(all).toSorted(([a], [b]) => (a < b ? -1 : Number(a > b))),
  );
}
