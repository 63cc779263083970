// `secretcast/sandbox` as a user has it: the packed tarball in an empty TypeScript project beside
// client-node, and the controller of the guide with its test, on each Node that the package says it runs on.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { after, before, test } from "node:test";
import {
  allowedNodes,
  compileProject,
  configureProject,
  installPacked,
  readManifest,
} from "./support/programs/packed-project.ts";
import { folderOf } from "../packages/kube/testing/folder.ts";

const GUIDE = join(import.meta.dirname, "../docs/sandbox.md");
const CLIENT = "@kubernetes/client-node";
const folder = folderOf({ after });

let project = "";
before(() => {
  const { dependencies, devDependencies } = readManifest();
  const versions = { ...dependencies, ...devDependencies };
  const needed = [CLIENT, "typescript", "@types/node"].map((name) => `${name}@${versions[name]}`);
  project = installPacked(folder, ...needed);
  const guide = readFileSync(GUIDE, "utf8");
  for (const [, name = "", code = ""] of guide.matchAll(/^```ts\n\/\/ (\S+\.ts)\n(.*?)^```$/gms))
    writeFileSync(join(project, name), code);
  // The declarations of client-node are not ours.
  configureProject(project, { skipLibCheck: true, allowImportingTsExtensions: true });
});

test("the controller of the guide and its test are right by their types", () => {
  const { status, stdout } = compileProject(project);
  assert.equal(status, 0, stdout);
});

test("a fault that does not exist is an error of the compiler", (t) => {
  const file = join(project, "wrong.ts");
  t.after(() => rmSync(file));
  const wrong =
    'import { startSandbox } from "secretcast/sandbox";\n(await startSandbox()).inject({ effect: { kind: "explode" } });\n';
  writeFileSync(file, wrong);
  assert.match(compileProject(project).stdout, /^wrong\.ts\(2,\d+\): error TS2322/m);
});

const runGuide = (bin: string) =>
  spawnSync(join(bin, "node"), ["--test", "--test-reporter=tap", "team-info.test.ts"], {
    cwd: project,
    encoding: "utf8",
    // Without the variable by which a runner knows that it is inside another.
    env: { PATH: process.env["PATH"], HOME: folder },
    timeout: 300_000,
  });

test("the test of the guide passes on each Node", async (t) => {
  for (const [number, bin] of Object.entries(allowedNodes(folder)))
    await t.test(`Node ${number}`, () => {
      const { status, stdout } = runGuide(bin);
      assert.equal(status, 0, stdout);
      assert.match(stdout, /^# pass 1$/m);
    });
});

test("the test of the guide fails where its controller is wrong", () => {
  const controller = join(project, "team-info.ts");
  const right = readFileSync(controller, "utf8");
  writeFileSync(controller, right.replace("data: { team }", 'data: { team: "blue" }'));
  const { status, stdout } = runGuide(dirname(process.execPath));
  writeFileSync(controller, right);
  assert.equal(status, 1);
  assert.match(stdout, /the state that must follow/);
});
