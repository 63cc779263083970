// The executable that needs no Node: how soon its first output is there, in turns with the bundle that Node
// starts, and its size.
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { bundleInto } from "../tools/bundle.ts";
import { buildExecutable, packBundle } from "../tools/executable/build.ts";
import { OWN_PLATFORM, platformOf } from "../tools/executable/platforms.ts";
import { imageFolder } from "./image.ts";
import { median, type Bench } from "./scorecard.ts";

const ROUNDS = 31;

export const executable: Bench = {
  name: "executable",
  about: "the executable's first output beside that of the bundle, and its size",
  async run(how) {
    const folder = mkdtempSync(join(tmpdir(), "secretcast-bench-executable-"));
    how.after(() => rmSync(folder, { recursive: true }));
    const layer = join(folder, "layer");
    await bundleInto(layer, join(folder, "maps"));
    const file = join(folder, "secretcast");
    buildExecutable(platformOf(OWN_PLATFORM), packBundle(layer, folder), file, folder);
    const [ours, bundled]: [number[], number[]] = [[], []];
    for (let at = 0; at < (how.quick ? 3 : ROUNDS); at++) {
      ours.push(startMs(file, []));
      bundled.push(startMs(process.execPath, [join(imageFolder(), "dist/start.cjs")]));
    }
    const [value, node] = [median(ours), median(bundled)];
    how.figure("executable: --help, median", value, "ms", { atMost: 300 });
    how.figure("bundle and Node: --help, median", node, "ms");
    how.figure("times the bundle", value / node, "");
    const bytes = statSync(file).size;
    how.figure("the executable, unpacked", bytes / 2 ** 20, "MiB");
    spawnSync("gzip", ["-n", "-6", file]);
    const packed = statSync(`${file}.gz`).size / 2 ** 20;
    how.figure("packed by gzip", packed, "MiB", { atMost: 45, exact: true });
  },
};

function startMs(program: string, words: readonly string[]): number {
  const began = performance.now();
  const { status } = spawnSync(program, [...words, "--help"], { stdio: "ignore" });
  if (status !== 0) throw new Error(`${program} --help ended with ${status}`);
  return performance.now() - began;
}
