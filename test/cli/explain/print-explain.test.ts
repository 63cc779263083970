// `secretcast explain` on a cluster: what it prints, in which form, and what it says of wrong input.
import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "js-yaml";
import { forbidden } from "../../support/cli/checked-server.ts";
import { sandboxCluster, type SandboxCluster } from "../../support/cli/sandbox-cluster.ts";
import { commandLine } from "../../support/programs/command-line.ts";

const JUDGED =
  "judged by --source-namespaces=secretcast --namespace-policy=opt-out, from the defaults (no controller is installed)\n";

test("a source: its rules, then namespaces grouped by reason, then what to type", async (t) => {
  const { run, sandbox } = await sandboxCluster(t);
  const said = await run(["explain", "registry", "-n", "secretcast"]);
  assert.equal(
    said.stdout,
    `Secret secretcast/registry: a source

HOLDS   RULE                                  ANSWER
yes     its namespace is a source namespace   secretcast is one (--source-namespaces secretcast)
yes     it exists                             it is there
yes     its annotations are valid             they are
yes     it is not being deleted               ok, not being deleted
yes     it asks for copies                    secretcast.io/to: team-*
yes     the source is not paused              ok, not paused

VERDICT    PLACES   WHERE                                       WHY
create     1        team-a                                      there is no copy yet
conflict   1        team-b                                      a Secret of that name already exists. Delete it, or offer it: kubectl annotate secret NAME -n NAMESPACE secretcast.io/adopt=secretcast/registry
skip       3        kube-node-lease, kube-public, kube-system   the namespace is a system namespace (--include-system-namespaces)
skip       2        default, shop                               it does not match secretcast.io/to: team-*
skip       1        secretcast                                  it is the source's own namespace
skip       1        team-c                                      its secretcast.io/accept is false

To change this:
  conflict in team-b: its owner gives it up, entries of its own are lost: kubectl annotate secret -n team-b registry --overwrite secretcast.io/adopt=secretcast/registry
  skip in kube-node-lease: start the controller with --include-system-namespaces
  skip in default: kubectl annotate secret -n secretcast registry --overwrite 'secretcast.io/to=team-*,default'
  skip in team-c: kubectl annotate namespace team-c --overwrite secretcast.io/accept=secretcast/registry
`,
  );
  // A slow machine shows its progress as well.
  const lines = said.stderr.replaceAll(/^objects read: .*\n/gm, "");
  assert.equal(lines, `context secretcast-sandbox, ${sandbox.url}\n${JUDGED}`);
  assert.equal(said.code, 0);
});

test("one namespace: every rule on the way, which one decided, and what to type", async (t) => {
  const { run } = await sandboxCluster(t);
  const said = await run(["explain", "secret/registry", "-n", "secretcast", "--in", "team-c"]);
  assert.equal(
    said.stdout,
    `Secret secretcast/registry: a source
team-c/registry: skip, because its secretcast.io/accept is false

HOLDS   RULE                                  ANSWER
yes     its namespace is a source namespace   secretcast is one (--source-namespaces secretcast)
yes     it exists                             it is there
yes     its annotations are valid             they are
yes     it is not being deleted               ok, not being deleted
yes     it asks for copies                    secretcast.io/to: team-*
yes     the source is not paused              ok, not paused
yes     its copies have this name             they are called registry
yes     the namespace exists                  it does
yes     it is not the source's own            ok, another namespace
yes     it is not excluded                    ok, not excluded
yes     secretcast.io/to names it             it matches secretcast.io/to: team-*
no      the namespace accepts it              its secretcast.io/accept is false  <- this decided

To change this:
  kubectl annotate namespace team-c --overwrite secretcast.io/accept=secretcast/registry
`,
  );
});

test("what is typed as told changes the answer", async (t) => {
  const { run, sandbox } = await sandboxCluster(t);
  const asked = ["explain", "registry", "-n", "secretcast", "--in", "team-c", "-o", "json"];
  const before = JSON.parse((await run(asked)).stdout);
  assert.equal(before.items[0].verdict, "skip");
  assert.match(before.items[0].decided.change, /accept=secretcast\/registry$/);
  const response = await fetch(`${sandbox.url}/api/v1/namespaces/team-c`, {
    method: "PATCH",
    headers: { "content-type": "application/merge-patch+json" },
    body: JSON.stringify({
      metadata: { annotations: { "secretcast.io/accept": "secretcast/registry" } },
    }),
  });
  assert.equal(response.status, 200);
  assert.equal(JSON.parse((await run(asked)).stdout).items[0].verdict, "create");
});

