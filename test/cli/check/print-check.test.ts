// `secretcast check`: a line for each thing, exit code 0 where all is there, 1 where something is not.
import assert from "node:assert/strict";
import { test } from "node:test";
import { forbidden } from "../../support/cli/checked-server.ts";
import { sandboxCluster } from "../../support/cli/sandbox-cluster.ts";

test("a cluster that has all: a table, the settings on stderr, exit code 0", async (t) => {
  const { run, sandbox } = await sandboxCluster(t);
  const { code, stdout, stderr } = await run(["check"]);
  assert.equal(code, 0, stdout + stderr);
  const lines = stdout.trimEnd().split("\n");
  assert.match(lines[0] ?? "", /^STATE +CHECK +ANSWER/);
  assert.ok(lines.slice(1).every((line) => line.startsWith("ok ")));
  assert.match(stdout, /^ok +create secrets in every namespace +new copies$/m);
  assert.match(stdout, /^ok +update leases\.coordination\.k8s\.io\/secretcast in secretcast +/m);
  assert.equal(
    stderr,
    `context secretcast-sandbox, ${sandbox.url}\njudged by --source-namespaces=secretcast --namespace-policy=opt-out, from the defaults (no controller is installed)\nrights: yours; the controller's by --as\n${lines.length - 1} ok\n`,
  );
  const written = sandbox.requests.filter(({ method }) => method !== "GET");
  assert.ok(written.every(({ path }) => path.endsWith("/selfsubjectaccessreviews")));
});

test("a right that is missing: what to apply, and exit code 1", async (t) => {
  const { run, sandbox } = await sandboxCluster(t);
  sandbox.beforeRequest = ({ path }) =>
    path.endsWith("selfsubjectaccessreviews")
      ? { status: 201, body: { status: { allowed: false } } }
      : undefined;
  const { code, stdout } = await run(["check", "--namespaces", "team-a", "--no-leader-elect"]);
  assert.equal(code, 1);
  assert.match(
    stdout,
    /^missing +patch secrets in team-a +no right to it: .+kubectl apply -n team-a -k manifests\/namespace-rights$/m,
  );
  assert.doesNotMatch(stdout, /leases/);
});

test("--as asks as somebody else, and says so", async (t) => {
  const { run, sandbox } = await sandboxCluster(t);
  const seen = new Set<string>();
  sandbox.beforeRequest = ({ userAgent }) => void seen.add(userAgent);
  const account = "system:serviceaccount:secretcast:secretcast";
  const { stderr } = await run(["check", "--as", account]);
  assert.match(stderr, /rights: those of system:serviceaccount:secretcast:secretcast$/m);
  assert.deepEqual([...seen], ["secretcast/1.2.3"]);
});

test("json is a CheckList, and -o name the checks alone", async (t) => {
  const { run } = await sandboxCluster(t);
  const list = JSON.parse((await run(["check", "-o", "json"])).stdout);
  assert.deepEqual([list.apiVersion, list.kind], ["cli.secretcast.io/v1alpha1", "CheckList"]);
  assert.ok(list.items.every(({ state }: { state: string }) => state === "ok"));
  assert.match((await run(["check", "-o", "name"])).stdout, /^server version\n/);
});

test("what may not be seen is said, and what matters less does not fail the check", async (t) => {
  const { run, sandbox } = await sandboxCluster(t);
  sandbox.beforeRequest = ({ path }) => {
    const hidden = path.endsWith("/pods") || path.endsWith("policies");
    const [status, body] = forbidden("list", "pods") ?? [403, ""];
    return hidden ? { status, body } : undefined;
  };
  const { code, stdout, stderr } = await run(["check"]);
  assert.equal(code, 0, stdout);
  assert.match(
    stdout,
    /^unknown +other replicators +Pods could not be listed: no right to list pods/m,
  );
  assert.match(stderr, /5 unknown, \d+ ok$/m);
});

test("wrong input is one line, and exit code 1", async (t) => {
  const { run, sandbox } = await sandboxCluster(t);
  const cases: readonly (readonly [readonly string[], RegExp])[] = [
    [["--namespaces", "team-*"], /--namespaces/],
    [["--delete-grace", "soon"], /--delete-grace: "soon" is not a duration/],
    [["--context", "nowhere"], /has no context "nowhere"/],
    [
      ["--source-namespaces", "a", "--source-namespaces", "b"],
      /--source-namespaces is given more than once/,
    ],
    [["extra"], /unexpected word "extra"/],
  ];
  for (const [args, line] of cases) {
    const { code, stdout, stderr } = await run(["check", ...args]);
    assert.equal(code, 1, args.join(" "));
    assert.match(stderr, line);
    assert.match(stderr, /^secretcast: [^\n]+\n$/);
    assert.equal(stdout, "");
  }
  await sandbox.stop();
  const dead = await run(["check"]);
  assert.equal(dead.code, 1);
  assert.match(dead.stderr, /^secretcast: [^\n]+\n$/);
});
