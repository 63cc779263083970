// kubectl's flags on a cluster: where to ask and as whom, and what is said when nobody answers, or not
// to us. Each is one line, with exit code 1 and without a value.
import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { answer, serve } from "../../../packages/kube/testing/http-server.ts";
import { kubeConfigFile, kubeConfigFor } from "../../../packages/kube/testing/kubeconfig-text.ts";
import { commandLine, type Said } from "../../support/programs/command-line.ts";
import { openScene } from "../../support/scenes/scene.ts";

const COMMANDS = ["plan", "status"] as const;

function kubeconfigOf(t: TestContext, url: string): string {
  return kubeConfigFile(t, kubeConfigFor(url, { token: "hunter2" }));
}

function isOneLine({ code, stderr, stdout }: Said, line: RegExp): void {
  assert.equal(code, 1);
  assert.match(stderr, line);
  assert.match(stderr, /^secretcast: [^\n]+\n$/, "one line");
  assert.doesNotMatch(stdout + stderr, /hunter2|\n\s+at /);
}

test("no kubeconfig, a wrong context and a dead server are one line that names them", async (t) => {
  const dead = kubeconfigOf(t, "http://127.0.0.1:1");
  for (const command of COMMANDS) {
    const env = { HOME: "/nowhere" };
    isOneLine(await commandLine([command], { env }), /no kubeconfig.*--kubeconfig/);
    isOneLine(
      await commandLine([command, "--kubeconfig=/nowhere/config"]),
      /\/nowhere\/config" does not exist/,
    );
    const wrong = await commandLine([command, "--kubeconfig", dead, "--context=prod"]);
    isOneLine(wrong, /has no context "prod"/);
    isOneLine(
      await commandLine([command, "--kubeconfig", dead]),
      /ECONNREFUSED, cannot reach http:\/\/127\.0\.0\.1:1/,
    );
    const byVariable = { KUBECONFIG: dead };
    isOneLine(await commandLine([command], { env: byVariable }), /ECONNREFUSED/);
  }
});

test("a server that refuses us, or answers no list, is one line", async (t) => {
  const said: { status: number; body: unknown } = { status: 401, body: {} };
  const server = await serve(t, (_, response) => answer(response, said.status, said.body));
  const kubeconfig = kubeconfigOf(t, server.url);
  for (const command of COMMANDS) {
    said.status = 401;
    said.body = { kind: "Status", code: 401, reason: "Unauthorized", message: "hunter2" };
    isOneLine(await commandLine([command, "--kubeconfig", kubeconfig]), /401 Unauthorized/);
    said.status = 200;
    said.body = { login: "hunter2" };
    isOneLine(await commandLine([command, "--kubeconfig", kubeconfig]), /its kind is not \w+List/);
  }
});

test("--request-timeout ends a request that is not answered, with one line", async (t) => {
  const server = await serve(t, () => {});
  const kubeconfig = kubeconfigOf(t, server.url);
  const words = ["plan", "--kubeconfig", kubeconfig, "--request-timeout", "50ms"];
  isOneLine(await commandLine(words), /did not answer within 50 ms/);
});

test("Ctrl-C ends a command that waits for an answer, without a word", async (t) => {
  const stop = new AbortController();
  const server = await serve(t, () => stop.abort());
  const kubeconfig = kubeconfigOf(t, server.url);
  const said = await commandLine(["plan", "--kubeconfig", kubeconfig], { signal: stop.signal });
  assert.deepEqual(said, { code: 130, stdout: "", stderr: "" });
});

test("--as and --as-group go with every request, as kubectl sends them", async (t) => {
  const seen: unknown[] = [];
  const server = await serve(t, (request, response) => {
    seen.push([request.headers["impersonate-user"], request.headers["impersonate-group"]]);
    answer(response, 403, { kind: "Status", code: 403, reason: "Forbidden" });
  });
  const kubeconfig = kubeconfigOf(t, server.url);
  await commandLine([
    "plan",
    "--kubeconfig",
    kubeconfig,
    "--as=jane",
    "--as-group=a",
    "--as-group=b",
  ]);
  assert.ok(seen.length > 0);
  for (const each of seen) assert.deepEqual(each, ["jane", "a, b"]);
});

