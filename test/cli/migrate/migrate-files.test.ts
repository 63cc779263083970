// `migrate -f`: what a move would make of a dump of a cluster, without one.
import assert from "node:assert/strict";
import { test } from "node:test";
import { commandLine } from "../../support/programs/command-line.ts";
import { worldObjects, WORLDS, worldVerdicts } from "../../support/worlds/world.ts";

type List = {
  readonly apiVersion: string;
  readonly kind: string;
  readonly complete: boolean;
  readonly problems: readonly string[];
  readonly items: readonly { readonly object: string; readonly adopt: boolean }[];
};

function dump(objects: readonly unknown[]): string {
  return JSON.stringify({ apiVersion: "v1", kind: "List", items: objects });
}

for (const world of WORLDS) {
  test(`${world}: -o json lists each marked object with what becomes of it, and no value`, async () => {
    const objects = worldObjects(world);
    const args = ["migrate", "--from", world, "-f", "-", "-o", "json"];
    const { code, stdout, stderr } = await commandLine(args, { stdin: dump(objects) });
    const list: List = JSON.parse(stdout);
    assert.equal(list.apiVersion, "cli.secretcast.io/v1alpha1");
    assert.equal(list.kind, "MigrationList");
    assert.equal(code, list.complete ? 0 : 2, stderr);
    const adopt = new Map(list.items.map((item) => [item.object, item.adopt]));
    const verdicts = worldVerdicts(world);
    for (const verdict of verdicts) {
      if (verdict.adopt === "yes") assert.equal(adopt.get(verdict.object), true, verdict.object);
      if (verdict.adopt === "no") assert.equal(adopt.get(verdict.object), false, verdict.object);
    }
    const values = objects.flatMap(({ kind, data }) =>
      kind === "Secret" ? Object.values(data ?? {}) : [],
    );
    const told = values.filter((value) => stdout.includes(value) || stderr.includes(value));
    assert.deepEqual(told, []);
  });
}

function secret(
  namespace: string,
  name: string,
  annotations: Readonly<Record<string, string>>,
): unknown {
  const metadata = { namespace, name, annotations, uid: `uid-${namespace}`, resourceVersion: "7" };
  return { apiVersion: "v1", kind: "Secret", metadata, data: { token: "aHVudGVyMg==" } };
}

function namespaces(...names: readonly string[]): readonly unknown[] {
  return names.map((name) => ({ apiVersion: "v1", kind: "Namespace", metadata: { name } }));
}

async function planned(
  tool: string,
  objects: readonly unknown[],
  ...more: readonly string[]
): Promise<{ readonly code: number; readonly stdout: string; readonly stderr: string }> {
  const args = ["migrate", "--from", tool, "-f", "-", ...more];
  return commandLine(args, { stdin: dump(objects) });
}

test("a pattern that cannot be read without guessing does not move, is told, and the exit code says so", async () => {
  const to = { "replicator.v1.mittwald.de/replicate-to": "team-\\pL+" };
  const objects = [...namespaces("platform", "team-a"), secret("platform", "registry", to)];
  const { code, stdout, stderr } = await planned("replicator", objects);
  assert.equal(code, 2);
  assert.match(stdout, /platform\/registry +does not move/);
  assert.match(
    stderr,
    /not complete:\n {2}Secret platform\/registry: the pattern "\^team-\\\\pL\+\$" holds what RE2 alone knows/,
  );
  assert.equal((await planned("replicator", objects, "--exit-code=false")).code, 0);
});

test("a pattern that never ends takes a second, and the others are matched", async () => {
  const allowed = {
    "reflector.v1.k8s.emberstack.com/reflection-allowed": "true",
    "reflector.v1.k8s.emberstack.com/reflection-auto-enabled": "true",
  };
  const slow = { "reflector.v1.k8s.emberstack.com/reflection-auto-namespaces": "(a+)+b" };
  const quick = { "reflector.v1.k8s.emberstack.com/reflection-auto-namespaces": "[t]eam-.*" };
  const objects = [
    ...namespaces("platform", "team-a", "a".repeat(63)),
    secret("platform", "slow", { ...allowed, ...slow }),
    secret("platform", "quick", { ...allowed, ...quick }),
  ];
  const { code, stdout, stderr } = await planned("reflector", objects);
  assert.equal(code, 2);
  assert.match(stderr, /Secret platform\/slow: the pattern "\(a\+\)\+b" took longer than 1000 ms/);
  assert.match(stdout, /platform\/quick +annotate +1 /);
});

test("what our words cannot say becomes the namespaces of now by name, and is told", async () => {
  const to = { "replicator.v1.mittwald.de/replicate-to": "team-[ab]" };
  const names = namespaces("platform", "team-a", "team-b", "team-c");
  const { code, stdout } = await planned("replicator", [...names, secret("platform", "x", to)]);
  assert.equal(code, 0);
  assert.match(stdout, /secretcast\.io\/to: team-a,team-b\n/);
  assert.match(
    stdout,
    /our words cannot say its rule, so 2 namespaces of now are named one by one/,
  );
});

