// The image's entry: the program's files, compiled by V8 when the image was built. compile.cjs left what
// V8 made beside each file; V8 takes it if it comes of the same V8 with the same flags for the same file,
// else it compiles anew and nothing but time is lost. Node's own cache would ask for the same user and
// the same kind of processor too.
"use strict";
const { readFileSync } = require("node:fs");
const { dirname, join } = require("node:path");
const { constants, Script } = require("node:vm");

const HEAD = "(function (exports, require, module, __filename, __dirname) { ";
const COMPILED = ".v8";
const modules = new Map();
const scripts = new Map();

function load(file) {
  const known = modules.get(file);
  if (known !== undefined) return known.exports;
  const module = { exports: {} };
  modules.set(file, module);
  const script = new Script(`${HEAD}${readFileSync(file, "utf8")}\n})`, {
    filename: file,
    // Columns are those of the file.
    columnOffset: -HEAD.length,
    cachedData: compiledOf(file),
    importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
  });
  scripts.set(file, script);
  const folder = dirname(file);
  const near = (id) => (id.startsWith(".") ? load(join(folder, id)) : require(id));
  const run = script.runInThisContext();
  run.call(module.exports, module.exports, near, module, file, folder);
  return module.exports;
}

function compiledOf(file) {
  try {
    return readFileSync(file + COMPILED);
  } catch {
    return undefined;
  }
}

const PROGRAM = join(__dirname, "secretcast.cjs");
if (require.main === module) load(PROGRAM);
else module.exports = { COMPILED, load, PROGRAM, scripts };
