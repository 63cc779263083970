// The Node that an executable is made of. For what is published it is Node's own: archives beside SHASUMS256.txt,
// whose signature the job that made the folder has verified. A dry run takes what npm brings, which others pack,
// compared with the lockfile: what npm ci installed for this platform, or the packed package of another one.
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { IMAGE_NODE } from "../image/image-node.ts";
import { ROOT, run, sha256OfFile } from "../release/files.ts";
import { OWN_PLATFORM, type Platform } from "./platforms.ts";

type Locked = { readonly version: string; readonly integrity?: string };

/** The licence of Node and of what is in it: one text for all platforms of a version. */
export const NODE_LICENCE = join(dirname(IMAGE_NODE), "../LICENSE");

/** The archives of Node of that version: as Node's own download page names them, for the platforms made from them. */
const archiveName = ({ name, program }: Platform, version: string): string =>
  program.endsWith(".exe") ? `${name}/node.exe` : `node-v${version}-${name}.tar.gz`;

/** What `folder` must hold below its SHASUMS256.txt and does not hold, as the checksums say. */
export function missingArchives(platforms: readonly Platform[], folder: string): readonly string[] {
  const names = platforms
    .filter(({ node }) => node !== undefined)
    .map((platform) => archiveName(platform, lockedVersion(platform)));
  const sums = join(folder, "SHASUMS256.txt");
  if (!existsSync(sums)) return ["SHASUMS256.txt", ...names];
  const known = new Map(
    readFileSync(sums, "utf8")
      .split("\n")
      .map((line): [string, string] => [line.slice(66), line.slice(0, 64)]),
  );
  return names.filter((name) => {
    const file = join(folder, name);
    return !existsSync(file) || known.get(name) !== sha256OfFile(file);
  });
}

/** The path of the program; below `scratch` if it must be unpacked. `folder` is as `missingArchives` wants it. */
export function nodeProgramOf(platform: Platform, scratch: string, folder?: string): string {
  const { name, node, program } = platform;
  if (node === undefined) return ownNode(name);
  if (folder !== undefined) return fromArchive(platform, scratch, folder);
  const file = program.endsWith(".exe") ? "bin/node.exe" : "bin/node";
  const installed = join(ROOT, "node_modules", node);
  return join(existsSync(join(installed, file)) ? installed : unpacked(node, scratch), file);
}

function ownNode(name: string): string {
  if (name !== OWN_PLATFORM)
    throw new Error(`the executable for ${name} is made on that platform, not on ${OWN_PLATFORM}`);
  return process.execPath;
}

function fromArchive(platform: Platform, scratch: string, folder: string): string {
  const missing = missingArchives([platform], folder);
  if (missing.length > 0)
    throw new Error(`${folder} has no ${missing.join(" and ")} of that digest`);
  const archive = join(folder, archiveName(platform, lockedVersion(platform)));
  if (archive.endsWith(".exe")) return archive;
  const into = join(scratch, `node-${platform.name}`);
  mkdirSync(into, { recursive: true });
  run("tar", ["-xzf", archive, "-C", into, "--strip-components=1"]);
  return join(into, "bin/node");
}

function lockedVersion({ node }: Platform): string {
  return locked(node ?? "").version;
}

function locked(name: string): Locked {
  const lock: { readonly packages: Readonly<Record<string, Locked>> } = JSON.parse(
    readFileSync(join(ROOT, "package-lock.json"), "utf8"),
  );
  const found = lock.packages[`node_modules/${name}`];
  if (found === undefined) throw new Error(`package-lock.json has no ${name}`);
  return found;
}

function unpacked(name: string, scratch: string): string {
  const { version, integrity } = locked(name);
  const what = `${name}@${version}`;
  const folder = join(scratch, name);
  mkdirSync(folder, { recursive: true });
  const words = ["pack", what, "--silent", "--prefer-offline", "--pack-destination", folder];
  const archive = join(folder, run("npm", words).trim());
  const digest = createHash("sha512").update(readFileSync(archive)).digest("base64");
  if (integrity !== `sha512-${digest}`)
    throw new Error(`${what} is not what package-lock.json names: it has sha512-${digest}`);
  run("tar", ["-xzf", archive, "-C", folder, "--strip-components=1"]);
  return folder;
}
