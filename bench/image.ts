// The command that the image runs: its flags of Node, and the program without its types, laid out in
// a folder that is gone when this process ends.
import { spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

let laidOut: string | undefined;

/** Words after the path of Node; with BENCH_NODE_FLAGS among them, to try flags or to profile. */
export function imageCommand(): readonly string[] {
  const entrypoint = /^ENTRYPOINT (.*)$/m.exec(readFileSync("Dockerfile", "utf8"))?.[1] ?? "[]";
  const words: readonly string[] = JSON.parse(entrypoint);
  const tried = (process.env["BENCH_NODE_FLAGS"] ?? "").split(" ");
  const flags = [...words, ...tried].filter((word) => word.startsWith("--"));
  laidOut ??= layOut();
  return [...flags, join(laidOut, "bin/secretcast.js")];
}

function layOut(): string {
  const folder = mkdtempSync(join(tmpdir(), "secretcast-image-"));
  process.on("exit", () => rmSync(folder, { recursive: true }));
  const { status, stderr } = spawnSync("npm", ["run", "build"], { encoding: "utf8" });
  if (status !== 0) throw new Error(`npm run build: ${stderr}`);
  for (const each of ["bin", "dist", "package.json"])
    cpSync(each, join(folder, each), { recursive: true });
  rmSync("dist", { recursive: true });
  symlinkSync(join(process.cwd(), "node_modules"), join(folder, "node_modules"));
  return folder;
}
