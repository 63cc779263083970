#!/usr/bin/env node
// The one plain JavaScript file: it must parse on any Node, so that an old one gets a sentence
// and not a syntax error. A clone runs the TypeScript sources; image and package hold dist/.
import { existsSync, mkdirSync, statSync } from "node:fs";
import module from "node:module";
import { homedir } from "node:os";
import { isAbsolute, join } from "node:path";

const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
if (major < 22 || (major === 22 && minor < 19)) {
  process.stderr.write(
    `secretcast: needs Node 22.19 or newer, this is ${process.versions.node}; in a clone, start it through npm (npm start, npm run demo)\n`,
  );
  process.exit(1);
}

/**
 * What Node compiled is kept for the next start, which is then a tenth quicker. Who may write these
 * files decides what we run: so they lie in a folder of this user's alone, and not in the folder for
 * temporary files, where Node would put them. Without such a folder there is no cache, and in a pod
 * nothing is written.
 */
function keepCompiled() {
  if (process.env["KUBERNETES_SERVICE_HOST"]) return;
  try {
    const given = process.env["XDG_CACHE_HOME"] ?? "";
    const folder = join(isAbsolute(given) ? given : join(homedir(), ".cache"), "secretcast");
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const { uid, mode } = statSync(folder);
    if (uid === (process.getuid?.() ?? uid) && (mode & 0o022) === 0)
      module.enableCompileCache(folder);
  } catch {
    // It was to be quicker, no more.
  }
}

keepCompiled();
const source = new URL("../src/main.ts", import.meta.url);
const { main } = await import(
  existsSync(source) ? source.href : new URL("../dist/main.js", import.meta.url).href
);
await main();
