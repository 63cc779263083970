// `npm run executable -- --out FILE [--platform linux-arm64]`: the command line as one file that needs no
// Node: the bundle of the image, in the Node of that platform. Without --platform it is for this machine. The
// executable for a Mac is made on a Mac, since it must be signed there.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { bundleInto } from "./bundle.ts";
import { buildExecutable, packBundle } from "./executable/build.ts";
import { OWN_PLATFORM, platformOf } from "./executable/platforms.ts";
import { refuse, wordsOf } from "./words.ts";

const { values } = wordsOf(import.meta.filename, {
  options: { out: { type: "string" }, platform: { type: "string", default: OWN_PLATFORM } },
});
const { out, platform } = values;
if (out === undefined) refuse(import.meta.filename, "give --out FILE");
const scratch = mkdtempSync(join(tmpdir(), "secretcast-executable-"));
try {
  const layer = join(scratch, "layer");
  const wanted = platformOf(platform);
  await bundleInto(layer, join(scratch, "maps"));
  buildExecutable(wanted, packBundle(layer, scratch), resolve(out), scratch);
} catch (error) {
  process.stderr.write(`executable: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
} finally {
  rmSync(scratch, { recursive: true });
}
