// The program as a user starts it: exit codes, and one clear line for wrong input.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { test } from "node:test";
import { runProgram } from "../../src/cli/program.ts";
import { writtenFile } from "../../packages/kube/testing/kubeconfig-text.ts";

type Result = { readonly code: number | null; readonly stdout: string; readonly stderr: string };

/** One command line in this process: everything but bin/ and main.ts, which the last test starts. */
async function secretcast(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<Result> {
  let stdout = "";
  let stderr = "";
  const code = await runProgram(args, {
    version: "1.2.3",
    env,
    clusterNamespace: undefined,
    stdout: { write: (text: string) => Boolean((stdout += text)) },
    stderr: { write: (text: string) => Boolean((stderr += text)) },
    signal: new AbortController().signal,
  });
  return { code, stdout, stderr };
}

/** The program as the shell starts it. */
function started(args: readonly string[]): Promise<Result> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, ["bin/secretcast.js", ...args], {
      stdio: ["ignore", "pipe", "pipe"],
    });
    let stdout = "";
    let stderr = "";
    child.stdout.on("data", (chunk: Buffer) => (stdout += chunk.toString()));
    child.stderr.on("data", (chunk: Buffer) => (stderr += chunk.toString()));
    child.on("error", reject);
    child.on("close", (code) => resolve({ code, stdout, stderr }));
  });
}

async function failsWith(args: readonly string[], line: RegExp, env?: Record<string, string>) {
  const { code, stdout, stderr } = await secretcast(args, env);
  assert.equal(code, 1, `exit code of ${args.join(" ")}`);
  assert.match(stderr, line);
  assert.match(stderr, /^secretcast: [^\n]+\n$/, "one line");
  assert.doesNotMatch(stdout + stderr, /\n\s+at /, "no stack trace");
}

test("outside a cluster, no command shows the help", async () => {
  const { code, stdout } = await secretcast([]);
  assert.equal(code, 0);
  assert.match(stdout, /secretcast run/);
  assert.match(stdout, /secretcast sandbox/);
});

test("the program answers with its exit code and one line without a stack trace", async () => {
  assert.match((await started(["--version"])).stdout, /^\d+\.\d+\.\d+\n$/);
  const { code, stdout, stderr } = await started(["run", "--resinc=1m"]);
  assert.deepEqual([code, stdout], [1, ""]);
  assert.match(stderr, /^secretcast: [^\n]*resinc[^\n]*\n$/);
});

test("--version and --help answer everywhere", async () => {
  assert.equal((await secretcast(["--version"])).stdout, "1.2.3\n");
  for (const args of [["--help"], ["run", "--help"], ["sandbox", "--help"]]) {
    const { code, stdout } = await secretcast(args);
    assert.equal(code, 0);
    assert.match(stdout, /--version/);
  }
  assert.match((await secretcast(["run", "--help"])).stdout, /--source-namespaces/);
});

test("an unknown flag or command is one line that names it", async () => {
  await failsWith(["run", "--resinc=1m"], /resinc/);
  await failsWith(["rum"], /rum/);
  await failsWith(["run", "now"], /now/);
});

