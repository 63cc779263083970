// What is offered where the cursor is, in the protocol that kubectl asks of its plugins.
import assert from "node:assert/strict";
import { test } from "node:test";
import { FLAGS } from "../../../src/controller/settings/flags.ts";
import { sandboxCluster, type SandboxCluster } from "../../support/cli/sandbox-cluster.ts";
import { commandLine } from "../../support/programs/command-line.ts";

/** The candidates without what they are, and the directive. */
async function offered(
  { run }: Pick<SandboxCluster, "run">,
  ...words: readonly string[]
): Promise<readonly string[]> {
  const { code, stdout, stderr } = await run(["__complete", ...words]);
  assert.deepEqual([code, stderr], [0, ""]);
  assert.match(stdout, /(^|\n):[04]\n$/, "the last line is the directive");
  return stdout
    .trimEnd()
    .split("\n")
    .map((line) => line.split("\t")[0] ?? "");
}

const alone = { run: commandLine };

test("commands, by their beginning, each with what it does", async () => {
  const all = await offered(alone, "");
  for (const name of ["run", "sandbox", "plan", "explain", "check", "completion"])
    assert.ok(all.includes(name), name);
  assert.ok(!all.includes("__complete"));
  assert.deepEqual(await offered(alone, "ex"), ["explain", ":4"]);
  assert.match((await commandLine(["__complete", "ch"])).stdout, /^check\tBefore and after/);
});

test("every flag of run, and the values of those that have choices", async () => {
  const flags = await offered(alone, "run", "--");
  for (const { name } of FLAGS) assert.ok(flags.includes(`--${name}`), name);
  assert.deepEqual(await offered(alone, "run", "--namespace-policy", "opt-i"), ["opt-in", ":4"]);
  assert.deepEqual(await offered(alone, "run", "--log-format", ""), ["json", "pretty", ":4"]);
  assert.deepEqual(await offered(alone, "completion", "z"), ["zsh", ":4"]);
  assert.deepEqual(await offered(alone, "plan", "-o", ""), ["wide", "json", "yaml", "name", ":4"]);
  assert.deepEqual(await offered(alone, "rights", "-o", ""), ["yaml", "json", ":4"]);
  const forms = ["wide", "json", "yaml", "name", "csv", ":4"];
  assert.deepEqual(await offered(alone, "inventory", "-o", ""), forms);
  assert.deepEqual(await offered(alone, "plan", "--outp"), ["--output", ":4"]);
  // The tools that `migrate` knows.
  assert.deepEqual(await offered(alone, "migrate", "--from", "re"), [
    "reflector",
    "replicator",
    ":4",
  ]);
});

test("files are left to the shell, and what nobody knows is not guessed", async () => {
  assert.deepEqual(await offered(alone, "plan", "-f", ""), [":0"]);
  assert.deepEqual(await offered(alone, "plan", "--expect", "x"), [":0"]);
  assert.deepEqual(await offered(alone, "plan", "--base", ""), [":0"]);
  assert.deepEqual(await offered(alone, "status", "--client-key", ""), [":0"]);
  assert.deepEqual(await offered(alone, "run", "--resync", ""), [":4"]);
  assert.deepEqual(await offered(alone, "nonsense", ""), [...(await offered(alone, ""))]);
  assert.deepEqual(await offered(alone, "plan", ""), [":4"]);
  assert.deepEqual(await offered(alone), await offered(alone, ""));
  // An older PowerShell passes no empty argument.
  assert.deepEqual(await offered(alone, " "), await offered(alone, ""));
});

test("namespaces, names and contexts come from the cluster and the kubeconfig", async (t) => {
  const cluster = await sandboxCluster(t);
  const teams = ["team-a", "team-b", "team-c", ":4"];
  assert.deepEqual(await offered(cluster, "plan", "-n", "team-"), teams);
  assert.deepEqual(await offered(cluster, "plan", "--namespace=team-"), teams);
  // As bash cuts it.
  assert.deepEqual(await offered(cluster, "plan", "--namespace", "=", "team-"), teams);
  assert.deepEqual(await offered(cluster, "explain", "x", "--in", "team-"), teams);
  const names = ["registry", "typo", ":4"];
  assert.deepEqual(await offered(cluster, "explain", "-n", "secretcast", ""), names);
  assert.deepEqual(await offered(cluster, "rotation", "-n", "secretcast", ""), names);
  assert.deepEqual(await offered(cluster, "explain", "--namespace=secretcast", "t"), [
    "typo",
    ":4",
  ]);
  assert.deepEqual(await offered(cluster, "explain", "-n", "secretcast", "secret/r"), [
    "secret/registry",
    ":4",
  ]);
  const metadata = { namespace: "secretcast", name: "ca" };
  cluster.sandbox.load([{ kind: "ConfigMap", metadata }]);
  const maps = await offered(cluster, "explain", "-n", "secretcast", "configmap/");
  assert.deepEqual(maps, ["configmap/ca", ":4"]);
  assert.deepEqual(await offered(cluster, "explain", "registry", ""), [":4"]);
  assert.deepEqual(await offered(cluster, "plan", "--context", ""), ["secretcast-sandbox", ":4"]);
});

test("names are asked for without values, and once", async (t) => {
  const cluster = await sandboxCluster(t);
  await offered(cluster, "explain", "-n", "secretcast", "");
  assert.deepEqual(
    cluster.sandbox.requests.map(({ path }) => path.split("?")[0]),
    ["/api/v1/namespaces/secretcast/secrets"],
  );
});

test("a cluster that refuses, is dead or is none offers nothing, and says nothing", async (t) => {
  const cluster = await sandboxCluster(t);
  cluster.sandbox.beforeRequest = () => ({ status: 403, body: { kind: "Status", code: 403 } });
  assert.deepEqual(await offered(cluster, "plan", "-n", ""), [":4"]);
  await cluster.sandbox.stop();
  assert.deepEqual(await offered(cluster, "plan", "-n", ""), [":4"]);
  assert.deepEqual(await offered(alone, "plan", "-n", "", "--kubeconfig", "/none"), [":0"]);
  assert.deepEqual(await offered(alone, "plan", "--kubeconfig", "/none", "-n", ""), [":4"]);
  assert.deepEqual(await offered(alone, "plan", "--kubeconfig", "/none", "--context", ""), [":4"]);
});
