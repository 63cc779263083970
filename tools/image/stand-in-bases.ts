// The Dockerfile's base images where no registry is: a Debian that debootstrap lays out once into the
// cache, with the image's Node. They stand in for the real ones under their names, in a storage of their
// own: what is built on them shows that the Dockerfile builds and that its program runs, and is never what
// is published.
import { spawnSync } from "node:child_process";
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { cacheFolder, type Environment } from "../go-build.ts";
import type { Buildah } from "./buildah.ts";
import { IMAGE_NODE } from "./image-node.ts";

const SUITE = "trixie";
const NPM_CACHE = "/npm-cache";
const CERTIFICATES = "/etc/ssl/certs";

/** Makes the images that the Dockerfile's FROM lines name. Answers with what a build on them must mount. */
export function standInBases(
  buildah: Buildah,
  dockerfile: string,
  folder: string,
  env: Environment,
): readonly string[] {
  const debian = debianRoot(env);
  const images = new Set(
    Array.from(dockerfile.matchAll(/^FROM (\S+)/gm), ([, image = ""]) => image),
  );
  for (const image of images)
    if (image.startsWith("node:"))
      commit(buildah, `docker.io/library/${image}`, buildRoot(debian, folder), [
        `npm_config_cache=${NPM_CACHE}`,
        "npm_config_prefer_offline=true",
        `npm_config_cafile=${CERTIFICATES}/ca-certificates.crt`,
        "PATH=/usr/local/bin:/usr/bin:/bin",
      ]);
    else commit(buildah, image, runRoot(debian, folder), []);
  const cache = spawnSync("npm", ["config", "get", "cache"], { encoding: "utf8" }).stdout.trim();
  return [`${cache}:${NPM_CACHE}`, `${CERTIFICATES}:${CERTIFICATES}:ro`];
}

function commit(
  buildah: Buildah,
  image: string,
  root: string,
  environment: readonly string[],
): void {
  const container = buildah("from", "scratch");
  buildah("add", "--quiet", container, root, "/");
  for (const each of environment) buildah("config", "--env", each, container);
  buildah("commit", "--quiet", "--timestamp=0", container, image);
  buildah("rm", container);
}

/** Laid out at the first time, which takes a minute or more. */
function debianRoot(env: Environment): string {
  const folder = cacheFolder(env, "image-base", `${SUITE}-${process.arch}`);
  const root = join(folder, "rootfs");
  if (existsSync(join(root, "etc/debian_version"))) return root;
  const half = join(folder, `half-${process.pid}`);
  mkdirSync(half, { recursive: true });
  try {
    const { status, stdout } = spawnSync(
      "debootstrap",
      ["--variant=minbase", "--include=ca-certificates", SUITE, half],
      { encoding: "utf8" },
    );
    if (status !== 0) throw new Error(`debootstrap: ${stdout.trim().split("\n").at(-1)}`);
    renameSync(half, root);
  } finally {
    rmSync(half, { recursive: true, force: true });
  }
  return root;
}

/** As node:24-slim has it: Debian with Node and npm. */
function buildRoot(debian: string, folder: string): string {
  const root = join(folder, "build-root");
  // Devices and what belongs to the running kernel are made anew by the container.
  const skipped = new Set(["dev", "proc", "sys", "var/cache", "usr/share/doc", "usr/share/locale"]);
  cpSync(debian, root, {
    recursive: true,
    verbatimSymlinks: true,
    filter: (path) => !skipped.has(path.slice(debian.length + 1)),
  });
  mkdirSync(join(root, "usr/local/bin"), { recursive: true });
  cpSync(IMAGE_NODE, join(root, "usr/local/bin/node"));
  const npm = dirname(dirname(realpathSync(npmProgram())));
  cpSync(npm, join(root, "usr/local/lib/node_modules/npm"), { recursive: true });
  writeFileSync(
    join(root, "usr/local/bin/npm"),
    '#!/bin/sh\nexec node /usr/local/lib/node_modules/npm/bin/npm-cli.js "$@"\n',
    { mode: 0o755 },
  );
  return root;
}

function npmProgram(): string {
  const given = process.env["npm_execpath"];
  if (given !== undefined && basename(given) === "npm-cli.js") return given;
  const found = spawnSync("sh", ["-c", "command -v npm"], { encoding: "utf8" }).stdout.trim();
  return found;
}

/** As distroless has it: Node, the libraries that it is linked to, and no shell. */
function runRoot(debian: string, folder: string): string {
  const root = join(folder, "run-root");
  const ldd = spawnSync("ldd", [IMAGE_NODE], { encoding: "utf8" }).stdout;
  const libraries = Array.from(ldd.matchAll(/(\/lib\S*\/)(\S+) \(/g), ([, at = "", name = ""]) => [
    at,
    name,
  ]);
  for (const [at = "", name = ""] of libraries) {
    mkdirSync(join(root, at), { recursive: true });
    cpSync(realpathSync(join(debian, "usr", at, name)), join(root, at, name));
  }
  mkdirSync(join(root, "nodejs/bin"), { recursive: true });
  cpSync(IMAGE_NODE, join(root, "nodejs/bin/node"));
  mkdirSync(join(root, "etc"), { recursive: true });
  writeFileSync(join(root, "etc/passwd"), "nonroot:x:65532:65532::/home/nonroot:/sbin/nologin\n");
  mkdirSync(join(root, "tmp"));
  chmodSync(join(root, "tmp"), 0o1777);
  return root;
}

export const dockerfileOf = (root: string): string =>
  readFileSync(join(root, "Dockerfile"), "utf8");
