// The packed tarball, installed by npm in an empty folder: every command, on each Node that the package
// says it runs on. npm takes the dependencies from its cache where it has them, else from the registry,
// and so the older Node.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { accessSync, constants, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { after, before, test, type TestContext } from "node:test";
import { runEveryCommand, startDemo } from "./support/programs/every-command.ts";
import { allowedNodes, installPacked, readManifest } from "./support/programs/packed-project.ts";

const { version, bin } = readManifest();
const folder = mkdtempSync(join(tmpdir(), "secretcast-installed-"));
const bins = join(folder, "project/node_modules/.bin");
after(() => rmSync(folder, { recursive: true, force: true }));
before(() => void installPacked(folder));

test("npm links every bin of package.json, and each can be run", () => {
  assert.deepEqual(Object.keys(bin).toSorted(), [
    "kubectl-secretcast",
    "kubectl_complete-secretcast",
    "secretcast",
  ]);
  for (const name of Object.keys(bin)) accessSync(join(bins, name), constants.X_OK);
});

test("every command runs as installed, on the oldest allowed Node and this one", async (t) => {
  for (const [number, node] of Object.entries(allowedNodes(folder)))
    await t.test(`Node ${number}`, (inner) => everyCommand(inner, number, node));
});

async function everyCommand(t: TestContext, number: string, node: string): Promise<void> {
  // The shebang finds this Node, and kubectl the plugins.
  const env: NodeJS.ProcessEnv = {
    PATH: [bins, node, process.env["PATH"] ?? ""].join(delimiter),
    HOME: folder,
  };
  const run = (name: string, ...words: readonly string[]) =>
    spawnSync(join(bins, name), words, { encoding: "utf8", env, cwd: folder });
  assert.equal(
    spawnSync("node", ["--version"], { encoding: "utf8", env }).stdout.trim(),
    `v${number}`,
  );
  for (const name of ["secretcast", "kubectl-secretcast"])
    assert.equal(run(name, "--version").stdout.trim(), version);
  assert.match(run("kubectl_complete-secretcast", "expl").stdout, /^explain\t.*\n:4\n$/);

  runEveryCommand(await startDemo(t, { program: join(bins, "secretcast"), env, cwd: folder }));
}
