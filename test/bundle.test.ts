// The bundle that the image runs: it does what the sources do, it holds what is said of it, and a place
// in it can be found again in the sources.
import assert from "node:assert/strict";
import { spawn, spawnSync, type SpawnSyncReturns } from "node:child_process";
import {
  existsSync,
  globSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:http";
import { connect, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import type { BundledPackage } from "../tools/bundle/licences.ts";
import { decode } from "../tools/decode.ts";
import { IMAGE_NODE, imageFlags } from "../tools/image/image-node.ts";
import { startSandbox } from "../packages/sandbox/server.ts";
import { copyContext, readStages } from "./support/programs/dockerfile.ts";
import { kubeConfigFor, kubeConfigText } from "../packages/kube/testing/kubeconfig-text.ts";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "secretcast-bundle-"));
const [layer, maps] = [join(folder, "layer"), join(folder, "maps")];
/** What the first stage of the Dockerfile has copied when it makes the bundle. */
const context = join(folder, "context");
const START = join(layer, "dist/start.cjs");
const PROGRAM = join(layer, "dist/secretcast.cjs");
const FLAGS = imageFlags();
const SOURCES = join(ROOT, "bin/secretcast.js");
after(() => rmSync(folder, { recursive: true, force: true }));

const sandbox = await startSandbox();
after(() => sandbox.stop());

before(() => {
  const [build] = readStages();
  assert.ok(build);
  copyContext(build, context);
  symlinkSync(join(ROOT, "node_modules"), join(context, "node_modules"));
  const words = ["run", "bundle", "--", layer, maps];
  const { status, stderr } = spawnSync("npm", words, { cwd: context, encoding: "utf8" });
  assert.equal(status, 0, stderr);
  compile();
  const namespaces = ["secretcast", "team-a", "team-b"];
  sandbox.load(namespaces.map((name) => ({ kind: "Namespace", metadata: { name } })));
  sandbox.load([secret("registry", { "secretcast.io/to": "team-*" })]);
});

/** As the Dockerfile does. */
function compile(): void {
  const words = [...FLAGS, "--random-seed=1", "tools/bundle/compile.cjs", join(layer, "dist")];
  const { status, stderr } = spawnSync(IMAGE_NODE, words, { cwd: ROOT, encoding: "utf8" });
  assert.equal(status, 0, stderr);
}

const compiledFiles = () => globSync("**/*.v8", { cwd: layer }).toSorted();

const server = /http:\/\/127\.0\.0\.1:\d+/.exec(sandbox.kubeconfig())?.[0] ?? assert.fail();

function secret(name: string, annotations: Readonly<Record<string, string>>) {
  return { kind: "Secret", metadata: { namespace: "secretcast", name, annotations }, data: {} };
}

