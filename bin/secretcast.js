#!/usr/bin/env node
// The one plain JavaScript file: it must parse on any Node, so that an old one gets a sentence
// and not a syntax error. A clone runs the TypeScript sources; image and package hold dist/.
import { existsSync } from "node:fs";

const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
if (major < 22 || (major === 22 && minor < 19)) {
  process.stderr.write(
    `secretcast: needs Node 22.19 or newer, this is ${process.versions.node}; in a clone, start it through npm (npm start, npm run demo)\n`,
  );
  process.exit(1);
}
const source = new URL("../src/main.ts", import.meta.url);
const { main } = await import(
  existsSync(source) ? source.href : new URL("../dist/main.js", import.meta.url).href
);
await main();
