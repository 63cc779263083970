// The order in which every command takes its settings: the command line, the environment, the Deployment of
// the installed controller, the defaults. And what counts as a variable.
import assert from "node:assert/strict";
import { test } from "node:test";
import { FLAGS, environmentName } from "../../../src/controller/settings/flags.ts";
import type { Sandbox } from "../../../packages/sandbox/server.ts";
import type { JsonObject } from "../../../packages/sandbox/storage/object.ts";
import { sandboxCluster } from "../../support/cli/sandbox-cluster.ts";

type Container = {
  readonly args?: readonly string[];
  readonly env?: readonly { readonly name: string; readonly value: string }[];
};

/** A Deployment of the controller, as the API server would list it. */
function install(sandbox: Sandbox, container: Container): void {
  const labels = { "app.kubernetes.io/name": "secretcast" };
  const deployment = {
    metadata: {
      namespace: "secretcast",
      name: "secretcast",
      uid: "1",
      resourceVersion: "1",
      labels,
    },
    spec: { template: { spec: { containers: [{ name: "secretcast", ...container }] } } },
  };
  const metadata = { resourceVersion: "1" };
  const lists = new Map<string, JsonObject>([
    ["/apis/apps/v1/deployments", { kind: "DeploymentList", metadata, items: [deployment] }],
    ["/api/v1/namespaces/secretcast/pods", { kind: "PodList", metadata, items: [] }],
  ]);
  sandbox.beforeRequest = ({ path }) => {
    const body = lists.get(path);
    return body && { status: 200, body };
  };
}

/** Every command that judges by the flags of `run`, with the words that it needs. */
const COMMANDS: readonly (readonly string[])[] = [
  ["plan"],
  ["status"],
  ["explain", "registry", "-n", "secretcast"],
  ["migrate", "--from", "kubed"],
  ["check"],
];

for (const command of COMMANDS)
  test(`${command[0]} takes a flag from command line, environment, Deployment or default, and says which`, async (t) => {
    const { run, sandbox } = await sandboxCluster(t);
    const judged = async (
      given: readonly string[],
      env: Readonly<Record<string, string>>,
    ): Promise<string> => {
      const { stderr } = await run([...command, ...given], { env });
      assert.match(stderr, /^context secretcast-sandbox, http:\/\/127\.0\.0\.1:\d+$/m);
      const [line = ""] = /^judged by .*$/m.exec(stderr) ?? [];
      return line;
    };
    assert.equal(
      await judged([], {}),
      "judged by --source-namespaces=secretcast --namespace-policy=opt-out, from the defaults (no controller is installed)",
    );
    install(sandbox, { args: ["run", "--source-namespaces=b", "--delete-grace=7s"] });
    assert.equal(
      await judged([], {}),
      "judged by --source-namespaces=b --namespace-policy=opt-out --delete-grace=7s, from those of Deployment secretcast/secretcast",
    );
    const env = { SECRETCAST_SOURCE_NAMESPACES: "a" };
    assert.equal(
      await judged([], env),
      "judged by --source-namespaces=a --namespace-policy=opt-out --delete-grace=7s, from the environment (SECRETCAST_SOURCE_NAMESPACES), then those of Deployment secretcast/secretcast",
    );
    assert.equal(
      await judged(["--source-namespaces=c"], env),
      "judged by --source-namespaces=c --namespace-policy=opt-out --delete-grace=7s, from the flags given here, then those of Deployment secretcast/secretcast",
    );
  });

test("the printed settings decide: the environment overrides the Deployment everywhere", async (t) => {
  const { run, sandbox } = await sandboxCluster(t);
  install(sandbox, { args: ["run", "--namespaces=team-b", "--source-namespaces=team-b"] });
  const env = { SECRETCAST_NAMESPACES: "team-a", SECRETCAST_SOURCE_NAMESPACES: "secretcast" };
  const checked = await run(["check"], { env });
  assert.match(checked.stdout, /create secrets in team-a /);
  assert.doesNotMatch(checked.stdout, /secrets in team-b /);
  const planned = await run(["plan"], { env });
  assert.match(planned.stdout, /^create +team-a +registry/m);
  assert.doesNotMatch(planned.stdout, /team-b/);
});