test("an object in the way names its place, and a copy its source", async (t) => {
  const { run, sandbox } = await sandboxCluster(t);
  const unmanaged = await run(["explain", "registry", "-n", "team-b"]);
  assert.match(
    unmanaged.stdout,
    /^Secret team-b\/registry: neither a source nor a copy\nconflict for a copy of secretcast\/registry, because /,
  );
  const uid = "11111111-1111-1111-1111-111111111111";
  sandbox.load([
    {
      kind: "Secret",
      metadata: {
        namespace: "team-a",
        name: "old",
        labels: { "app.kubernetes.io/managed-by": "secretcast" },
        annotations: {
          "secretcast.io/source": "secretcast/gone",
          "secretcast.io/source-uid": uid,
          "secretcast.io/placed-at": "team-a/old",
          "secretcast.io/source-version": "1",
        },
      },
    },
  ]);
  const copy = await run(["explain", "old", "-n", "team-a"]);
  assert.match(
    copy.stdout,
    /^Secret team-a\/old: a copy of secretcast\/gone\nheld, because source secretcast\/gone is gone; held, because the source no longer exists\n/,
  );
  assert.match(
    copy.stdout,
    /no +the copy stays +source secretcast\/gone is gone; held, .+ {2}<- this decided/,
  );
  const gone = await run(["explain", "gone", "-n", "secretcast"]);
  assert.match(
    gone.stdout,
    /^Secret secretcast\/gone: it is not there\nteam-a\/old: held, because/,
  );
});

test("a place without a copy says which source wants one there and what prevents it", async (t) => {
  const { run } = await sandboxCluster(t);
  const refused = await run(["explain", "registry", "-n", "team-c"]);
  assert.match(
    refused.stdout,
    /^Secret team-c\/registry: it is not there\nskip for a copy of secretcast\/registry, because its secretcast.io\/accept is false\n/,
  );
  assert.match(
    refused.stdout,
    /kubectl annotate namespace team-c --overwrite secretcast.io\/accept=/,
  );
  assert.equal(refused.code, 0);
  const elsewhere = await run(["explain", "registry", "-n", "shop"]);
  assert.match(
    elsewhere.stderr,
    /why secretcast\/registry has no copy there: secretcast explain registry -n secretcast --in shop\n$/,
  );
  assert.equal(elsewhere.code, 1);
});

test("plan and status name unread lists, namespaces and Secrets without effect", async (t) => {
  const { run, sandbox } = await sandboxCluster(t);
  const broken = { "secretcast.io/accept": "x" };
  sandbox.load([
    {
      kind: "Secret",
      metadata: { namespace: "shop", name: "mine", annotations: { "secretcast.io/to": "team-*" } },
    },
    {
      kind: "ConfigMap",
      metadata: {
        namespace: "secretcast",
        name: "secretcast-sources",
        annotations: { "secretcast.io/from": "shop/list" },
      },
    },
    ...Array.from({ length: 7 }, (_, at) => ({
      kind: "Namespace",
      metadata: { name: `x-${at}`, annotations: broken },
    })),
  ]);
  for (const command of ["plan", "status"]) {
    const lines = (await run([command])).stderr.split("\n");
    const reported = lines.filter((line) => /^ignored|frozen|^the source list/.test(line));
    const [list, first, ...rest] = reported;
    assert.match(list ?? "", /^the source list secretcast\/secretcast-sources is not read: it car/);
    assert.match(
      first ?? "",
      /^copies in x-0 are frozen: invalid secretcast\.io\/accept: "x": exp/,
    );
    assert.deepEqual(rest.slice(4), [
      "copies in 2 more namespaces are frozen for such reasons",
      "ignored, annotations of a source outside the source namespaces (--source-namespaces): shop/mine",
    ]);
  }
});

test("json and yaml hold a list of places with every rule, and no value", async (t) => {
  const { run } = await sandboxCluster(t);
  const asked = ["explain", "registry", "-n", "secretcast", "--in", "team-b"];
  const json = JSON.parse((await run([...asked, "-o", "json"])).stdout);
  const yaml = load((await run([...asked, "-o", "yaml"])).stdout);
  assert.deepEqual(yaml, json);
  assert.equal(json.apiVersion, "cli.secretcast.io/v1alpha1");
  assert.equal(json.kind, "ExplanationList");
  assert.equal(json.object.is, "source");
  const [item] = json.items;
  assert.deepEqual(
    [item.resource, item.namespace, item.name, item.source, item.verdict],
    ["secrets", "team-b", "registry", "secretcast/registry", "conflict"],
  );
  assert.deepEqual(item.rules.at(-1), item.decided);
  const every = await run(["explain", "registry", "-n", "secretcast", "-o", "name"]);
  assert.match(every.stdout, /^secret\/registry -n default\n/);
});

test("no form of any answer holds a value", async (t) => {
  const { run } = await sandboxCluster(t);
  for (const name of ["registry", "typo"])
    for (const form of [[], ["-o", "wide"], ["-o", "json"], ["-o", "yaml"], ["-o", "name"]]) {
      const { stdout, stderr } = await run(["explain", name, "-n", "secretcast", ...form]);
      assert.doesNotMatch(stdout + stderr, /hunter2|aHVudGVyMg/);
    }
});

