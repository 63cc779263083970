// The image that is published, as an OCI archive: on the Dockerfile's own base images, for every
// processor that is served, by buildx and its builder. Nothing is pushed here.
import { run } from "./files.ts";

const PLATFORMS = "linux/amd64,linux/arm64";

type Build = {
  /** NAME:TAG. */
  readonly tagged: string;
  readonly archive: string;
  /** Since the epoch: the time of every file in the image. */
  readonly seconds: number;
};

export function buildPublishedImage({ tagged, archive, seconds }: Build): void {
  run("docker", [
    "buildx",
    "build",
    `--platform=${PLATFORMS}`,
    "--provenance=mode=max",
    `--build-arg=SOURCE_DATE_EPOCH=${seconds}`,
    `--tag=${tagged}`,
    `--output=type=oci,dest=${archive},rewrite-timestamp=true`,
    ".",
  ]);
}
