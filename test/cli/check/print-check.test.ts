// `secretcast check`: a line for each thing; exit code 0 where all is there, 1 where something is unknown, 2 where
// something is missing.
import assert from "node:assert/strict";
import { test } from "node:test";
import { forbidden } from "../../support/cli/checked-server.ts";
import { liveLease, sandboxCluster } from "../../support/cli/sandbox-cluster.ts";

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
    `context secretcast-sandbox, ${sandbox.url}\njudged by --source-namespaces=secretcast --namespace-policy=opt-out, from the defaults (no controller is installed)\nrights: yours; those of the controller's account by --as\n${lines.length - 1} ok\n`,
  );
  const written = sandbox.requests.filter(({ method }) => method !== "GET");
  assert.ok(written.every(({ path }) => path.endsWith("/selfsubjectaccessreviews")));
});

test("a right that is missing: what to apply, and exit code 2", async (t) => {
  const { run, sandbox } = await sandboxCluster(t);
  sandbox.beforeRequest = ({ path }) =>
    path.endsWith("selfsubjectaccessreviews")
      ? { status: 201, body: { status: { allowed: false } } }
      : undefined;
  const { code, stdout } = await run(["check", "--namespaces", "team-a", "--no-leader-elect"]);
  assert.equal(code, 2);
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
  assert.deepEqual([...seen], ["secretcast/1.2.3 (command line)"]);
});

test("json is a CheckList, and -o name the checks alone", async (t) => {
  const { run } = await sandboxCluster(t);
  const list = JSON.parse((await run(["check", "-o", "json"])).stdout);
  assert.deepEqual([list.apiVersion, list.kind], ["cli.secretcast.io/v1alpha1", "CheckList"]);
  assert.ok(list.items.every(({ state }: { state: string }) => state === "ok"));
  assert.match((await run(["check", "-o", "name"])).stdout, /^server version\n/);
});

test("what may not be read changes the exit code only where the controller needs it", async (t) => {
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

const REVIEWS = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";

test("an installed controller's rights are its account's, and yours are beside them", async (t) => {
  const { run, sandbox } = await sandboxCluster(t);
  sandbox.load([{ kind: "Namespace", metadata: { name: "platform" } }, liveLease("platform")]);
  const args = ["run", "--namespaces=team-a", "--config-maps", "--source-namespaces=platform"];
  const spec = { serviceAccountName: "copier", containers: [{ name: "secretcast", args }] };
  const metadata = { namespace: "platform", name: "secretcast" };
  const items = [{ metadata, spec: { template: { spec } } }];
  sandbox.beforeRequest = ({ path }) =>
    path === "/apis/apps/v1/deployments" ? { status: 200, body: { items } } : undefined;
  const plain = await run(["check", "-n", "platform"]);
  assert.equal(plain.code, 0, plain.stdout);
  assert.match(plain.stdout, /^STATE +CHECK +YOURS +ANSWER/);
  assert.match(plain.stdout, /^ok +create secrets in team-a +yes +new copies$/m);
  assert.match(plain.stdout, /^ok +create configmaps in team-a +yes +new copies$/m);
  assert.match(plain.stdout, /^ok +list configmaps\/secretcast-sources in platform +yes /m);
  assert.doesNotMatch(plain.stdout, /every namespace/);
  assert.match(
    plain.stderr,
    /^rights: those of system:serviceaccount:platform:copier; in the column YOURS/m,
  );
  const other = await run(
    "check -n platform --as system:serviceaccount:platform:copier".split(" "),
  );
  assert.match(other.stdout, /create configmaps in team-a/);
  assert.doesNotMatch(other.stdout, /YOURS|every namespace/);
  const { items: rows } = JSON.parse((await run(["check", "-n", "platform", "-o", "json"])).stdout);
  const right = rows.find(({ check }: { check: string }) => check === "get secrets in team-a");
  assert.equal(right.yours, "yes");
});

test("unreadable flags of the controller lead to no advice of a ClusterRole", async (t) => {
  const { run, sandbox } = await sandboxCluster(t);
  sandbox.beforeRequest = ({ path }) => {
    if (path === REVIEWS) return { status: 201, body: { status: { allowed: false } } };
    const [status, body] = forbidden("list", "deployments");
    return path.endsWith("/deployments") ? { status, body } : undefined;
  };
  const guessed = await run(["check"]);
  assert.equal(guessed.code, 1);
  assert.doesNotMatch(guessed.stdout, /^missing|clusterrole/im);
  assert.match(
    guessed.stdout,
    /^unknown +list secrets in every namespace +.*may read its Deployment$/m,
  );
  const reported = await run(["check", "--namespaces", "team-a"]);
  assert.match(reported.stdout, /^missing +list secrets in team-a +/m);
});

test("an account that may do everything is a warning and no failure", async (t) => {
  const { run } = await sandboxCluster(t);
  const { code, stdout } = await run(["check", "--as", "system:serviceaccount:secretcast:it"]);
  assert.equal(code, 0, stdout);
  assert.match(stdout, /^warning +too wide: every right in the cluster +.*`secretcast rights`/m);
  const yours = await run(["check"]);
  assert.doesNotMatch(yours.stdout, /too wide/, "the rights of a user are not the controller's");
});

test("check says that rights by name without the guardrail reach other Secrets", async (t) => {
  const { run, sandbox } = await sandboxCluster(t);
  sandbox.beforeRequest = ({ path }) =>
    path.endsWith("policies") ? { status: 200, body: { items: [] } } : undefined;
  const byName = await run(["check", "--only-names", "registry,typo"]);
  assert.equal(byName.code, 0, byName.stdout);
  assert.match(
    byName.stdout,
    /^warning +guardrail +not installed: .*create a Secret of the type kubernetes\.io\/service-account-token with a listed name.*components\/guardrail/m,
  );
  assert.doesNotMatch((await run(["check"])).stdout, /^warning/m);
});

test("a missing live Lease leads to one line and exit code 2", async (t) => {
  const { run, sandbox } = await sandboxCluster(t, undefined, { leads: false });
  const none = await run(["check"]);
  assert.equal(none.code, 2, none.stderr);
  assert.match(
    none.stdout,
    /^missing +a replica leads +no replica leads: there is no Lease secretcast\/secretcast +start the controller, or see why/m,
  );
  sandbox.load([{ ...liveLease(), spec: { renewTime: "2026-11-20T08:25:28.000000Z" } }]);
  const { code, stdout } = await run(["check", "--exit-code=false"]);
  assert.equal(code, 0);
  assert.match(
    stdout,
    /no replica leads since 2026-11-20T08:25:28Z: the last one released the Lease/,
  );
});