/** As a child that this process goes on serving meanwhile. */
async function run(program: string, words: readonly string[], kubeconfig: string) {
  const child = spawn(IMAGE_NODE, [program, ...words], {
    env: { PATH: process.env["PATH"], HOME: folder, KUBECONFIG: kubeconfig },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const said = { stdout: "", stderr: "" };
  child.stdout.on("data", (chunk: Buffer) => (said.stdout += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => (said.stderr += chunk.toString()));
  const status = await new Promise<number | null>((resolve) => child.on("close", resolve));
  // A slow machine is told how far a command has come.
  const stderr = said.stderr.replaceAll(/^objects read: .*\n/gm, "");
  return { status, stdout: said.stdout, stderr };
}

function kubeconfig(name: string, ...given: Parameters<typeof kubeConfigFor>): string {
  const path = join(folder, name);
  writeFileSync(path, kubeConfigText(kubeConfigFor(...given)));
  return path;
}

test("every command says what it says from the sources", async () => {
  const annotations = {
    "reflector.v1.k8s.emberstack.com/reflection-allowed": "true",
    "reflector.v1.k8s.emberstack.com/reflection-auto-enabled": "true",
    // A pattern, which is matched in a context of its own.
    "reflector.v1.k8s.emberstack.com/reflection-auto-namespaces": "team-[ab]",
  };
  sandbox.load([secret("old", annotations)]);
  const config = kubeconfig("plain", server);
  const commands = [
    ["--version"],
    ["--help"],
    ["run", "--help"],
    ["completion", "zsh"],
    ["plan", "-o", "yaml"],
    ["explain", "registry", "-n", "secretcast"],
    ["status", "-o", "json"],
    ["check"],
    ["migrate", "--from", "reflector"],
    ["run", "--no-such-flag"],
  ];
  const answers: Awaited<ReturnType<typeof run>>[] = [];
  for (const words of commands) {
    const [bundled, sources] = await Promise.all([
      run(START, words, config),
      run(SOURCES, words, config),
    ]);
    assert.deepEqual(bundled, sources, words.join(" "));
    answers.push(bundled);
  }
  assert.match(answers[8]?.stdout ?? "", /team-a/);
  assert.equal(answers[9]?.status, 1);
  const demo = await run(START, ["sandbox", "--once"], config);
  assert.equal(demo.status, 0, demo.stderr);
  assert.match(demo.stdout, /^team-c +registry /m);
});

test("users with an exec plugin, an auth provider or a proxy are served", async () => {
  const mark = join(folder, "plugin-ran");
  const token = JSON.stringify({ status: { token: "of-the-plugin" } });
  const plugin = `require("fs").writeFileSync(${JSON.stringify(mark)}, ""); console.log(${JSON.stringify(token)})`;
  const part = (json: unknown) => Buffer.from(JSON.stringify(json)).toString("base64url");
  const jwt = [{ alg: "none" }, { exp: Math.floor(Date.now() / 1000) + 3600 }, {}]
    .map(part)
    .join(".");
  const proxy = createServer();
  const tunnels: string[] = [];
  proxy.on("connect", ({ url = "" }, socket) => {
    tunnels.push(url);
    const onward = connect(Number(url.split(":")[1]), "127.0.0.1", () => {
      socket.write("HTTP/1.1 200 OK\r\n\r\n");
      onward.pipe(socket).pipe(onward);
    });
    for (const [one, other] of [
      [socket, onward],
      [onward, socket],
    ] as const)
      one.on("error", () => other.destroy()).on("close", () => other.destroy());
  });
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  after(() => proxy.close());
  const proxyUrl = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  const configs = [
    kubeconfig("exec", server, {
      exec: {
        apiVersion: "client.authentication.k8s.io/v1beta1",
        command: process.execPath,
        args: ["-e", plugin],
      },
    }),
    kubeconfig("oidc", server, { authProvider: { name: "oidc", config: { "id-token": jwt } } }),
    kubeconfig("proxied", server, {}, { proxyUrl }),
  ];
  for (const config of configs) {
    const { status, stdout, stderr } = await run(START, ["plan"], config);
    // There is something to do.
    assert.equal(status, 2, `${config}: ${stderr}`);
    assert.match(stdout, /registry/, config);
  }
  assert.ok(existsSync(mark));
  assert.ok(tunnels.length > 0);
});

test("V8 uses the code cache of the build, whatever the user is", () => {
  assert.ok(compiledFiles().includes("dist/secretcast.cjs.v8"));
  assert.deepEqual(refusedBy(FLAGS), []);
});

test("a code cache of another V8 or other flags costs nothing but time", () => {
  const other = [...FLAGS, "--hash-seed=1"];
  assert.deepEqual(refusedBy(other).length, compiledFiles().length);
  const said = spawnSync(IMAGE_NODE, [...other, START, "--version"], { encoding: "utf8" });
  assert.deepEqual([said.status, said.stderr], [0, ""]);
  const path = `${PROGRAM}.v8`;
  const whole = readFileSync(path);
  for (const broken of [Buffer.alloc(0), whole.subarray(0, 1000), Buffer.alloc(1000, 1)]) {
    writeFileSync(path, broken);
    const again = spawnSync(IMAGE_NODE, [...FLAGS, START, "--version"], { encoding: "utf8" });
    assert.deepEqual([again.status, again.stdout, again.stderr], [0, said.stdout, ""]);
  }
  writeFileSync(path, whole);
});

/** Of the files that were compiled before, those whose compiled form V8 does not take. */
function refusedBy(flags: readonly string[]): readonly string[] {
  const script = `
    const { load, scripts } = require(process.argv[1]);
    process.argv.splice(1, 1, ...process.argv.splice(2));
    process.on("exit", () => {
      const refused = [...scripts].filter(([, script]) => script.cachedDataRejected !== false);
      console.error(JSON.stringify([scripts.size, refused.map(([file]) => file)]));
    });
    load(process.argv[1]);`;
  const config = kubeconfig("nobody", "http://127.0.0.1:1");
  const words = ["run", "--once", "--kubeconfig", config];
  const { stderr } = spawnSync(IMAGE_NODE, [...flags, "--eval", script, START, PROGRAM, ...words], {
    encoding: "utf8",
  });
  const [loaded, refused]: [number, readonly string[]] = JSON.parse(
    stderr.trim().split("\n").at(-1) ?? "",
  );
  assert.equal(loaded, compiledFiles().length);
  return refused;
}

test("the bundle does not tell in which folder it was made", () => {
  const files = globSync("**/*.cjs", { cwd: layer });
  assert.deepEqual(
    files.filter((file) =>
      [ROOT, context].some((each) => readFileSync(join(layer, file), "utf8").includes(each)),
    ),
    [],
  );
});

test("the image's own layer is at most 5.5 MiB, without source maps", () => {
  const files = globSync("**/*", { cwd: layer, withFileTypes: true }).filter((file) =>
    file.isFile(),
  );
  const bytes = files.map(({ parentPath, name }) => statSync(join(parentPath, name)).size);
  const total = bytes.reduce((a, b) => a + b, 0);
  assert.ok(total <= 5.5 * 2 ** 20, `${total} bytes`);
  assert.deepEqual(
    files.filter(({ name }) => name.endsWith(".map") || name.endsWith(".ts")),
    [],
  );
});

const packages = (): readonly BundledPackage[] =>
  JSON.parse(readFileSync(join(maps, "packages.json"), "utf8"));

test("every package with code in the bundle has its licence beside it", () => {
  // What the maps name is found by the bundler on another way than the list.
  const sources = globSync("**/*.map", { cwd: maps }).flatMap((file): readonly string[] => {
    const map: { sources: string[] } = JSON.parse(readFileSync(join(maps, file), "utf8"));
    return map.sources;
  });
  const named = sources.flatMap((path) => {
    const after = path.lastIndexOf("node_modules/");
    if (after === -1) return [];
    return [/^(@[^/]+\/)?[^/]+/.exec(path.slice(after + "node_modules/".length))?.[0] ?? path];
  });
  assert.deepEqual(
    [...new Set(packages().map(({ name }) => name))],
    [...new Set(named)].toSorted((a, b) => a.localeCompare(b)),
  );
  const licences = readFileSync(join(layer, "THIRD-PARTY-LICENSES.txt"), "utf8");
  for (const { name, version, licence } of packages())
    assert.ok(licences.includes(`\n${name} ${version}, ${licence}\n`), name);
  assert.doesNotMatch(licences, /brings no licence text/);
});

test("the image's bill of materials lists the packages of which the bundle holds code", () => {
  const { status, stdout, stderr } = npm(
    "run",
    "--silent",
    "sbom",
    "--",
    join(maps, "packages.json"),
  );
  assert.equal(status, 0, stderr);
  const bom: { components: readonly BundledPackage[] } = JSON.parse(stdout);
  const words = (all: readonly BundledPackage[]) =>
    [...new Set(all.map(({ name, version }) => `${name}@${version}`))].toSorted();
  assert.deepEqual(words(bom.components), words(packages()));
});

test("a place in the bundle is found again in the sources", () => {
  const place = (file: string) => {
    const [before = "", after] = readFileSync(file, "utf8").split("function clusterNamespace(");
    assert.notEqual(after, undefined);
    const lines = before.split("\n");
    return `${lines.length}:${(lines.at(-1)?.length ?? 0) + 1}`;
  };
  const said = (at: string) => `unexpected TypeError at ${at}\nand at other-1a2b3c4d.cjs:1:1\n`;
  assert.equal(
    decode(said(`secretcast.cjs:${place(PROGRAM)}`), maps),
    said(`src/main.ts:${place(join(ROOT, "src/main.ts"))}`),
  );
});

function npm(...words: readonly string[]): SpawnSyncReturns<string> {
  return spawnSync("npm", words, { cwd: ROOT, encoding: "utf8" });
}
