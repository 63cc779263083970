// Texts of tenants and of files, in what `migrate` prints and in the commands that it offers for a shell.
import { AS_WRITTEN } from "../../../src/inspect/files/file-places.ts";
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { externalSecrets } from "../../../src/migrate/oldtools/external/external-secrets.ts";
import { projectionLeftovers } from "../../../src/migrate/oldtools/projection/projection-leftovers.ts";
import { editManifest } from "../../../src/migrate/command/manifests/edit-manifests.ts";
import { readOldCluster } from "../../../src/migrate/oldtools/read-old-objects.ts";
import { externalLeftovers } from "../../../src/migrate/oldtools/external/external-leftovers.ts";
import { custom, namespace, plainSecret } from "../../support/worlds/custom-objects.ts";
import { migrationOf } from "../../support/worlds/migration.ts";
import { commandLine } from "../../support/programs/command-line.ts";
import { folderOf } from "../../../packages/kube/testing/folder.ts";

const at = (namespace: string) => ({ namespace, place: AS_WRITTEN });

const KYVERNO = "kyverno.io/v1";

function ruleNamed(name: string, namespaceOfSource = "platform"): object {
  return {
    name,
    match: { any: [{ resources: { kinds: ["Namespace"], names: ["team-*"] } }] },
    generate: {
      apiVersion: "v1",
      kind: "Secret",
      name: "registry",
      namespace: "{{request.object.metadata.name}}",
      synchronize: true,
      clone: { namespace: namespaceOfSource, name: "registry" },
    },
  };
}

const AROUND = [
  namespace("platform"),
  namespace("team-a"),
  plainSecret("platform/registry", { token: "made up" }),
];

function dump(objects: readonly object[]): string {
  return JSON.stringify({ apiVersion: "v1", kind: "List", items: objects });
}

/** The first command after ": " in a printed line, as a shell runs it: `kubectl` prints its arguments. */
function argumentsOf(line: string, t: { after(f: () => void): void }): readonly string[] {
  const folder = folderOf(t, { "bin/kubectl": "" });
  const command = line.slice(line.indexOf("kubectl "));
  const script = `kubectl() { printf '%s\\n' "$@"; }; cd ${folder}; ${command}`;
  const printed = execFileSync("sh", ["-c", script], { encoding: "utf8" });
  assert.ok(!existsSync(join(folder, "touched")), `a shell ran more than kubectl: ${command}`);
  return printed.trimEnd().split("\n");
}

const HOSTILE = "a'; touch touched; echo 'b $(touch touched)";

test("the name of a Kyverno rule stays one word of the printed command", async (t) => {
  const policy = custom(KYVERNO, "ClusterPolicy", "share", { rules: [ruleNamed(HOSTILE)] });
  const { preparations } = await migrationOf("kyverno", [...AROUND, policy]);
  const [line = assert.fail("no command")] = preparations;
  const words = argumentsOf(line.slice(line.lastIndexOf(": kubectl")), t);
  assert.deepEqual(words.slice(0, 5), [
    "patch",
    "clusterpolicy.kyverno.io",
    "share",
    "--type=json",
    "-p",
  ]);
  assert.equal(words.length, 6);
});

test("names in the commands of every tool are words for a shell", (t) => {
  const metadata = { finalizers: ["projection.sh/finalizer"] };
  const named = custom("projection.sh/v1", "Projection", `team/${HOSTILE}`, {}, metadata);
  const resource = { group: "projection.sh", versions: ["v1"], kind: "Projection" };
  const { customs } = readOldCluster([named], undefined, [{ ...resource, namespaced: true }]);
  const commands = projectionLeftovers(customs).filter((line) => line.startsWith("kubectl "));
  assert.equal(commands.length, 3);
  for (const command of commands.slice(0, 2))
    assert.ok(argumentsOf(command, t).includes(HOSTILE), command);
  const rule = custom("external-secrets.io/v1", "ClusterExternalSecret", HOSTILE, {});
  const old = readOldCluster([rule], undefined, externalSecrets.resources);
  const [first = assert.fail("no rule")] = old.customs;
  const moving = [{ custom: first, read: { kind: "refused", store: undefined } }];
  const steps = externalLeftovers(old, { rules: [], objects: [] }, moving as never, new Set());
  const deletion = steps.find((line) => line.startsWith("kubectl delete clusterexternalsecret"));
  assert.ok(argumentsOf(deletion ?? "", t).includes(HOSTILE), steps.join("\n"));
});

