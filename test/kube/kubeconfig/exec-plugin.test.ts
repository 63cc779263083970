// Exec plugins as kubectl runs them: what they are reported, what they may use of the terminal, how often and how
// long they run, and what is said of one that fails.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import {
  CredentialCache,
  CredentialsError,
} from "../../../packages/kube/kubeconfig/credentials.ts";
import type { Cluster, User } from "../../../packages/kube/kubeconfig/kubeconfig-file.ts";
import { ONE } from "../../../packages/kube/testing/certificates.ts";
import { Kubectl, kubectlMissing } from "../../support/api-server/kubectl.ts";
import {
  kubeConfigFile,
  kubeConfigFor,
  kubeConfigText,
} from "../../../packages/kube/testing/kubeconfig-text.ts";
import { commandLine } from "../../support/programs/command-line.ts";
import { eventually } from "../../../packages/kube/testing/eventually.ts";
import { FakeClock } from "../../../packages/kube/testing/fake-clock.ts";
import { folderOf } from "../../../packages/kube/testing/folder.ts";

const V1 = "client.authentication.k8s.io/v1";

/** A plugin that leaves a line with what it was told in a file, and then runs `script`. */
function plugin(t: TestContext, script = 'answer({ token: "t" })') {
  const folder = folderOf(t);
  const [command, log] = [join(folder, "get-token"), join(folder, "log")];
  writeFileSync(log, "");
  writeFileSync(
    command,
    `#!${process.execPath}
const { appendFileSync, readFileSync } = require("node:fs");
const apiVersion = ${JSON.stringify(V1)};
const answer = (status) => console.log(JSON.stringify({ kind: "ExecCredential", apiVersion, status }));
appendFileSync(${JSON.stringify(log)}, process.env.KUBERNETES_EXEC_INFO + "\\n");
${script};
`,
    { mode: 0o755 },
  );
  const runs = (): readonly unknown[] =>
    readFileSync(log, "utf8")
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => JSON.parse(line));
  return { command, runs };
}

type Exec = NonNullable<User["exec"]>;
const execOf = (command: string, more: Exec = {}): Exec => ({
  apiVersion: V1,
  interactiveMode: "Never",
  command,
  ...more,
});
function cacheOf(exec: Exec, clock = new FakeClock(), cluster: Partial<Cluster> = {}) {
  return new CredentialCache(kubeConfigFor("https://127.0.0.1:1", { exec }, cluster), clock);
}

for (const [name, more, cluster] of [
  ["without the cluster", {}, {}],
  [
    "with the cluster",
    { provideClusterInfo: true },
    { tlsServerName: "api.test", caData: Buffer.from(ONE.cert).toString("base64") },
  ],
  ["with a cluster that is not verified", { provideClusterInfo: true }, { skipTLSVerify: true }],
  [
    "of v1beta1",
    { apiVersion: "client.authentication.k8s.io/v1beta1", provideClusterInfo: true },
    {},
  ],
  ["where a terminal may be used", { interactiveMode: "IfAvailable" }, {}],
] as const)
  test(`a plugin is told in KUBERNETES_EXEC_INFO what kubectl tells it: ${name}`, async (t) => {
    const missing = kubectlMissing();
    if (missing) return t.skip(missing);
    const { command, runs } = plugin(t, 'answer({ token: "t" })');
    const exec = execOf(command, more);
    const config = kubeConfigFor("https://127.0.0.1:1", { exec }, cluster);
    await new CredentialCache(config, new FakeClock()).get().catch(() => undefined);
    const kubectl = new Kubectl(kubeConfigText(config));
    t.after(() => kubectl.close());
    await kubectl.try(["get", "--raw", "/version"]);
    const [ours, theirs] = runs();
    assert.ok(ours && theirs);
    assert.deepEqual(ours, theirs);
  });

test("a plugin is told what the cluster has for it, under its extension", async (t) => {
  const { command, runs } = plugin(t);
  const cluster = { execConfig: { audience: "x" } };
  await cacheOf(execOf(command, { provideClusterInfo: true }), new FakeClock(), cluster).get();
  const [info] = runs();
  assert.deepEqual(info, {
    kind: "ExecCredential",
    apiVersion: V1,
    spec: {
      interactive: false,
      cluster: { server: "https://127.0.0.1:1", config: { audience: "x" } },
    },
  });
});

test("a plugin's stderr is shown on ours, and its stdin needs a terminal", (t) => {
  const script =
    'console.error("open https://login, enter ABCD", readFileSync(0).length); process.exit(3)';
  const { command } = plugin(t, script);
  const exec = execOf(command, { interactiveMode: "IfAvailable" });
  const kubeconfig = kubeConfigFile(t, kubeConfigFor("http://127.0.0.1:1", { exec }));
  const words = ["bin/secretcast.js", "plan", "--kubeconfig", kubeconfig];
  const { status, stderr } = spawnSync(process.execPath, words, {
    encoding: "utf8",
    input: "ours",
  });
  assert.equal(status, 1);
  assert.match(stderr, /^open https:\/\/login, enter ABCD 0$/m);
  assert.match(
    stderr,
    /^secretcast: .*credential plugin ".*" of user "tester" failed with exit code 3/m,
  );
});

test("a plugin that always wants a terminal is not run without one", async (t) => {
  const { command, runs } = plugin(t);
  await assert.rejects(
    cacheOf(execOf(command, { interactiveMode: "Always" })).get(),
    /standard input is not a terminal$/,
  );
  assert.deepEqual(runs(), []);
});

