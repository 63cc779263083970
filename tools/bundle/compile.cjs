// `node FLAGS compile.cjs DIST`: runs the program of DIST as the image does, until it asks its API server for the
// first time, and leaves what V8 compiled beside each file, for start.cjs. It wants the very Node and the
// very flags of the image, and --random-seed=1 beside them, which V8 does not tell apart. With it the result
// is nearly always the same; V8 promises no bytes, and puts down what lay in unused ones.
"use strict";
const { globSync, mkdtempSync, rmSync, writeFileSync } = require("node:fs");
const { createServer } = require("node:http");
const { tmpdir } = require("node:os");
const { join, resolve } = require("node:path");

const MUST_HAVE_ASKED_MS = 60_000;
const [dist] = process.argv.slice(2);
const { COMPILED, load, PROGRAM, scripts } = require(join(resolve(dist), "start.cjs"));
const folder = mkdtempSync(join(tmpdir(), "secretcast-compile-"));
let asked = false;
// What was compiled before would be taken, and left as it is.
for (const file of globSync(`**/*${COMPILED}`, { cwd: dist })) rmSync(join(dist, file));

const server = createServer((_request, response) => {
  response.writeHead(503).end();
  asked = true;
  process.emit("SIGTERM", "SIGTERM");
});
server.listen(0, "127.0.0.1", () => {
  const config = {
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name: "c", cluster: { server: `http://127.0.0.1:${server.address().port}` } }],
    contexts: [{ name: "c", context: { cluster: "c", user: "u" } }],
    users: [{ name: "u", user: { token: "t" } }],
    "current-context": "c",
  };
  const kubeconfig = join(folder, "kubeconfig");
  writeFileSync(kubeconfig, JSON.stringify(config));
  const ports = ["--http-address=127.0.0.1:0", "--status-address=127.0.0.1:0"];
  process.argv.splice(1, process.argv.length, PROGRAM, "run", "--kubeconfig", kubeconfig, ...ports);
  setTimeout(() => process.exit(1), MUST_HAVE_ASKED_MS).unref();
  load(PROGRAM);
});

process.on("exit", () => {
  rmSync(folder, { recursive: true });
  process.exitCode = asked ? 0 : 1;
  if (!asked) process.stderr.write("compile: the program asked its API server nothing\n");
  else
    for (const [file, script] of scripts) writeFileSync(file + COMPILED, script.createCachedData());
});