test("a policy in a file with a name that the API server refuses is refused", async (t) => {
  const policy = custom(KYVERNO, "ClusterPolicy", "", { rules: [ruleNamed("copy")] });
  const bad = { ...policy, metadata: { name: "x; touch touched; y" } };
  const folder = folderOf(t, { "all.json": dump([...AROUND, bad]) });
  const { code, stdout, stderr } = await commandLine([
    "migrate",
    "--from",
    "kyverno",
    "-f",
    folder,
  ]);
  assert.equal(code, 2);
  assert.match(stderr, /"x; touch touched; y" is not the name of a ClusterPolicy/);
  assert.doesNotMatch(stdout, /kubectl/);
});

test("a store's address of a tenant is printable and takes one line", async () => {
  const url = "https://x\u001b[2J\u202e\nkubectl delete ns kube-system";
  const version = "external-secrets.io/v1";
  const provider = { kubernetes: { remoteNamespace: "platform", server: { url } } };
  const objects = [
    ...AROUND,
    custom(version, "SecretStore", "team-a/there", { provider }),
    custom(version, "ExternalSecret", "team-a/bank", {
      secretStoreRef: { kind: "SecretStore", name: "there" },
      dataFrom: [{ extract: { key: "registry" } }],
    }),
  ];
  const args = ["migrate", "--from", "external-secrets", "-f", "-"];
  for (const more of [[], ["-o", "wide"], ["--print-patches"]]) {
    const { stdout, stderr } = await commandLine([...args, ...more], { stdin: dump(objects) });
    assert.match(stderr, /its server is https/);
    const printed = stdout + stderr;
    assert.ok(!printed.includes("\u001b") && !printed.includes("\u202e"), printed);
    assert.doesNotMatch(printed, /^kubectl delete ns/m);
  }
});

test("a namespaced Policy that clones from elsewhere moves nothing", async () => {
  const policy = custom(KYVERNO, "Policy", "team-a/mine", { rules: [ruleNamed("copy")] });
  const migration = await migrationOf("kyverno", [...AROUND, policy]);
  assert.deepEqual(migration.sources, []);
  assert.match(migration.problems.join("\n"), /Policy team-a\/mine\/copy: a Policy may clone/);
});

// Each of these takes minutes or more for an expression that backtracks.
test("texts made for backtracking expressions are read in linear time", async () => {
  const blanks = " ".repeat(400);
  const expression = `generator.Apply("a"${blanks},[${blanks.repeat(2)}1]) != [1]`;
  const spec = { generate: [{ expression }], evaluation: {}, matchConstraints: {} };
  const policy = custom("policies.kyverno.io/v1", "GeneratingPolicy", "slow", spec);
  assert.deepEqual((await migrationOf("kyverno", [...AROUND, policy])).sources, []);
  const annotations = { "replicator.v1.mittwald.de/replicate-to": `a${" ".repeat(250_000)}b` };
  const source = plainSecret("platform/x", { token: "made up" }, { annotations });
  assert.equal((await migrationOf("replicator", [...AROUND, source])).sources.length, 1);
  const manifest = `${"\n".repeat(200)}kind: Secret\nmetadata: {name: x, namespace: y}\n`;
  const edits = new Map([["Secret y/x", { "secretcast.io/to": "a" }]]);
  assert.deepEqual(editManifest("x.yaml", manifest, edits, at("y")).done, ["Secret y/x"]);
});