test("a missing plugin is one line with its installHint in printable characters", async (t) => {
  const exec = execOf("/nowhere/get-token", { installHint: "run:\n  brew install x\u001b[2J" });
  const kubeconfig = kubeConfigFile(t, kubeConfigFor("http://127.0.0.1:1", { exec }));
  const { code, stderr } = await commandLine(["plan", "--kubeconfig", kubeconfig]);
  assert.equal(code, 1);
  assert.match(
    stderr,
    /^secretcast: .*credential plugin "\/nowhere\/get-token" of user "tester" was not found; run: brew install x \[2J\n$/,
  );
});

test("a plugin runs once for all clients until its credential expires, and then again", async (t) => {
  const clock = new FakeClock();
  const expirationTimestamp = new Date(clock.now() + 60_000).toISOString();
  const { command, runs } = plugin(
    t,
    `answer({ token: "t", expirationTimestamp: "${expirationTimestamp}" })`,
  );
  const [one, two] = [cacheOf(execOf(command), clock), cacheOf(execOf(command), clock)];
  await Promise.all([one.get(), two.get(), one.get()]);
  await clock.advance(30_000);
  await Promise.all([one.get(), two.get()]);
  assert.equal(runs().length, 1);
  await clock.advance(29_999);
  await one.get();
  assert.equal(runs().length, 1, "until the last millisecond");
  await clock.advance(1);
  await one.get();
  assert.equal(runs().length, 2);
});

test("a far expiry counts for a day, and a refused credential not at all", async (t) => {
  for (const far of ['expirationTimestamp: "9999-01-01T00:00:00Z"', ""]) {
    const clock = new FakeClock();
    const { command, runs } = plugin(t, `answer({ token: "t", ${far} })`);
    const cache = cacheOf(execOf(command), clock);
    cache.refused(await cache.get());
    await cache.get();
    assert.equal(runs().length, 2);
    await clock.advance(24 * 3_600_000 - 1);
    await cache.get();
    assert.equal(runs().length, 2);
    await clock.advance(1);
    await cache.get();
    assert.equal(runs().length, 3);
  }
});

test("a plugin that does not end is named after a minute, killed, and run again", async (t) => {
  const clock = new FakeClock();
  const { command, runs } = plugin(t, "setInterval(() => {}, 1000)");
  const cache = cacheOf(execOf(command), clock);
  const hung = cache.get();
  const ended = assert.rejects(hung, (error) => {
    assert.ok(error instanceof CredentialsError);
    assert.match(
      error.message,
      /^credential plugin ".*" of user "tester" has not ended within 60 s$/,
    );
    return true;
  });
  await eventually("it runs", () => runs().length === 1);
  await clock.advance(60_000);
  await ended;
  const again = cache.get();
  again.catch(() => undefined);
  await eventually("it runs again", () => runs().length === 2);
  await clock.advance(60_000);
  await assert.rejects(again);
});

test("a request that waits for a plugin names the plugin when its time is over", async (t) => {
  const { command } = plugin(t, "setTimeout(() => {}, 3000)");
  const exec = execOf(command);
  const kubeconfig = kubeConfigFile(t, kubeConfigFor("http://127.0.0.1:1", { exec }));
  const words = ["plan", "--kubeconfig", kubeconfig, "--request-timeout=300ms"];
  const { code, stderr } = await commandLine(words);
  assert.equal(code, 1);
  assert.match(
    stderr,
    /credential plugin ".*get-token" of user "tester" has not answered in time\n$/,
  );
});

test("plugin output that is no credential is an error without a quote", async (t) => {
  for (const [script, says] of [
    ['console.log("hunter2")', "does not print an ExecCredential with a status"],
    ["answer(undefined)", "does not print an ExecCredential with a status"],
    ["answer({})", "prints neither a token nor a certificate and key"],
    ['answer({ clientKeyData: "hunter2" })', "prints a certificate or a key, not both"],
    ["answer({ token: 7 })", "prints a status with fields that are no text"],
    [
      'answer({ token: "hunter2", expirationTimestamp: "soon" })',
      "prints an expirationTimestamp that is no time",
    ],
    [
      'console.log("x".repeat(2 ** 21)); setTimeout(() => {}, 3000)',
      "prints more than a credential",
    ],
    [
      'console.log(JSON.stringify({ apiVersion: "v1", status: { token: "hunter2" } }))',
      "answers in another apiVersion than its own",
    ],
  ] as const) {
    const { command } = plugin(t, script);
    await assert.rejects(cacheOf(execOf(command)).get(), (error) => {
      assert.ok(error instanceof CredentialsError);
      assert.equal(error.message, `credential plugin "${command}" of user "tester" ${says}`);
      return true;
    });
  }
});

test("gcp without gcloud, and an unknown auth provider, are lines that say what to use", async () => {
  const of = (name: string, config: Readonly<Record<string, string>> = {}) =>
    new CredentialCache(
      kubeConfigFor("https://127.0.0.1:1", { authProvider: { name, config } }),
      new FakeClock(),
    ).get();
  await assert.rejects(
    of("gcp"),
    /has no access token that is valid, and no cmd-path .*gke-gcloud-auth-plugin/,
  );
  await assert.rejects(
    of("gcp", { "cmd-path": "/nowhere/gcloud", "cmd-args": "config config-helper 2>/dev/null" }),
    /its command "\/nowhere\/gcloud" was not found: use the credential plugin gke-gcloud-auth-plugin/,
  );
  await assert.rejects(of("openstack"), /auth provider "openstack" of user "tester" is not known/);
});

test("a plugin may answer in YAML, and a variable without a value is empty", async (t) => {
  const script = 'console.log(`kind: ExecCredential\\nstatus: {token: "t${process.env.EMPTY}"}`)';
  const { command } = plugin(t, script);
  const { headers } = await cacheOf(
    execOf(command, { env: [{ name: "EMPTY", value: null }] }),
  ).get();
  assert.deepEqual(headers, { Authorization: "Bearer t" });
});
