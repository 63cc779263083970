// The command that the image runs: its flags of Node, and the program as the image holds it, bundled
// into a folder that is gone when this process ends. Beside it the same unbundled, as the npm package is.
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseEnv } from "node:util";
import { imageFlags } from "../tools/image/image-node.ts";
import { run } from "../tools/release/files.ts";

/**
 * Words after the path of Node; with BENCH_NODE_FLAGS among them, to try flags or to profile. What this
 * process starts from then on has the image's environment too, but for what it was given itself.
 */
export function imageCommand(): readonly string[] {
  const words = [...triedFlags(), join(imageFolder(), "dist/start.cjs")];
  for (const [name, value] of Object.entries(imageEnvironment())) process.env[name] ??= value;
  return words;
}

function imageEnvironment(): NodeJS.Dict<string> {
  const lines = Array.from(readFileSync("Dockerfile", "utf8").matchAll(/^ENV (.*)$/gm));
  return parseEnv(lines.map(([, line = ""]) => line.replaceAll(" ", "\n")).join("\n"));
}

/** The image's own layer: what its Dockerfile copies into it. The processes that this one starts take the same. */
export function imageFolder(): string {
  return (process.env["BENCH_IMAGE_FOLDER"] ??= layOut("bundle", (folder) => {
    const layer = join(folder, "layer");
    run("npm", ["run", "bundle", "--", layer, join(folder, "maps")]);
    const compile = ["--random-seed=1", "tools/bundle/compile.cjs", join(layer, "dist")];
    run(process.execPath, [...triedFlags(), ...compile]);
    return layer;
  }));
}

/** As `imageCommand`, but without the bundle: every module a file, beside its packages. */
export function unbundledCommand(): readonly string[] {
  unbundled ??= layOut("dist", (folder) => {
    run("npm", ["run", "build"]);
    for (const each of ["bin", "dist", "package.json"])
      cpSync(each, join(folder, each), { recursive: true });
    rmSync("dist", { recursive: true });
    symlinkSync(join(process.cwd(), "node_modules"), join(folder, "node_modules"));
    return folder;
  });
  return [...triedFlags(), join(unbundled, "bin/secretcast.js")];
}

let unbundled: string | undefined;

function triedFlags(): readonly string[] {
  const tried = (process.env["BENCH_NODE_FLAGS"] ?? "").split(" ");
  return [...imageFlags(), ...tried.filter((word) => word.startsWith("--"))];
}

function layOut(name: string, fill: (folder: string) => string): string {
  const folder = mkdtempSync(join(tmpdir(), `secretcast-${name}-`));
  process.on("exit", () => rmSync(folder, { recursive: true }));
  return fill(folder);
}
