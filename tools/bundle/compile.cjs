// `node FLAGS compile.cjs DIST`: runs the program of DIST as the image does, until it has copied a Secret into a
// hundred namespaces and updated the copies, and leaves what V8 compiled beside each file, for start.cjs. So the
// first fan-out of a process finds its functions compiled. The API server is the bundle's own sandbox. It wants the very Node
// and the very flags of the image, and --random-seed=1 beside them, which V8 does not tell apart. With it the
// result is nearly the same each time; V8 promises no bytes, and puts down what lay in unused ones.
"use strict";
const { spawn } = require("node:child_process");
const { globSync, rmSync, writeFileSync } = require("node:fs");
const { createInterface } = require("node:readline");
const { join, resolve } = require("node:path");
const { setTimeout: delay } = require("node:timers/promises");

const MUST_HAVE_COPIED_MS = 60_000;
const COPIES = 100;
const [dist] = process.argv.slice(2);
const START = join(resolve(dist), "start.cjs");
const { COMPILED, load, PROGRAM, scripts } = require(START);
let isDone = false;
// What was compiled before would be taken, and left as it is.
for (const file of globSync(`**/*${COMPILED}`, { cwd: dist })) rmSync(join(dist, file));

const sandbox = spawn(process.execPath, [START, "sandbox", "--empty"], {
  stdio: ["ignore", "pipe", "inherit"],
});

async function copy() {
  const [server, kubeconfig] = await served();
  const send = async (method, path, body, type = "application/json") => {
    const written = { method, headers: { "content-type": type }, body: JSON.stringify(body) };
    return answerOf(await fetch(`${server}/api/v1/${path}`, written));
  };
  const namespaces = ["shared", ...Array.from({ length: COPIES }, (_, at) => `team-${at}`)];
  for (const name of namespaces) await send("POST", "namespaces", { metadata: { name } });
  const ports = ["--http-address=127.0.0.1:0", "--status-address=127.0.0.1:0"];
  const words = ["run", "--kubeconfig", kubeconfig, "--source-namespaces=shared", ...ports];
  process.argv.splice(1, process.argv.length, PROGRAM, ...words);
  load(PROGRAM);
  const hold = async (value) => {
    const data = Buffer.from(value).toString("base64");
    for (;;) {
      const { items } = await answerOf(await fetch(`${server}/api/v1/secrets`));
      if (items.filter((each) => each.data.value === data).length === namespaces.length) return;
      await delay(20);
    }
  };
  const annotations = { "secretcast.io/to": "team-*" };
  const source = { metadata: { name: "s", annotations }, stringData: { value: "first" } };
  await send("POST", "namespaces/shared/secrets", source);
  await hold("first");
  const change = { stringData: { value: "second" } };
  await send("PATCH", "namespaces/shared/secrets/s", change, "application/merge-patch+json");
  await hold("second");
  isDone = true;
  process.emit("SIGTERM", "SIGTERM");
}

async function answerOf(response) {
  if (!response.ok) throw new Error(`${response.url}: ${response.status}`);
  return response.json();
}

/** Where the sandbox serves, and the path of its kubeconfig. */
async function served() {
  for await (const line of createInterface(sandbox.stdout)) {
    const [, server, kubeconfig] = / on (http:\S+), kubeconfig (.*)$/.exec(line) ?? [];
    if (server) return [server, kubeconfig];
  }
  throw new Error("the sandbox has not started");
}

process.on("exit", () => {
  sandbox.kill();
  process.exitCode = isDone ? 0 : 1;
  if (!isDone) process.stderr.write("compile: the program has not copied\n");
  else
    for (const [file, script] of scripts) writeFileSync(file + COMPILED, script.createCachedData());
});
setTimeout(() => process.exit(1), MUST_HAVE_COPIED_MS).unref();
copy().catch((error) => {
  process.stderr.write(`compile: ${error.message}\n`);
  process.exit(1);
});
