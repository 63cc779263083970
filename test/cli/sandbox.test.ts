// The demo as somebody runs it: it takes the flags of `run`, refuses those that mean nothing in it, and
// each line that it says to try does what it is said for.
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { runProgram } from "../../src/cli/program.ts";
import { loadKubeConfig } from "../../packages/kube/kubeconfig/kubeconfig.ts";
import { eventually } from "../../packages/kube/testing/eventually.ts";
import { field } from "../../packages/sandbox/testing/http.ts";
import { commandLine } from "../support/programs/command-line.ts";
import { kubectlMissing } from "../support/api-server/kubectl.ts";
import { folderOf } from "../../packages/kube/testing/folder.ts";

async function sandbox(...flags: readonly string[]) {
  let [stdout, stderr] = ["", ""];
  const code = await runProgram(["sandbox", "--once", ...flags], {
    version: "1.2.3",
    env: {},
    clusterNamespace: undefined,
    stdout: { write: (text: string) => Boolean((stdout += text)) },
    stderr: { write: (text: string) => Boolean((stderr += text)) },
    signal: new AbortController().signal,
  });
  return { code, stdout, stderr };
}

for (const flag of [
  "--kubeconfig=x",
  "--context=x",
  "--lease-name=x",
  "--lease-namespace=x",
].concat(["--leader-elect", "--no-leader-elect", "--dry-run"]))
  test(`the demo refuses ${flag} in one line, and starts nothing`, async () => {
    const { code, stdout, stderr } = await sandbox(flag);
    assert.deepEqual([code, stdout], [1, ""]);
    const name = flag.replace(/=.*|no-/g, "");
    assert.ok(stderr.startsWith(`secretcast: ${name} means nothing in the sandbox: `), stderr);
    assert.match(stderr, /; leave it out\n$/);
  });

test("the demo refuses a wrong value as run does, and starts nothing", async () => {
  const wrong = await sandbox("--resync=soon");
  assert.deepEqual([wrong.code, wrong.stdout], [1, ""]);
  assert.match(wrong.stderr, /^secretcast: --resync: "soon" is not a duration[^\n]*\n$/);
  const glob = await sandbox("--source-namespaces=Team_A");
  assert.deepEqual([glob.code, glob.stdout], [1, ""]);
  assert.match(glob.stderr, /^secretcast: --source-namespaces: "Team_A" is wrong[^\n]*\n$/);
});

test("an empty sandbox serves the API alone until a signal, for tests of other programs", async () => {
  const stop = new AbortController();
  let stdout = "";
  const program = {
    version: "1.2.3",
    env: {},
    clusterNamespace: undefined,
    stdout: { write: (text: string) => Boolean((stdout += text)) },
    stderr: { write: () => true },
    signal: stop.signal,
  };
  const running = runProgram(["sandbox", "--empty"], program);
  await eventually("the API is served", () => stdout.endsWith("\n"));
  const [, url = "", kubeconfig = ""] = /on (http:\S+), kubeconfig (\S+)\n$/.exec(stdout) ?? [];
  const answer = await fetch(`${url}/api/v1/namespaces`);
  const { items } = (await answer.json()) as { readonly items: readonly object[] };
  assert.deepEqual(
    items.map((item) => field(item, "metadata", "name")),
    ["default", "kube-node-lease", "kube-public", "kube-system"],
  );
  assert.equal(existsSync(kubeconfig), true);
  stop.abort();
  assert.equal(await running, 0);
  assert.equal(existsSync(kubeconfig), false);
  for (const [flag, why] of [
    ["--once", /^secretcast: --empty and --once contradict each other/],
    ["--resync=1h", /^secretcast: --empty runs no controller: leave out --resync\n$/],
  ] as const) {
    const { code, stderr } = await commandLine(["sandbox", "--empty", flag]);
    assert.equal(code, 1);
    assert.match(stderr, why);
  }
});

test("the demo's flags are what its controller goes by", async () => {
  const some = await sandbox("--exclude-namespaces=team-b");
  assert.equal(some.code, 0);
  // Which of two writes in flight lands first is nobody's promise.
  assert.deepEqual(some.stdout.match(/^copied .*$/gm)?.toSorted(), [
    "copied    secretcast/registry -> team-a/registry",
    "copied    secretcast/registry -> team-c/registry",
  ]);
  const none = await sandbox("--source-namespaces=*");
  assert.equal(none.code, 0);
  assert.doesNotMatch(none.stdout, /^copied/m, "under opt-in nothing goes unasked");
});

test("the help names the defaults of the demo where they are not those of run", async () => {
  const { code, stdout } = await commandLine(["sandbox", "--help"]);
  assert.equal(code, 0);
  const help = stdout.replaceAll(/\s+/g, " ");
  for (const [flag, value] of [
    ["delete-hold", "10s"],
    ["http-address", "127.0.0.1:0"],
    ["status-address", "127.0.0.1:0"],
    ["log-level", "warn"],
    ["log-format", "pretty"],
    ["delete-grace", "10s"],
    ["resync", "10m"],
  ] as const) {
    const [, printed] = new RegExp(` --${flag} [^[]*\\[default: ([^\\]]*)\\]`).exec(help) ?? [];
    assert.equal(printed, value, `--${flag}`);
  }
});

