// A folder of the test's own in the system's folder for temporary files.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { Ending } from "./fault-proxy.ts";

/** Deleted with everything in it when the test, or whatever it is for, has ended. `files`: contents by their paths. */
export function folderOf(
  t: Ending,
  files: Readonly<Record<string, string | Uint8Array>> = {},
): string {
  const folder = mkdtempSync(join(tmpdir(), "secretcast-test-"));
  t.after(async () => rmSync(folder, { recursive: true, force: true }));
  for (const [name, text] of Object.entries(files)) {
    const file = join(folder, name);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  }
  return folder;
}