test("annotations of ours that are there already, and other ones, are not written over", async () => {
  const to = { "replicator.v1.mittwald.de/replicate-to": "team-a", "secretcast.io/to": "team-b" };
  const objects = [...namespaces("platform", "team-a"), secret("platform", "x", to)];
  const { code, stderr } = await planned("replicator", objects);
  assert.equal(code, 2);
  assert.match(
    stderr,
    /Secret platform\/x: it has annotations of ours already, other ones: secretcast\.io\/to/,
  );
});

test("a source that secretcast refuses does not move, and the reason is secretcast's", async () => {
  const to = { "kubed.appscode.com/sync": "" };
  const metadata = { namespace: "platform", name: "token", annotations: to };
  const token = {
    kind: "Secret",
    apiVersion: "v1",
    metadata,
    type: "kubernetes.io/service-account-token",
  };
  const { code, stderr } = await planned("kubed", [...namespaces("platform", "team-a"), token]);
  assert.equal(code, 2);
  assert.match(
    stderr,
    /Secret platform\/token: type: "kubernetes.io\/service-account-token": want another type/,
  );
});

test("a name of 253 characters moves, and what is being deleted is not adopted", async () => {
  const name = "n".repeat(253);
  const sync = { "replicator.v1.mittwald.de/replicate-to": "team-a" };
  const marks = {
    "replicator.v1.mittwald.de/replicated-from-version": "7",
    "replicator.v1.mittwald.de/replicated-keys": "token",
  };
  const going = {
    apiVersion: "v1",
    kind: "Secret",
    metadata: {
      namespace: "team-a",
      name: "going",
      annotations: marks,
      deletionTimestamp: "2026-11-22T08:23:44Z",
    },
    data: { token: "aHVudGVyMg==" },
  };
  const objects = [
    ...namespaces("platform", "team-a"),
    secret("platform", name, sync),
    secret("team-a", name, marks),
    secret("platform", "going", sync),
    going,
  ];
  const { stdout } = await planned("replicator", objects, "-o", "json");
  const list: List = JSON.parse(stdout);
  assert.deepEqual(
    list.items.map(({ object, adopt }) => [object, adopt]),
    [
      ["Secret team-a/going", false],
      [`Secret team-a/${name}`, true],
    ],
  );
});

test("the old tool's flags are taken from its Deployment, or from --old-args, blanks and all", async () => {
  const to = { "replicator.v1.mittwald.de/replicate-to": ".*" };
  const objects = [...namespaces("platform", "sandbox", "playground"), secret("platform", "x", to)];
  const given = await planned(
    "replicator",
    objects,
    "--old-args",
    '"-exclude-namespaces=sandbox, playground"',
  );
  assert.match(given.stdout, /secretcast\.io\/to: "\*,!\*sandbox\*"\n/);
  const container = {
    image: "quay.io/mittwald/kubernetes-replicator:v2.12.4",
    args: ["-exclude-namespaces=play"],
  };
  const deployment = {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name: "r", namespace: "kube-system" },
    spec: { replicas: 0, template: { spec: { containers: [container] } } },
  };
  const found = await planned("replicator", [...objects, deployment]);
  assert.match(found.stdout, /secretcast\.io\/to: "\*,!\*play\*"\n/);
  assert.doesNotMatch(found.stderr, /no Deployment/);
});

test("patches are YAML for kustomize, of the Certificate where one makes the Secret, and hold no data", async () => {
  const sync = { "kubed.appscode.com/sync": "team=a" };
  const made = { ...sync, "cert-manager.io/certificate-name": "wildcard" };
  const objects = [
    ...namespaces("platform"),
    secret("platform", "a", sync),
    secret("platform", "b", made),
  ];
  const { stdout } = await planned("kubed", objects, "--print-patches");
  assert.equal(
    stdout,
    `# Flags of the controller: --source-namespaces=platform
---
apiVersion: v1
kind: Secret
metadata:
  name: a
  namespace: platform
  annotations:
    secretcast.io/to-selector: team=a
---
apiVersion: cert-manager.io/v1
kind: Certificate
metadata:
  name: wildcard
  namespace: platform
spec:
  secretTemplate:
    annotations:
      secretcast.io/to-selector: team=a
`,
  );
});

for (const [args, line] of [
  [[], /--from: is missing: want one of reflector, replicator, kubed, clustersecret, tgik/],
  [["--from", "velero"], /--from: "velero" is unknown/],
  [["--from", "kubed", "-n", "a"], /--namespace: a move is of a whole cluster/],
  [["--from", "kubed", "-l", "a=b"], /--selector: a move is of everything/],
  [["--from", "kubed", "-f", "-", "--write"], /-f - and --write contradict/],
  [["--from", "kubed", "-f", "-", "--cleanup"], /-f and --cleanup contradict/],
  [["--from", "kubed", "--cleanup", "--print-patches"], /--cleanup and --print-patches contradict/],
  [["--from", "kubed", "--adopt-drifted", "a"], /--adopt-drifted: "a" is not NAMESPACE\/NAME/],
  [["--from", "kubed", "--new-sources-in", "A"], /--new-sources-in: "A" is not the name/],
] as const) {
  test(`migrate ${args.join(" ")} is one line and exit code 1`, async () => {
    const { code, stdout, stderr } = await commandLine(["migrate", ...args], { stdin: dump([]) });
    assert.equal(code, 1);
    assert.equal(stdout, "");
    assert.match(stderr, line);
    assert.match(stderr, /^secretcast: [^\n]+\n$/);
  });
}