for (const [flags, home] of [
  [[], "secretcast"],
  [["--source-namespaces=*"], "secretcast"],
  [["--source-namespaces=platform-*"], "platform-x"],
] as const)
  test(`the demo's four lines show a copy, a refusal, a conflict and a pull (${flags.join(" ") || "no flags"})`, async (t) => {
    const missing = kubectlMissing();
    if (missing) return t.skip(missing);
    const { env, first, four, asked } = await startDemo(t, flags);
    const shell = (line: string): string => {
      const { status, stdout, stderr } = spawnSync("bash", ["-c", line], { env, encoding: "utf8" });
      assert.equal(status, 0, `${line}: ${stderr}`);
      return stdout;
    };
    // What is looked at again and again is asked for without a process each time.
    const { server } = loadKubeConfig({ kubeconfig: env.KUBECONFIG }).cluster;
    const get = async (path: string): Promise<unknown> =>
      (await fetch(`${server}/api/v1/namespaces/${path}`)).json();
    const keysOf = async (place: string): Promise<readonly string[]> => {
      const data = field(await get(place.replace("/", "/secrets/")), "data");
      return Object.keys(data ?? {}).toSorted((a, b) => a.localeCompare(b));
    };
    const reported = (namespace: string, reason: string, name: string) =>
      eventually(`${reason} on ${name}`, async () => {
        const { items } = (await get(`${namespace}/events`)) as { items: readonly object[] };
        return items.some(
          (event) =>
            field(event, "reason") === reason && field(event, "involvedObject", "name") === name,
        );
      });
    for (const line of first) shell(line);
    assert.equal(four.length, 4);
    const [own = "", typo = "", conflict = "", pull = ""] = four;

    shell(own);
    for (const team of ["team-a", "team-b", "team-c"])
      await eventually(
        `the copy in ${team}`,
        async () => (await keysOf(`${team}/mine`)).join() === "k",
      );
    shell(typo);
    await reported(home, "Refused", "typo");
    assert.deepEqual(await keysOf("team-a/typo"), []);
    shell(conflict);
    await reported(home, "Conflict", "mine");
    assert.deepEqual(await keysOf("legacy/mine"), ["k"]);
    shell(pull);
    await eventually("the pull", async () => (await keysOf("legacy/pulled")).join() === "k");
    const [seen = "", status = "", explain = ""] = asked;
    assert.match(shell(seen), /secret\/pulled/);
    assert.match(shell(`${status} || test $? -eq 2`), /^\S+ +typo +refused /m);
    assert.match(shell(explain), /^no +its annotations are valid +invalid secretcast\.io\/too: /m);
  });

test("status, plan and check beside a demo take its settings", async (t) => {
  const flags = ["--config-maps", "--exclude-namespaces=team-b"];
  const { env, asked } = await startDemo(t, flags);
  const run = (line: string) => spawnSync("bash", ["-c", line], { env, encoding: "utf8" });
  for (const command of ["status", "plan", "check"]) {
    const { stdout, stderr } = run(`secretcast ${command}`);
    const [, judged = ""] =
      /^judged by (.*), from those of Deployment secretcast\/secretcast$/m.exec(stderr) ?? [];
    for (const flag of ["--exclude-namespaces=team-b", "--delete-hold=10s", "--config-maps=true"])
      assert.ok(judged.split(" ").includes(flag), `${command}, ${flag}: ${stderr}`);
    assert.doesNotMatch(stdout + stderr, /no controller is installed/);
  }
  const [, status = "", explain = ""] = asked;
  assert.equal(status, "secretcast status --exclude-namespaces='team-b' --config-maps='true'");
  assert.match(explain, /--config-maps='true'$/);
  assert.equal(run(status).status, 0);
  const noMap = run("secretcast explain configmap/none -n team-a").stderr;
  assert.match(noMap, /there is no ConfigMap none/);
});

async function startDemo(t: TestContext, flags: readonly string[]) {
  const demo = spawn(process.execPath, ["bin/secretcast.js", "sandbox", ...flags], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const home = folderOf(t);
  t.after(async () => {
    demo.kill("SIGTERM");
    if (demo.exitCode === null) await once(demo, "exit");
  });
  let printed = "";
  demo.stdout.on("data", (chunk: Buffer) => (printed += chunk.toString()));
  await eventually("the demo is up", () => printed.includes("And see what came of it"), 120_000);
  const lines = [...printed.matchAll(/^ {2}(\S.*)$/gm)].map(([, line = ""]) => line);
  const [, kubeconfig = ""] = /^export KUBECONFIG=(\S+)$/.exec(lines[0] ?? "") ?? [];
  const { PATH = "", NODE_COMPILE_CACHE = "" } = process.env;
  const env = { PATH, NODE_COMPILE_CACHE, HOME: home, KUBECONFIG: kubeconfig };
  // What npm links where the package is installed.
  const program = join(home, "secretcast");
  const words = [process.execPath, join(process.cwd(), "bin/secretcast.js")];
  writeFileSync(program, `#!/bin/sh\nexec "${words.join('" "')}" "$@"\n`, { mode: 0o755 });
  env.PATH = `${home}:${env.PATH}`;
  return { env, first: lines.slice(1, -7), four: lines.slice(-7, -3), asked: lines.slice(-3) };
}
