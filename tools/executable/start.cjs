// The executable's entry: the files of the bundle are in the executable, and what they read beside
// themselves is answered from there. Nothing is unpacked, so nothing is written.
// start.cjs of the bundle starts the program, as in the image.
"use strict";
const fs = require("node:fs");
const { basename, dirname, join, relative, sep } = require("node:path");
const { getAsset, getAssetKeys, getRawAsset } = require("node:sea");
const { fileURLToPath } = require("node:url");
const { compileFunction } = require("node:vm");

// Below a file, where nothing else can be.
const ROOT = join(process.execPath, "files");
const START = join(ROOT, "dist/start.cjs");
const COMPLETION_OF_KUBECTL = "kubectl_complete-secretcast";

const files = new Set(getAssetKeys());

/** Undefined for what is not below the executable. */
function placeOf(path) {
  const file = path instanceof URL ? fileURLToPath(path) : String(path);
  const below = file.startsWith(process.execPath + sep);
  return below ? relative(ROOT, file).replaceAll(sep, "/") : undefined;
}

function readFileSync(path, options) {
  const file = placeOf(path);
  if (file === undefined) return fs.readFileSync(path, options);
  if (!files.has(file))
    throw Object.assign(new Error(`the executable has no ${file}`), { code: "ENOENT" });
  const encoding = typeof options === "string" ? options : options?.encoding;
  return encoding ? getAsset(file, encoding) : Buffer.from(getRawAsset(file));
}

function readdirSync(path, ...options) {
  const folder = placeOf(path);
  if (folder === undefined) return fs.readdirSync(path, ...options);
  const below = [...files].filter((file) => dirname(file) === folder);
  return below.map((file) => basename(file));
}

const answered = {
  fs: { ...fs, readFileSync, readdirSync },
};
const requireAnswered = (id) => answered[id.replace(/^node:/, "")] ?? require(id);

const start = { exports: {} };
const names = ["exports", "require", "module", "__filename", "__dirname"];
const text = readFileSync(START, "utf8");
compileFunction(text, names, { filename: START })(
  start.exports,
  Object.assign(requireAnswered, { main: undefined }),
  start,
  START,
  dirname(START),
);
const { load, PROGRAM } = start.exports;
// As bin/kubectl_complete-secretcast.js: kubectl starts a link of that name.
if (basename(process.argv[1], ".exe") === COMPLETION_OF_KUBECTL)
  process.argv.splice(2, 0, "__complete");
load(PROGRAM);
