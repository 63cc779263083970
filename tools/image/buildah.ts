// buildah without an engine: commands run in a chroot, and images are kept in a folder of ours alone.
import { spawnSync } from "node:child_process";
import { join } from "node:path";

/** One command; answers with what it printed, and throws its last line of complaint. */
export type Buildah = (...words: readonly string[]) => string;

export function buildahIn(folder: string): Buildah {
  const storage = ["--root", join(folder, "storage"), "--runroot", join(folder, "run")];
  return (...words) => {
    const { status, stdout, stderr } = spawnSync(
      "buildah",
      [...storage, "--storage-driver", "vfs", ...words],
      { encoding: "utf8", maxBuffer: 64 * 2 ** 20 },
    );
    if (status !== 0)
      throw new Error(
        `buildah ${words[0] ?? ""}: ${stderr.trim().split("\n").slice(-5).join("; ")}`,
      );
    return stdout.trim();
  };
}

/** Why no image can be built here; undefined where one can. */
export function whyNoImage(): string | undefined {
  if (process.platform !== "linux")
    return `the image is built on Linux, this is ${process.platform}`;
  if (process.getuid?.() !== 0) return "debootstrap and a chroot need root";
  for (const program of ["buildah", "debootstrap", "ldd"])
    if (spawnSync(program, ["--version"]).status !== 0)
      return `there is no ${program}, which a package of that name brings`;
  return undefined;
}