test("an unreadable list is named, with exit code 1 and what is known", async (t) => {
  const scene = await openScene(t);
  assert.ok(scene.sandbox);
  const team = await scene.namespace("team-a");
  const to = { "secretcast.io/to": team };
  await scene.api.createSecret(scene.source, "s", { annotations: to, data: { k: "v" } });
  await scene.api.createSecret(scene.source, "typo", { annotations: { "secretcast.io/too": "x" } });
  const plan = (...more: string[]): Promise<Said> =>
    commandLine([
      "plan",
      "--kubeconfig",
      scene.kubeconfig,
      "--source-namespaces",
      scene.source,
      ...more,
    ]);
  let denied: RegExp = /^\/api\/v1\/secrets$/;
  scene.sandbox.beforeRequest = ({ path }) =>
    denied.test(path)
      ? { status: 403, body: { kind: "Status", code: 403, reason: "Forbidden" } }
      : undefined;
  // In all namespaces no, in those that matter yes.
  const some = await plan("-n", team);
  assert.match(some.stdout, /create +\S+team-a +s /);
  assert.match(
    some.stderr,
    /secrets cannot be listed in all namespaces \(403 Forbidden\).*read instead: /,
  );
  assert.equal(some.code, 1);
  denied = /^\/api\/v1\/namespaces$/;
  const without = await plan();
  assert.match(without.stdout, /refused +\S+source +typo/);
  assert.match(without.stderr, /namespaces cannot be listed \(403 Forbidden\)/);
  assert.equal(without.code, 1);
  denied = /^\/api\/v1\/(secrets|namespaces)/;
  const nothing = await plan();
  assert.match(nothing.stderr, /namespace \S+source cannot be read \(403 Forbidden\)/);
  assert.match(nothing.stderr, /^nothing to do, of what is known$/m);
  assert.equal(nothing.code, 1);
  const status = await commandLine(["status", "--kubeconfig", scene.kubeconfig]);
  assert.match(status.stderr, /^every copy equals its source, of what is known$/m);
  assert.equal(status.code, 1);
  const listed = await plan("--namespaces", team);
  assert.match(listed.stderr, /namespace \S+team-a cannot be read \(403 Forbidden\)/);
  assert.equal(listed.code, 1);
  denied = /^$/;
  assert.equal((await plan("--namespaces", team)).code, 2);
});

test("a table on a terminal has colours, and none with NO_COLOR or elsewhere", async () => {
  const escape = String.fromCodePoint(27);
  const stdin = `{"apiVersion":"v1","kind":"Secret","metadata":{"name":"s","namespace":"secretcast","annotations":{"secretcast.io/too":"x"}}}`;
  const plan = (env = {}, terminal = true): Promise<Said> =>
    commandLine(["plan", "-f", "-"], { stdin, env, terminal });
  assert.ok((await plan()).stdout.includes(`${escape}[31mrefused`));
  for (const said of [
    await plan({ NO_COLOR: "1" }),
    await plan({ TERM: "dumb" }),
    await plan({}, false),
  ])
    assert.ok(!said.stdout.includes(escape) && said.stdout.includes("refused"));
});

test("what others wrote does not steer the terminal", async () => {
  const annotations = { "secretcast.io/to": "\u001b[2Jteam\u202e\u200f\u009b\u200b" };
  const metadata = { name: "s", namespace: "secretcast", annotations };
  const stdin = JSON.stringify({ apiVersion: "v1", kind: "Secret", metadata });
  const { stdout } = await commandLine(["plan", "-f", "-"], { stdin });
  assert.match(stdout, /refused/);
  for (const unseen of "\u001b\u202e\u200f\u009b\u200b")
    assert.ok(!stdout.includes(unseen), JSON.stringify(unseen));
});