test("what cannot be listed is named, and the exit code is 1", async (t) => {
  const { run, sandbox } = await sandboxCluster(t);
  sandbox.beforeRequest = ({ path }) => {
    if (path !== "/api/v1/secrets") return undefined;
    const [status, body] = forbidden("list", "secrets") ?? [403, ""];
    return { status, body };
  };
  const said = await run(["explain", "registry", "-n", "secretcast"]);
  assert.equal(said.code, 1);
  assert.match(
    said.stderr,
    /^secretcast: secrets cannot be listed in all namespaces \(403 Forbidden\)/,
  );
  assert.match(said.stdout, /^Secret secretcast\/registry: a source\n/);
});

async function fails(cluster: SandboxCluster, args: readonly string[], line: RegExp) {
  const said = await cluster.run(["explain", ...args]);
  assert.equal(said.code, 1, said.stdout);
  assert.match(said.stderr, line);
  assert.match(said.stderr, /^secretcast: [^\n]+\n$/, "one line");
  assert.equal(said.stdout, "");
}

test("wrong input is one line, and exit code 1", async (t) => {
  const cluster = await sandboxCluster(t);
  await fails(cluster, [], /Not enough non-option arguments/);
  await fails(
    cluster,
    ["none", "-n", "secretcast"],
    /there is no Secret none in namespace secretcast/,
  );
  await fails(
    cluster,
    ["registry"],
    /there is no Secret registry in namespace default, .*\(-n chooses/,
  );
  await fails(
    cluster,
    ["pod/x"],
    /"pod" is no kind that is copied: write secret\/NAME or configmap\/NAME/,
  );
  await fails(cluster, ["Not_A_Name"], /"Not_A_Name" is not the name of a Secret/);
  await fails(cluster, ["x", "--in", "Team A"], /--in: "Team A" is not the name of a namespace/);
  await fails(cluster, ["x", "-n", "Team A"], /--namespace: "Team A"/);
  await fails(cluster, ["x", "--context", "nowhere"], /has no context "nowhere"/);
  await fails(cluster, ["x", "-o", "xml"], /--output: "xml" is not one of/);
  await fails(cluster, ["x", "--source-namespaces", "A_B"], /--source-namespaces: "A_B" is wrong/);
  await fails(cluster, ["x", "--frobnicate"], /unknown flag --frobnicate/);
});

test("a dead server, an unknown user and no kubeconfig are one line each", async (t) => {
  const { run, sandbox, kubeconfig } = await sandboxCluster(t);
  sandbox.beforeRequest = () => ({
    status: 401,
    body: { kind: "Status", code: 401, reason: "Unauthorized", message: "Unauthorized" },
  });
  const line = /^secretcast: [^\n]+\n$/;
  const unknown = await run(["explain", "x"]);
  assert.deepEqual([unknown.code, line.test(unknown.stderr)], [1, true], unknown.stderr);
  assert.match(unknown.stderr, /401/);
  await sandbox.stop();
  const dead = await run(["explain", "x"]);
  assert.deepEqual([dead.code, line.test(dead.stderr)], [1, true], dead.stderr);
  const none = await commandLine(["explain", "x", "--kubeconfig", `${kubeconfig}-none`]);
  assert.deepEqual([none.code, line.test(none.stderr)], [1, true], none.stderr);
  assert.match(none.stderr, /does not exist/);
});

test("colours are for a terminal alone, and not with NO_COLOR", async (t) => {
  const { run } = await sandboxCluster(t);
  const args = ["explain", "registry", "-n", "secretcast", "--in", "team-a"];
  assert.ok((await run(args, { terminal: true })).stdout.includes("\u001b[32m"));
  assert.ok(!(await run(args)).stdout.includes("\u001b"));
  const plain = await run(args, { terminal: true, env: { NO_COLOR: "1" } });
  assert.ok(!plain.stdout.includes("\u001b"));
});

test("a ConfigMap is explained as a Secret is, where ConfigMaps take part", async (t) => {
  const { run, sandbox } = await sandboxCluster(t);
  const annotations = { "secretcast.io/to": "team-*,!team-b" };
  const metadata = { namespace: "secretcast", name: "ca", annotations };
  sandbox.load([{ kind: "ConfigMap", metadata, data: { "ca.crt": "hunter2" } }]);
  const ask = ["explain", "configmap/ca", "-n", "secretcast"];
  const reported = await run([...ask, "--config-maps"]);
  assert.match(reported.stdout, /^ConfigMap secretcast\/ca: a source\n/);
  assert.match(reported.stdout, /^create +1 +team-a +there is no copy yet$/m);
  assert.match(reported.stdout, /kubectl annotate configmap -n secretcast ca --overwrite/);
  assert.doesNotMatch(reported.stdout, /hunter2/);
  const json = await run([...ask, "--config-maps", "--in", "team-a", "-o", "json"]);
  assert.equal(JSON.parse(json.stdout).items[0].resource, "configmaps");
  const without = await run(ask);
  assert.equal(without.code, 1);
  assert.equal(
    without.stderr,
    "secretcast: ConfigMaps take no part without --config-maps: neither this command nor the controller that was found has that flag of `run`\n",
  );
});