const MEANT: readonly (readonly [words: string, says: RegExp])[] = [
  ["statsu", /unknown command "statsu", did you mean status\? \(see secretcast --help\)$/m],
  ["expalin registry -n team-a", /unknown command "expalin", did you mean explain\?/],
  ["frobnicate", /unknown command "frobnicate" \(see/],
  [
    "status --faling",
    /unknown flag --faling, did you mean --failing\? \(see secretcast status --help\)$/m,
  ],
  ["status --kubeconfg=x", /unknown flag --kubeconfg, did you mean --kubeconfig\?/],
  ["plan --expcet f", /unknown flag --expcet, did you mean --expect\?/],
  [
    "run --source-namespace a",
    /unknown flag --source-namespace, did you mean --source-namespaces\?/,
  ],
  ["run --no-leader-elekt", /unknown flag --no-leader-elekt, did you mean --no-leader-elect\?/],
  ["run --dryrun", /unknown flag --dryrun, did you mean --dry-run\?/],
  ["plan --selectr -l a=b", /unknown flag --selectr, did you mean --selector\?/],
  ["status -kubeconfig x", /unknown flag -k \(see/],
  ["status -q", /unknown flag -q \(see secretcast status --help\)$/m],
  ["status --frobnicate --faling", /unknown flag --frobnicate \(see/],
  ["status extra", /unexpected word "extra" \(see secretcast status --help\)$/m],
  ["--faling", /unknown flag --faling \(see secretcast --help\)$/m],
  ["plan -f", /: -f wants a value/],
  ["status --timeout", /: --timeout wants a value/],
];

for (const [words, says] of MEANT)
  test(`secretcast ${words}: the word as it was typed, and which was meant`, () =>
    failsWith(words.split(" "), says));

test("a wrong value is one line with the flag, the value and the remedy", async () => {
  await failsWith(["run", "--resync=soon"], /--resync: "soon" is not a duration/);
  await failsWith(["run"], /SECRETCAST_CONCURRENCY: "many"/, { SECRETCAST_CONCURRENCY: "many" });
  await failsWith(["run", "--resync=1m", "--resync=2m"], /--resync is given more than once/);
});

test("the port of the sandbox is one whole number that a port can have", async () => {
  for (const port of ["99999", "65536", "-1", "x", "", "1.5", "0x50", "1e3", " 80", "80tcp"])
    await failsWith(["sandbox", `--port=${port}`], new RegExp(`--port: "${port}" is not a whole`));
  await failsWith(["sandbox", "--port=80", "--port=81"], /--port is given more than once/);
});

test("a word after -- is refused, because it would have no effect", async (t) => {
  const kubeconfig = writtenFile(t, kubeconfigOf("http://127.0.0.1:1"));
  for (const words of [
    ["run", `--kubeconfig=${kubeconfig}`, "--", "--dry-run"],
    ["plan", "-f", "-", "--", "--no-headers"],
    ["status", "--", "extra"],
    ["explain", "registry", "--", "-n", "secretcast"],
    ["--", "run"],
    ["completion", "--", "bash"],
  ])
    await failsWith(words, /nothing is read after "--", and "[-a-z]+" is there: leave "--" out/);
});

test("a faulty --copyable-keys is one line that names the key, and nothing starts", async (t) => {
  const kubeconfig = writtenFile(t, kubeconfigOf("http://127.0.0.1:1"));
  for (const [given, reported] of [
    ["a b", /--copyable-keys: "a b" is wrong: expected a glob over label or annotation keys/],
    ["owner,,", /--copyable-keys: "owner,," has an empty entry/],
    ["", /--copyable-keys: "" has an empty entry/],
    ["!owner", /--copyable-keys: "!owner" is wrong: expected a glob without "!"/],
    [
      "secretcast.io/*",
      /--copyable-keys: "secretcast.io\/\*" is wrong: expected keys that may be copied/,
    ],
  ] as const)
    await failsWith(["run", `--kubeconfig=${kubeconfig}`, `--copyable-keys=${given}`], reported);
});

test("a switch takes true and false, and no other word is taken for false", async (t) => {
  const kubeconfig = writtenFile(t, kubeconfigOf("http://127.0.0.1:1"));
  for (const words of [
    ["run", `--kubeconfig=${kubeconfig}`, "--dry-run=client"],
    ["run", `--kubeconfig=${kubeconfig}`, "--once="],
    ["sandbox", "--once=1"],
    ["plan", `--kubeconfig=${kubeconfig}`, "--exit-code=no"],
    ["migrate", `--kubeconfig=${kubeconfig}`, "--from=kubed", "--write=later"],
  ])
    await failsWith(words, /^secretcast: --[a-z-]+: "[a-z0-9]*" is neither true nor false\n$/);
  const off = ["run", `--kubeconfig=${kubeconfig}`, "--dry-run=false"];
  await failsWith(off, /cannot reach the API server/);
});

test("a faulty --source-list or --config-maps is one line, and nothing starts", async (t) => {
  const kubeconfig = writtenFile(t, kubeconfigOf("http://127.0.0.1:1"));
  for (const [given, reported] of [
    [
      "--source-list=Sources",
      /--source-list: "Sources" is wrong: expected the name of a ConfigMap/,
    ],
    ["--source-list=a/b", /--source-list: "a\/b" is wrong: expected the name of a ConfigMap/],
    [`--source-list=${"a".repeat(254)}`, /--source-list: .* is wrong: expected the name/],
    ["--config-maps=maybe", /--config-maps: "maybe" is neither true nor false/],
  ] as const)
    await failsWith(["run", `--kubeconfig=${kubeconfig}`, given], reported);
});

test("a glob that is none is one line that names the flag and the entry", async (t) => {
  const kubeconfig = writtenFile(t, kubeconfigOf("http://127.0.0.1:1"));
  await failsWith(
    ["run", `--kubeconfig=${kubeconfig}`, "--source-namespaces=Team_A"],
    /--source-namespaces: "Team_A"/,
  );
});

test("a kubeconfig that does not exist is one line that names it", async () => {
  await failsWith(["run", "--kubeconfig=/nowhere/config"], /\/nowhere\/config/);
});

test("a kubeconfig that is broken is one line that names it, without its text", async (t) => {
  const path = writtenFile(t, "apiVersion: [\n  token: hunter2");
  const { code, stdout, stderr } = await secretcast(["run", `--kubeconfig=${path}`]);
  assert.equal(code, 1);
  assert.match(stderr, /^secretcast: [^\n]+\n$/);
  assert.ok(stderr.includes(path));
  assert.ok(!(stdout + stderr).includes("hunter2"));
});

test("a word of the command line that controls a terminal is printed and controls nothing", async () => {
  const { stderr } = await secretcast(["status", "--namespace=a\u001b]0;t\u0007"]);
  assert.doesNotMatch(stderr.trimEnd(), /\p{Cc}/u);
  assert.match(stderr, /^secretcast: .*a\\u001b\]0;t\\u0007/);
});

test("a context that the kubeconfig lacks is one line that names it", async (t) => {
  const path = writtenFile(t, kubeconfigOf("http://127.0.0.1:1"));
  await failsWith(["run", `--kubeconfig=${path}`, "--context=prod"], /prod/);
});

test("a kubeconfig that points nowhere is one line that names the server", async (t) => {
  const path = writtenFile(t, kubeconfigOf("http://127.0.0.1:1"));
  await failsWith(
    ["run", `--kubeconfig=${path}`],
    /cannot reach the API server http:\/\/127\.0\.0\.1:1: ECONNREFUSED/,
  );
});

function kubeconfigOf(server: string): string {
  return `apiVersion: v1
kind: Config
clusters: [{ name: c, cluster: { server: "${server}" } }]
users: [{ name: u, user: {} }]
contexts: [{ name: x, context: { cluster: c, user: u } }]
current-context: x
`;
}
