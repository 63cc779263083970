// The Node that an executable is made of. npm brings it, compared with the lockfile: what npm ci installed for
// this platform, or the packed package of another one.
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { IMAGE_NODE } from "../image/image-node.ts";
import { ROOT, run } from "../release/files.ts";
import { OWN_PLATFORM, type Platform } from "./platforms.ts";

type Locked = { readonly version: string; readonly integrity?: string };

/** The licence of Node and of what is in it: one text for all platforms of a version. */
export const NODE_LICENCE = join(dirname(IMAGE_NODE), "../LICENSE");

/** The path of the program; below `scratch` if it must be unpacked. */
export function nodeProgramOf({ name, node, program }: Platform, scratch: string): string {
  if (node === undefined) return ownNode(name);
  const file = program.endsWith(".exe") ? "bin/node.exe" : "bin/node";
  const installed = join(ROOT, "node_modules", node);
  return join(existsSync(join(installed, file)) ? installed : unpacked(node, scratch), file);
}

function ownNode(name: string): string {
  if (name !== OWN_PLATFORM)
    throw new Error(`the executable for ${name} is made on that platform, not on ${OWN_PLATFORM}`);
  return process.execPath;
}

function unpacked(name: string, scratch: string): string {
  const lock: { readonly packages: Readonly<Record<string, Locked>> } = JSON.parse(
    readFileSync(join(ROOT, "package-lock.json"), "utf8"),
  );
  const locked = lock.packages[`node_modules/${name}`];
  if (locked === undefined) throw new Error(`package-lock.json has no ${name}`);
  const what = `${name}@${locked.version}`;
  const folder = join(scratch, name);
  mkdirSync(folder, { recursive: true });
  const words = ["pack", what, "--silent", "--prefer-offline", "--pack-destination", folder];
  const archive = join(folder, run("npm", words).trim());
  const digest = createHash("sha512").update(readFileSync(archive)).digest("base64");
  if (locked.integrity !== `sha512-${digest}`)
    throw new Error(`${what} is not what package-lock.json names: it has sha512-${digest}`);
  run("tar", ["-xzf", archive, "-C", folder, "--strip-components=1"]);
  return folder;
}
