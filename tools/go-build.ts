// Programs built from Go modules into the cache outside the tree, for tests that need the real thing.
// The cache is keyed by everything that goes into a program, as the caller says. A build happens in
// a folder of its own that is renamed when complete, so an interrupted or a second run never leaves
// a broken one. Which programs, and what happens without Go, is the caller's matter.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";

export type Environment = Readonly<Record<string, string | undefined>>;

export type GoBuild = {
  /** Folder with the go.mod. */
  readonly module: string;
  /** Another module file than that one, as `go build -modfile` takes it. */
  readonly modfile?: string;
  /** What to build, as `go build` takes it, and the programs that come of it. */
  readonly packages: readonly string[];
  readonly programs: readonly string[];
  readonly linkerFlags: string;
  readonly tags?: string;
};

export type Found =
  | { readonly kind: "found"; readonly folder: string }
  | { readonly kind: "failed"; readonly exitCode: number; readonly message: string };

/** The least Go that builds them. */
export const GO = { major: 1, minor: 26 };

/** Where `name` of a key lies in the cache, built or not. */
export function cacheFolder(env: Environment, name: string, key: string): string {
  const home = env["XDG_CACHE_HOME"] || join(homedir(), ".cache");
  return join(home, "secretcast", name, key);
}

/** A short digest of the platform, these files of a module and what else goes into a program. */
export function digestOf(module: string, files: readonly string[], also = ""): string {
  const hash = createHash("sha256").update(`${process.platform} ${process.arch}\n${also}`);
  for (const file of files) hash.update(readFileSync(join(module, file)));
  return hash.digest("hex").slice(0, 16);
}

export const missingIn = (folder: string, programs: readonly string[]): readonly string[] =>
  programs.filter((program) => !existsSync(join(folder, program)));

/** Whether the Go on PATH builds them, and its version or its absence in words. */
export function goVersion(
  env: Environment,
  module: string,
): { readonly fits: boolean; readonly text: string } {
  const asked = spawnSync("go", ["env", "GOVERSION"], { env, encoding: "utf8", cwd: module });
  if (asked.status !== 0) return { fits: false, text: "there is no working go on PATH" };
  const [, major, minor] = /^go(\d+)\.(\d+)/.exec(asked.stdout) ?? [];
  const fits =
    Number(major) > GO.major || (Number(major) === GO.major && Number(minor) >= GO.minor);
  return { fits, text: `go on PATH is ${asked.stdout.trim()}` };
}

/** Builds into `folder`, which is complete or not there afterwards. */
export function goBuild(folder: string, build: GoBuild, env: Environment): Found {
  mkdirSync(join(folder, ".."), { recursive: true });
  const making = mkdtempSync(`${folder}.building-`);
  try {
    const args = ["build", "-trimpath", "-ldflags", build.linkerFlags, "-o", `${making}/`];
    const tags = build.tags === undefined ? [] : ["-tags", build.tags];
    const modfile = build.modfile === undefined ? [] : ["-modfile", build.modfile];
    const built = spawnSync("go", [...args, ...tags, ...modfile, ...build.packages], {
      cwd: build.module,
      env: { ...env, CGO_ENABLED: "0", GOFLAGS: "-mod=readonly -buildvcs=false" },
      stdio: ["ignore", 2, 2],
    });
    if (built.status !== 0 || missingIn(making, build.programs).length > 0)
      return { kind: "failed", exitCode: 1, message: `go build in "${build.module}" failed` };
    moveInto(making, folder, build.programs);
    return { kind: "found", folder };
  } finally {
    rmSync(making, { recursive: true, force: true });
  }
}

// A run that was faster has put the same programs there: theirs stay.
function moveInto(making: string, folder: string, programs: readonly string[]): void {
  if (missingIn(folder, programs).length === 0) return;
  rmSync(folder, { recursive: true, force: true });
  try {
    renameSync(making, folder);
  } catch (error) {
    if (missingIn(folder, programs).length > 0) throw error;
  }
}