test("an empty variable counts as not set, with a line that disables the list", async (t) => {
  const { run, sandbox } = await sandboxCluster(t);
  const env = { SECRETCAST_SOURCE_LIST: "" };
  const hint =
    "SECRETCAST_SOURCE_LIST is empty, which counts as not set: to turn the source list off, use the flag --source-list=''\n";
  const list = /configmaps\/secretcast-sources in secretcast/;
  for (const [args, says, hasList] of [
    [[], env, true],
    [["--source-list="], env, false],
    [["--source-list", ""], {}, false],
  ] as const) {
    const { stdout, stderr } = await run(["check", ...args], { env: says });
    assert.equal(list.test(stdout), hasList, args.join(" "));
    assert.equal(stderr.includes(hint), hasList, stderr);
  }
  install(sandbox, { env: [{ name: "SECRETCAST_SOURCE_LIST", value: "" }] });
  assert.match((await run(["check"])).stdout, list);
  install(sandbox, { args: ["run", "--source-list="] });
  const off = await run(["check"]);
  assert.doesNotMatch(off.stdout, list);
  assert.match(off.stderr, /^judged by .* --source-list='', from those of Deployment/m);
});

/** Without the line that a command prints which takes long. */
function unhurried<T extends { readonly stderr: string }>(ended: T): T {
  return { ...ended, stderr: ended.stderr.replaceAll(/^objects read: .*\n/gm, "") };
}

test("no flag that only the commands have is read from a variable", async (t) => {
  const { run, sandbox } = await sandboxCluster(t);
  const users = new Set<string>();
  sandbox.beforeRequest = ({ userAgent }) => void users.add(userAgent);
  const ofRun = new Set<string>(FLAGS.map(({ name }) => environmentName(name)));
  const names =
    "NAMESPACE ALL_NAMESPACES AS AS_GROUP SELECTOR OUTPUT NO_HEADERS HEADERS REQUEST_TIMEOUT EXIT_CODE EXPECT FILENAME RECURSIVE IN TIMEOUT WAIT WATCH FAILING FROM OLD_ARGS NEW_SOURCES_IN WRITE YES";
  const env = Object.fromEntries(
    names.split(" ").map((name) => [`SECRETCAST_${name}`, "no such value!"]),
  );
  assert.deepEqual(
    Object.keys(env).filter((name) => ofRun.has(name)),
    [],
  );
  for (const command of COMMANDS)
    assert.deepEqual(unhurried(await run(command, { env })), unhurried(await run(command)));
  const from = await run(["migrate"], { env: { SECRETCAST_FROM: "kubed" } });
  assert.match(from.stderr, /--from: is missing/);
});

test("kubeconfig and context are flags of run, so every command reads their variables", async (t) => {
  const { run } = await sandboxCluster(t);
  for (const command of COMMANDS) {
    const { code, stderr } = await run(command, { env: { SECRETCAST_CONTEXT: "nowhere" } });
    assert.match(stderr, /has no context "nowhere"/);
    assert.equal(code, 1);
    const none = await run(command, { env: { SECRETCAST_KUBECONFIG: "/nowhere/config" } });
    assert.match(none.stderr, /"\/nowhere\/config" does not exist/);
  }
});

test("migrate prints --source-namespaces with what the installed controller has, in order", async (t) => {
  const prefix = "reflector.v1.k8s.emberstack.com/";
  const annotations = {
    [`${prefix}reflection-allowed`]: "true",
    [`${prefix}reflection-auto-enabled`]: "true",
  };
  const source = { namespace: "oldplat", name: "registry", annotations };
  const { run, sandbox } = await sandboxCluster(t, [
    ...["oldplat", "sys-secrets", "team-a"].map((name) => ({
      kind: "Namespace",
      metadata: { name },
    })),
    { kind: "Secret", metadata: source, data: { token: "b25l" } },
  ]);
  const flagsOf = async (...more: readonly string[]): Promise<unknown> =>
    JSON.parse((await run(["migrate", "--from", "reflector", "-o", "json", ...more])).stdout).flags;
  assert.deepEqual(await flagsOf(), ["--source-namespaces=oldplat"]);
  install(sandbox, { args: ["run", "--source-namespaces=sys-secrets"] });
  assert.deepEqual(await flagsOf(), ["--source-namespaces=sys-secrets,oldplat"]);
  const given = await flagsOf("--source-namespaces=more");
  assert.deepEqual(given, ["--source-namespaces=sys-secrets,more,oldplat"]);
  // Without the flag the controller's own namespace publishes.
  install(sandbox, {});
  assert.deepEqual(await flagsOf(), ["--source-namespaces=secretcast,oldplat"]);
});
