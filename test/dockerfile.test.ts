// The Dockerfile as words. What its first stage copies makes the bundle in bundle.test.ts. Not shown here: that the
// base images exist and that an engine builds it.
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { copies, readStages, type Stage } from "./support/programs/dockerfile.ts";
import { lockedPackages } from "./support/programs/production-packages.ts";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const text = (file: string) => readFileSync(join(ROOT, file), "utf8");

const stages = readStages();
const last = stages.at(-1) ?? assert.fail("no stage");
const one = (word: string) => last.steps.findLast((step) => step.word === word)?.rest ?? "";
const words = (word: string): string[] => JSON.parse(one(word));

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

test("the last stage has no npm, runs no command and is not root", () => {
  assert.deepEqual(
    last.steps.filter(({ word }) => word === "RUN"),
    [],
  );
  assert.match(last.image, /distroless/);
  assert.match(one("USER"), /^[1-9]\d*:[1-9]\d*$/);
});

test("the last stage starts the program in its own folder", () => {
  const [node, ...given] = words("ENTRYPOINT");
  const [script = "", ...rest] = given.filter((word) => !word.startsWith("--"));
  assert.equal(node, "/nodejs/bin/node");
  assert.equal(dirname(dirname(script)), one("WORKDIR"));
  assert.deepEqual([...rest, ...words("CMD")], ["run"]);
});
