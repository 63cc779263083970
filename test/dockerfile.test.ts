// The Dockerfile without an engine: its words are read, its first two stages are run in a folder with the
// packages of this clone, and its last stage is laid out and started. Not shown here: that the base
// images exist and that an engine builds it.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { lockedPackages } from "./support/programs/production-packages.ts";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const text = (file: string) => readFileSync(join(ROOT, file), "utf8");

type Stage = { readonly image: string; readonly name: string | undefined; readonly steps: Step[] };
type Step = { readonly word: string; readonly rest: string };

function readStages(dockerfile: string): readonly Stage[] {
  const lines = dockerfile
    .replaceAll(/^#.*\n/gm, "")
    .replaceAll(/\\\n\s*/g, "")
    .split("\n");
  const stages: Stage[] = [];
  for (const line of lines.filter((each) => each.trim() !== "")) {
    const [word = "", ...words] = line.split(/\s+/);
    if (word === "FROM") stages.push({ image: words[0] ?? "", name: words[2], steps: [] });
    else stages.at(-1)?.steps.push({ word, rest: words.join(" ") });
  }
  return stages;
}

const stages = readStages(text("Dockerfile"));
const last = stages.at(-1) ?? assert.fail("no stage");
const one = (word: string) => last.steps.findLast((step) => step.word === word)?.rest ?? "";
const words = (word: string): string[] => JSON.parse(one(word));

type Copy = { readonly from: string | undefined; readonly sources: string[]; readonly to: string };
function copies({ steps }: Stage): readonly Copy[] {
  return steps
    .filter(({ word }) => word === "COPY")
    .map(({ rest }) => {
      const given = rest.split(" ");
      const paths = given.filter((each) => !each.startsWith("--"));
      const from = given.find((each) => each.startsWith("--from="))?.slice("--from=".length);
      return { from, sources: paths.slice(0, -1), to: paths.at(-1) ?? "" };
    });
}
const fromContext = stages.flatMap(copies).filter(({ from }) => from === undefined);

test("every file that the Dockerfile copies is there, and .dockerignore lets it through", () => {
  const rules = text(".dockerignore")
    .split("\n")
    .filter((rule) => rule && !rule.startsWith("#"));
  // The last rule that matches decides; a pattern matches a path and all below it.
  const ignored = (path: string) =>
    rules.reduce((state, rule) => {
      const pattern = rule.replace(/^!/, "").replaceAll(".", "\\.").replaceAll("*", "[^/]*");
      return new RegExp(`^${pattern}(/|$)`).test(path) ? !rule.startsWith("!") : state;
    }, false);
  for (const source of fromContext.flatMap(({ sources }) => sources)) {
    assert.ok(existsSync(join(ROOT, source)), source);
    assert.equal(ignored(source), false, source);
  }
  for (const kept of [".git/config", "node_modules/x", "test/a.ts", "manifests/role.yaml"])
    assert.equal(ignored(kept), true, kept);
});

test("every stage that is copied from has been named before", () => {
  stages.forEach((stage, at) => {
    const named = stages.slice(0, at).map(({ name }) => name);
    for (const { from } of copies(stage))
      if (from !== undefined) assert.ok(named.includes(from), from);
  });
});

test("every base image names a version of Node 24", () => {
  for (const { image } of stages) assert.match(image, /^(node:24-|\S+\/nodejs24-)/);
});

const commands = ({ steps }: Stage) =>
  steps.filter(({ word }) => word === "RUN").map(({ rest }) => rest);
const stage = (name: string | undefined) =>
  stages.find((each) => each.name === name) ?? assert.fail(name);

test("packages are installed by the lockfile, and the last stage holds the bundle alone", () => {
  const bundle = "npm run bundle -- layer maps";
  assert.deepEqual(commands(stage("build")), [
    "npm ci --ignore-scripts --no-audit --no-fund",
    bundle,
  ]);
  assert.deepEqual(copies(stage("compiled")), [
    { from: "build", sources: ["/app/layer"], to: "./" },
    { from: "build", sources: ["/app/tools/bundle/compile.cjs"], to: "/compile/" },
  ]);
  assert.deepEqual(copies(last), [{ from: "compiled", sources: ["/app"], to: "./" }]);
  // npm ci reads the package.json of each package by path, development ones too.
  const copied = fromContext.flatMap(({ sources }) => sources);
  for (const path of Object.keys(lockedPackages()).filter((each) => each.startsWith("tools/")))
    assert.ok(copied.includes(`${path}/package.json`), path);
});

// V8 takes what it made before from the same V8 with the same flags alone.
test("the program is compiled by the image and the flags that start it", () => {
  const compiled = stage("compiled");
  assert.equal(compiled.image, last.image);
  const [node, ...given] = words("ENTRYPOINT");
  const flags = given.filter((word) => word.startsWith("--"));
  const [command = "[]", ...more] = commands(compiled);
  assert.deepEqual(more, []);
  const compile = ["--random-seed=1", "/compile/compile.cjs", "dist"];
  assert.deepEqual(JSON.parse(command), [node, ...flags, ...compile]);
});

// npm leaves out a binary that its registry has not, without a word, and then `npm ci` refuses the lockfile.
test("the lockfile holds the binaries of every platform that it names", () => {
  const locked = lockedPackages();
  for (const [path, { optionalDependencies = {} }] of Object.entries(locked))
    for (const name of Object.keys(optionalDependencies))
      assert.ok(
        `${path}/node_modules/${name}` in locked || `node_modules/${name}` in locked,
        `${name} of ${path}`,
      );
});

test("the last stage runs no command, has no npm and runs as a number that is not root", () => {
  assert.deepEqual(
    last.steps.filter(({ word }) => word === "RUN"),
    [],
  );
  assert.match(last.image, /distroless/);
  assert.match(one("USER"), /^[1-9]\d*:[1-9]\d*$/);
});

test("the last stage runs the program and its demo on just the files it holds", () => {
  const folder = mkdtempSync(join(tmpdir(), "secretcast-image-"));
  try {
    layOut(folder);
    const [node, ...given] = words("ENTRYPOINT");
    const flags = given.filter((word) => word.startsWith("--"));
    const [script = "", ...rest] = given.filter((word) => !word.startsWith("--"));
    assert.equal(node, "/nodejs/bin/node");
    assert.equal(dirname(dirname(script)), one("WORKDIR"));
    assert.deepEqual([...rest, ...words("CMD")], ["run"]);
    const program = join(folder, script.slice(one("WORKDIR").length));
    const start = (...argv: readonly string[]) =>
      spawnSync(process.execPath, [...flags, program, ...argv], {
        encoding: "utf8",
        env: { HOME: folder, NODE_ENV: "production" },
      });
    const { version }: { version: string } = JSON.parse(text("package.json"));
    assert.equal(start("--version").stdout.trim(), version);
    const demo = start("sandbox", "--once");
    assert.equal(demo.status, 0, demo.stderr);
    assert.match(demo.stdout, /^team-c +registry /m);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

/** The last stage's WORKDIR, made as the build stage makes it. */
function layOut(folder: string): void {
  const built = join(folder, "build");
  copyContext(stage("build"), built);
  symlinkSync(join(ROOT, "node_modules"), join(built, "node_modules"));
  const [, bundle = ""] = commands(stage("build"));
  const [npm = "", ...rest] = bundle.split(" ");
  const done = spawnSync(npm, rest, { cwd: built, encoding: "utf8" });
  assert.equal(done.status, 0, done.stderr);
  for (const each of readdirSync(join(built, "layer")))
    renameSync(join(built, "layer", each), join(folder, each));
  const [compile = "[]"] = commands(stage("compiled"));
  const [, ...given]: string[] = JSON.parse(compile);
  const compiler = join(built, "tools/bundle/compile.cjs");
  const replaced = given.map((word) => (word === "/compile/compile.cjs" ? compiler : word));
  const compiled = spawnSync(process.execPath, replaced, { cwd: folder, encoding: "utf8" });
  assert.equal(compiled.status, 0, compiled.stderr);
  rmSync(built, { recursive: true });
}

function copyContext(of: Stage, folder: string): void {
  for (const { from, sources, to } of copies(of))
    for (const source of from === undefined ? sources : []) {
      const target = to.endsWith("/") ? join(to, basename(source)) : to;
      mkdirSync(dirname(join(folder, target)), { recursive: true });
      cpSync(join(ROOT, source), join(folder, target), { recursive: true });
    }
}
