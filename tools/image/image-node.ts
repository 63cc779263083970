// The Node that the image has, whichever runs this: V8 takes what it compiled itself, and no other's.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

const ROOT = join(import.meta.dirname, "../..");
const BROUGHT = join(ROOT, `node_modules/node-${process.platform}-${process.arch}/bin/node`);

/** The path of the one that npm ci brings, of the Dockerfile's version; where it brings none, of this one. */
export const IMAGE_NODE = existsSync(BROUGHT) ? BROUGHT : process.execPath;

/** The flags with which the image starts it. */
export function imageFlags(): readonly string[] {
  const dockerfile = readFileSync(join(ROOT, "Dockerfile"), "utf8");
  const words: readonly string[] = JSON.parse(/^ENTRYPOINT (.*)$/m.exec(dockerfile)?.[1] ?? "[]");
  return words.filter((word) => word.startsWith("--"));
}
