// The Node that the image has, whichever runs this: V8 takes what it compiled itself, and no other's.
import { existsSync } from "node:fs";
import { join } from "node:path";

const BROUGHT = join(
  import.meta.dirname,
  `../../node_modules/node-${process.platform}-${process.arch}/bin/node`,
);

/** The path of the one that npm ci brings, of the Dockerfile's version; where it brings none, of this one. */
export const IMAGE_NODE = existsSync(BROUGHT) ? BROUGHT : process.execPath;
