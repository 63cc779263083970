// `secretcast rights`: the manifests grant exactly the table of rights, to one account, and kubectl can read
// them.
import assert from "node:assert/strict";
import { test } from "node:test";
import { loadAll } from "js-yaml";
import { commandLine } from "../../support/programs/command-line.ts";
import { grantsOf, neededGrants, type RbacManifest } from "../../support/kube/rbac.ts";

const around = { env: {}, clusterNamespace: "secretcast", terminal: false };

async function printed(...words: readonly string[]): Promise<readonly RbacManifest[]> {
  const { code, stdout, stderr } = await commandLine(["rights", ...words]);
  assert.equal(code, 0, stderr);
  return loadAll(stdout) as RbacManifest[];
}

const CASES: Readonly<Record<string, readonly string[]>> = {
  "without flags": [],
  ConfigMaps: ["--config-maps"],
  names: ["--only-names", "registry,ca.bundle"],
  "names of ConfigMaps": ["--only-names=registry,ca-bundle", "--config-maps", "--source-list="],
  "listed namespaces": ["--namespaces=team-a,team-b", "--source-namespaces=shared,team-a,ci-*"],
  "names in listed namespaces": ["--namespaces=team-a,team-b", "--only-names=registry"],
  "a Lease elsewhere": ["--lease-namespace=kube-ops", "-n", "secretcast"],
  "no election": ["--no-leader-elect"],
  "a dry run": ["--dry-run", "--config-maps"],
  "a dry run in listed namespaces": ["--dry-run", "--namespaces=team-a"],
};

for (const [what, words] of Object.entries(CASES))
  test(`the printed rights are those of the table, no more and no fewer: ${what}`, async () => {
    const objects = await printed(...words);
    assert.deepEqual(grantsOf(objects), neededGrants(words, around));
    for (const { kind, roleRef, subjects = [], metadata } of objects) {
      if (!kind.endsWith("Binding")) continue;
      const apiGroup = "rbac.authorization.k8s.io";
      const role = kind.replace("Binding", "");
      assert.deepEqual(roleRef, { apiGroup, kind: role, name: metadata.name });
      const account = { kind: "ServiceAccount", name: "secretcast", namespace: "secretcast" };
      assert.deepEqual(subjects, [account]);
    }
  });

test("with listed namespaces no cluster-scoped object is printed", async () => {
  const objects = await printed("--namespaces=team-a,team-b", "--only-names=registry");
  const kinds = new Set(objects.map(({ kind }) => kind));
  assert.deepEqual([...kinds], ["Role", "RoleBinding"]);
  const places = new Set(objects.map(({ metadata }) => metadata.namespace));
  assert.deepEqual([...places], ["team-a", "team-b", "secretcast"]);
});

test("by name, only create is granted for every name", async () => {
  const all = grantsOf(await printed("--only-names=registry", "--config-maps"));
  const unnamed = all.filter((grant) => / (secrets|configmaps) /.test(grant));
  assert.deepEqual(unnamed, ["create configmaps in *", "create secrets in *"]);
});

test("verbs on the same objects are one rule with a reason for each", async () => {
  const { stdout } = await commandLine(["rights", "--only-names=registry"]);
  assert.equal(stdout.match(/- apiGroups:/g)?.length, 7);
  for (const [before] of stdout.matchAll(/^.*\n {2}- apiGroups:/gm))
    assert.match(before, /^ {2}# [a-z]+(, [a-z]+)*: \S/, before);
  assert.match(
    stdout,
    / {4}resources: \[secrets\]\n {4}resourceNames: \[registry\]\n {4}verbs: \[get, list, watch, patch, delete\]/,
  );
});

test("the same flags print the same text, and -o json holds the same objects", async () => {
  const words = ["rights", "--only-names=b,a", "--namespaces=team-b,team-a"];
  const [first, second, json] = [
    await commandLine(words),
    await commandLine(words),
    await commandLine([...words, "-o", "json"]),
  ];
  assert.equal(first.stdout, second.stdout);
  const { kind, items }: { kind: string; items: unknown } = JSON.parse(json.stdout);
  assert.deepEqual([kind, items], ["List", loadAll(first.stdout)]);
  assert.match(first.stderr, /--only-names=b,a/);
});

test("a name that YAML 1.1 would take for something else stays a name", async () => {
  const names = "on,no,1000,1e3,null,true";
  const { stdout } = await commandLine(["rights", `--only-names=${names}`]);
  assert.match(stdout, /\["?on"?, .*\]/);
  for (const name of names.split(",")) assert.ok(stdout.includes(`"${name}"`), name);
});

test("another account and another namespace of the controller", async () => {
  const objects = await printed("--service-account=platform/copier");
  const [binding] = objects.filter(({ kind }) => kind === "ClusterRoleBinding");
  assert.deepEqual(binding?.subjects, [
    { kind: "ServiceAccount", name: "copier", namespace: "platform" },
  ]);
  const role = objects.find(({ kind }) => kind === "Role");
  assert.deepEqual(
    [role?.metadata.namespace, role?.metadata.name],
    ["platform", "copier"],
    "the controller is in the namespace of its account",
  );
  const apart = await printed("--service-account=platform/copier", "-n", "ops");
  assert.equal(apart.find(({ kind }) => kind === "Role")?.metadata.namespace, "ops");
});

test("invalid input is one line that names the flag, with exit code 1", async () => {
  for (const [words, says] of [
    [["--service-account=secretcast"], /^secretcast: --service-account: "secretcast" is wrong/],
    [["--service-account=a/B"], /^secretcast: --service-account: "a\/B" is wrong/],
    [["-o", "wide"], /^secretcast: --output: "wide" is not one of yaml, json\n$/],
    [["-n", "Team"], /^secretcast: --namespace: "Team"/],
    [["--only-names="], /^secretcast: --only-names: /],
    [["--only-names=reg*"], /^secretcast: --only-names: "reg\*" is wrong/],
    [["--only-names=a", "--only-names=b"], /--only-names is given more than once/],
    [["registry"], /unexpected word "registry"/],
  ] as const) {
    const { code, stdout, stderr } = await commandLine(["rights", ...words]);
    assert.deepEqual([code, stdout], [1, ""], words.join(" "));
    assert.match(stderr, says);
    assert.equal(stderr.trimEnd().split("\n").length, 1);
  }
});

test("the environment counts as in a run, and no cluster is asked", async () => {
  const env = { SECRETCAST_ONLY_NAMES: "registry", KUBECONFIG: "/nowhere" };
  const { code, stdout } = await commandLine(["rights"], { env });
  assert.equal(code, 0);
  assert.match(stdout, /resourceNames: \[registry\]/);
});
