// One file per platform that is the program: Node with the bundle in it (a single executable application of
// Node). V8's compiled code is left out: it saves 10 ms of 90, is of one processor, and is not the same twice.
import { chmodSync, copyFileSync, cpSync, globSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { IMAGE_NODE } from "../image/image-node.ts";
import { run } from "../release/files.ts";
import { withNote } from "./elf.ts";
import { nodeProgramOf } from "./node-program.ts";
import type { Platform } from "./platforms.ts";

const START = join(import.meta.dirname, "start.cjs");
/** Node looks for these. */
const RESOURCE = "NODE_SEA_BLOB";
const SEGMENT = "NODE_SEA";
const FUSE = "NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2";

/** What Node is to run, of the bundle in `layer`: the same for each platform. Answers with its path. */
export function packBundle(layer: string, scratch: string): string {
  const stage = join(scratch, "stage");
  cpSync(layer, stage, { recursive: true });
  copyFileSync(START, join(stage, "start.cjs"));
  const files = globSync("**/*", { cwd: stage, withFileTypes: true })
    .filter((file) => file.isFile())
    .map(({ parentPath, name }) => join(parentPath, name).slice(stage.length + 1))
    .toSorted();
  const config = {
    main: "start.cjs",
    output: join(scratch, "packed"),
    disableExperimentalSEAWarning: true,
    // NODE_OPTIONS is for programs that a user starts with Node.
    execArgvExtension: "none",
    assets: Object.fromEntries(files.map((file) => [file, file])),
  };
  writeFileSync(join(scratch, "config.json"), JSON.stringify(config));
  // The names in it are relative, so the folder is not in the result.
  run(IMAGE_NODE, ["--experimental-sea-config", join(scratch, "config.json")], { cwd: stage });
  return config.output;
}

/** Makes the executable of that platform at `file`; `nodes` is a folder of Node's own archives. */
export function buildExecutable(
  platform: Platform,
  packed: string,
  file: string,
  scratch: string,
  nodes?: string,
): void {
  const program = nodeProgramOf(platform, scratch, nodes);
  if (platform.krew.os === "linux") {
    const made = withNote(readFileSync(program), RESOURCE, readFileSync(packed));
    setFuse(made);
    writeFileSync(file, made);
  } else {
    copyFileSync(program, file);
    injectByPostject(platform, packed, file);
  }
  chmodSync(file, 0o755);
}

/** With it Node knows that there is something to look for. */
function setFuse(program: Buffer): void {
  const at = program.indexOf(`${FUSE}:0`);
  if (at === -1 || program.includes(`${FUSE}:`, at + 1))
    throw new Error("this Node is not made for single executables");
  program.write("1", at + FUSE.length + 1);
}

/** A changed program has no valid signature, and a Mac starts none without. */
function injectByPostject({ krew }: Platform, packed: string, file: string): void {
  const mac = krew.os === "darwin";
  chmodSync(file, 0o755);
  if (mac) {
    run("codesign", ["--remove-signature", file]);
    run("strip", ["-x", file]);
  }
  const postject = fileURLToPath(import.meta.resolve("postject/dist/cli.js"));
  const words = [postject, file, RESOURCE, packed, "--sentinel-fuse", FUSE];
  if (mac) words.push("--macho-segment-name", SEGMENT);
  run(process.execPath, words);
  if (mac) run("codesign", ["--sign", "-", file]);
}
