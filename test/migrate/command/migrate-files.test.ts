// `migrate -f`: what a move would make of a dump of a cluster, without one.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { commandLine } from "../../support/programs/command-line.ts";
import { OLD_TOOLS, RETIRED_TOOLS } from "../../../src/migrate/oldtools/old-tool.ts";
import { worldObjects, WORLDS, worldVerdicts } from "../../support/worlds/world.ts";
import { folderOf } from "../../../packages/kube/testing/folder.ts";

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
    const reported = values.filter((value) => stdout.includes(value) || stderr.includes(value));
    assert.deepEqual(reported, []);
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

const REFLECTED = {
  "reflector.v1.k8s.emberstack.com/reflection-allowed": "true",
  "reflector.v1.k8s.emberstack.com/reflection-auto-enabled": "true",
};
const AUTO = "reflector.v1.k8s.emberstack.com/reflection-auto-namespaces";

test("a pattern that is unclear is left out and reported, with exit code 2", async () => {
  const rule = { ...REFLECTED, [AUTO]: "team-\\p{L}+,ops" };
  const objects = [...namespaces("platform", "team-a"), secret("platform", "registry", rule)];
  const { code, stdout, stderr } = await planned("reflector", objects);
  assert.equal(code, 2);
  assert.match(stdout, /secretcast\.io\/to: ops\n/);
  assert.match(
    stderr,
    /not complete:\n {2}Secret platform\/registry: to: the pattern "team-\\\\p\{L\}\+" uses syntax that only \.NET has/,
  );
  assert.equal((await planned("reflector", objects, "--exit-code=false")).code, 0);
});

test("every pattern that RE2 accepts is read as RE2 reads it", async () => {
  const names = namespaces("platform", "team-a", "team-1");
  for (const [to, said] of [
    ["*", '"\\*"'],
    ["^*$", '"\\*"'],
    ["team-\\pL", "team-a"],
    ["[[:alpha:]]+-1", "team-1"],
    ["(?P<team>team)-a,(?!x)y", "team-a"],
    ["\\Qteam-a\\E", "team-a"],
    ["team-\\_,team-1", "team-1"],
  ] as const) {
    const rule = { "replicator.v1.mittwald.de/replicate-to": to };
    const { stdout } = await planned("replicator", [...names, secret("platform", "x", rule)]);
    assert.match(stdout, new RegExp(`secretcast\\.io/to: ${said}\n`), `${to}: ${stdout}`);
  }
});

test("a glob that the old tool reads as empty is reported with its line", async () => {
  const names = namespaces("platform", "tss-1");
  const rule = { ...REFLECTED, [AUTO]: "tss-*" };
  const { code, stderr } = await planned("reflector", [...names, secret("platform", "x", rule)]);
  assert.equal(code, 2);
  assert.match(stderr, /reads "tss-\*" as a regular expression.*set secretcast\.io\/to: tss-\*\n/);
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
  assert.match(
    stderr,
    /Secret platform\/slow: to: the pattern "\(a\+\)\+b" took longer than 1000 ms/,
  );
  assert.match(stdout, /platform\/quick +annotate +1 /);
});

test("namespaces that no glob expresses are listed by name, with exit code 2", async () => {
  const to = { "replicator.v1.mittwald.de/replicate-to": "team-[a-z]+,kns-job-[0-9]*,ops-.*" };
  const names = namespaces("platform", "team-a", "team-b", "team-1");
  const objects = [...names, secret("platform", "x", to)];
  const { code, stdout, stderr } = await planned("replicator", objects);
  assert.equal(code, 2);
  assert.match(stdout, /secretcast\.io\/to: "team-a,team-b,ops-\*"\n/);
  assert.match(stderr, /no glob expresses the pattern "\^team-\[a-z\]\+\$".*the 2 namespaces/);
  assert.match(
    stderr,
    /the pattern "\^kns-job-\[0-9\]\*\$" \(kns-job-\* matches these names and others\); the 0 namespaces/,
  );
});

test("a rule that nothing expresses and no namespace matches is kept as a reported problem", async () => {
  const to = { "replicator.v1.mittwald.de/replicate-to": "kns-job-[0-9]*" };
  const objects = [...namespaces("platform"), secret("platform", "x", to)];
  const { code, stdout, stderr } = await planned("replicator", objects);
  assert.equal(code, 2);
  assert.match(stdout, /platform\/x +does not move/);
  assert.match(stderr, /set secretcast\.io\/to yourself/);
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
    /Secret platform\/token: invalid type: "kubernetes.io\/service-account-token": expected another type/,
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
  assert.doesNotMatch(found.stderr, /no workload/);
});

const REFLECTOR_IMAGE = "docker.io/emberstack/kubernetes-reflector:9.1.0";
const EXCLUDED = "ES_Reflector__Watcher__ExcludedNamespaces";

function reflectorPod(...env: readonly unknown[]): unknown {
  return { spec: { containers: [{ name: "reflector", image: REFLECTOR_IMAGE, env }] } };
}

function workload(kind: string, name: string, spec: unknown): unknown {
  const apiVersion = kind === "CronJob" ? "batch/v1" : "apps/v1";
  return { apiVersion, kind, metadata: { namespace: "kube-system", name }, spec };
}

const ALLOWED = { "reflector.v1.k8s.emberstack.com/reflection-allowed": "true" };

for (const [shape, spec] of [
  ["Deployment", (pod: unknown) => ({ template: pod })],
  ["CronJob", (pod: unknown) => ({ jobTemplate: { spec: { template: pod } } })],
] as const) {
  test(`a source in a namespace that Reflector's ${shape} excludes is no source`, async () => {
    const pod = reflectorPod({ name: EXCLUDED, value: "kube-*, DEV-?" });
    const { code, stdout } = await planned("reflector", [
      ...namespaces("platform", "dev-2", "dev-22", "team-a"),
      workload(shape, "reflector", spec(pod)),
      secret("platform", "cred", { ...REFLECTED, [AUTO]: "team-.*" }),
      secret("dev-2", "cred", { ...REFLECTED }),
      secret("dev-22", "other", { ...REFLECTED, [AUTO]: "team-.*" }),
      secret("dev-2", "mirror", { "reflector.v1.k8s.emberstack.com/reflects": "platform/cred" }),
      secret("team-a", "cred", {}),
      secret("team-a", "other", {}),
    ]);
    assert.equal(code, 0);
    assert.match(stdout, /--source-namespaces=dev-22,platform\n/);
    assert.doesNotMatch(stdout, /dev-2\//);
  });
}

test("a setting that the manifest takes from a ConfigMap makes the move incomplete", async () => {
  const from = { name: EXCLUDED, valueFrom: { configMapKeyRef: { name: "x", key: "y" } } };
  const { code, stderr } = await planned("reflector", [
    ...namespaces("platform"),
    workload("Deployment", "reflector", { template: reflectorPod(from) }),
    secret("platform", "cred", ALLOWED),
  ]);
  assert.equal(code, 2);
  assert.match(
    stderr,
    /Deployment kube-system\/reflector: ES_Reflector__Watcher__ExcludedNamespaces may be set from a ConfigMap or Secret; give it as --old-args/,
  );
});

test("two workloads of the tool with different settings make the move incomplete", async () => {
  const { code, stderr } = await planned("reflector", [
    ...namespaces("platform"),
    workload("Deployment", "one", { template: reflectorPod() }),
    workload("Deployment", "two", { template: reflectorPod({ name: EXCLUDED, value: "x" }) }),
    secret("platform", "cred", ALLOWED),
  ]);
  assert.equal(code, 2);
  assert.match(stderr, /one and Deployment kube-system\/two run with different settings/);
});

test("labels that ClusterSecret is told to block are not copied, and the others are", async () => {
  const containers = [
    {
      image: "quay.io/clustersecret/clustersecret:0.0.14",
      env: [{ name: "BLOCKED_LABELS", value: "internal.example.com, team" }],
    },
  ];
  const { stdout } = await planned("clustersecret", [
    ...namespaces("team-a"),
    workload("Deployment", "clustersecret", { template: { spec: { containers } } }),
    {
      apiVersion: "clustersecret.io/v1",
      kind: "ClusterSecret",
      metadata: {
        name: "x",
        labels: {
          "app.kubernetes.io/name": "a",
          team: "b",
          "internal.example.com/c": "d",
          tier: "e",
        },
      },
      data: { token: "b25l" },
    },
  ]);
  assert.match(stdout, /secretcast\.io\/copy-labels: "?app\.kubernetes\.io\/name,tier"?\n/);
});

test("a rule with gaps is reported with the advice to ask the cluster", async () => {
  const to = { "replicator.v1.mittwald.de/replicate-to": "job-[0-9]*" };
  const { code, stderr } = await planned("replicator", [secret("platform", "x", to)]);
  assert.equal(code, 2);
  assert.match(stderr, /the files contain no Namespace.*run the command without -f as well\n/);
});

test("patches are YAML for kustomize without data, of the Certificate where one exists", async () => {
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
  [[], new RegExp(`--from: is missing: expected one of ${OLD_TOOLS.join(", ")}\n`)],
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

const TO = "replicator.v1.mittwald.de/replicate-to";

function manifest(namespace: string, name: string, to: string, more = ""): string {
  return `apiVersion: v1
kind: Secret
metadata:
  namespace: ${namespace}
  name: ${name}
  annotations:
    ${TO}: "${to}"
data: {token: b25l}
${more}`;
}

function migrated(root: string, tool: string, ...more: readonly string[]) {
  return commandLine(["migrate", "--from", tool, "-f", root, "-R", ...more]);
}

test("the rule of one cluster is never written into the manifest of another", async (t) => {
  const files = {
    "prod/s.yaml": manifest("platform", "registry", "prod-a,prod-b"),
    "staging/s.yaml": manifest("platform", "registry", "staging-a"),
    "prod/other.yaml": manifest("platform", "other", "prod-a"),
    "base/bare.yaml": "apiVersion: v1\nkind: Secret\nmetadata: {namespace: platform, name: bare}\n",
    "overlay/bare.yaml": manifest("platform", "bare", "prod-a"),
  };
  const root = folderOf(t, files);
  const { code, stderr } = await migrated(root, "replicator", "--write", "--yes");
  assert.equal(code, 2);
  assert.match(
    stderr,
    /Secret platform\/registry is at \S*prod\/s\.yaml:1 and \S*staging\/s\.yaml:1: layers or clusters/,
  );
  assert.match(stderr, /Secret platform\/bare is at \S*base\/bare\.yaml:1 and \S*overlay/);
  for (const name of [
    "prod/s.yaml",
    "staging/s.yaml",
    "base/bare.yaml",
    "overlay/bare.yaml",
  ] as const)
    assert.equal(readFileSync(join(root, name), "utf8"), files[name]);
  assert.match(readFileSync(join(root, "prod/other.yaml"), "utf8"), /secretcast\.io\/to: prod-a/);
});

test("signed, generated and vendored manifests stay untouched and are named", async (t) => {
  const files = {
    "sealed.yaml": manifest("platform", "sealed", "team-a", "sops: {mac: x}\n"),
    "generated.yaml": `# Code generated by a tool. DO NOT EDIT.\n${manifest("platform", "made", "team-a")}`,
    "vendor/x.yaml": manifest("platform", "vendored", "team-a"),
    "plain.yaml": manifest("platform", "plain", "team-a"),
  };
  const root = folderOf(t, files);
  const { code, stderr } = await migrated(root, "replicator", "--write", "--yes");
  assert.equal(code, 2);
  assert.match(
    stderr,
    /sealed\.yaml: Secret platform\/sealed is signed by SOPS, so an edit would break it; run: sops set \S*sealed\.yaml '\["metadata"\]\["annotations"\]\["secretcast\.io\/to"\]' '"team-a"'\n/,
  );
  assert.match(stderr, /generated\.yaml: Secret platform\/made is in a generated file/);
  assert.match(stderr, /x\.yaml: Secret platform\/vendored is in a vendored file/);
  for (const name of ["sealed.yaml", "generated.yaml", "vendor/x.yaml"] as const)
    assert.equal(readFileSync(join(root, name), "utf8"), files[name]);
  assert.match(readFileSync(join(root, "plain.yaml"), "utf8"), /secretcast\.io\/to: team-a/);
});

test("a Secret of another group is none, in files and in their edits", async (t) => {
  const foreign = manifest("platform", "x", "dev").replace(
    "apiVersion: v1",
    "apiVersion: vault.example.com/v1",
  );
  const root = folderOf(t, { "x.yaml": foreign });
  const { code, stdout } = await migrated(root, "replicator", "--write", "--yes");
  assert.equal(code, 0);
  assert.equal(readFileSync(join(root, "x.yaml"), "utf8"), foreign);
  assert.doesNotMatch(stdout, /secretcast\.io/);
});

test("a null annotation is empty, so kubed serves every namespace", async (t) => {
  for (const value of ["", "~", "null", '""', "!!null", "# none"]) {
    const text = manifest("platform", "x", "").replace(
      `${TO}: ""`,
      `kubed.appscode.com/sync: ${value}`,
    );
    const { code, stdout, stderr } = await migrated(folderOf(t, { "x.yaml": text }), "kubed");
    assert.match(stdout, /secretcast\.io\/to: "\*"/, `${value}: ${stderr}`);
    assert.equal(code, 0, stderr);
  }
});

test("an annotation that is no text is named, as the API server would refuse it", async (t) => {
  const bare = manifest("platform", "x", "true").replace(`"true"`, "true");
  const { code, stderr } = await migrated(folderOf(t, { "x.yaml": bare }), "replicator");
  assert.equal(code, 2);
  assert.match(
    stderr,
    /x\.yaml:1: metadata\.annotations of x: \S+replicate-to is no text; put it in quotes/,
  );
});

const CREATORS: Readonly<Record<string, readonly [manifest: string, path: string]>> = {
  Certificate: [
    `apiVersion: cert-manager.io/v1
kind: Certificate
metadata: {namespace: platform, name: wildcard}
spec:
  secretName: wildcard-tls
  secretTemplate: {annotations: {${TO}: "team-.*"}}
`,
    "spec\\.secretTemplate\\.annotations",
  ],
  ExternalSecret: [
    `apiVersion: external-secrets.io/v1
kind: ExternalSecret
metadata: {namespace: platform, name: x}
spec:
  target: {name: made, template: {metadata: {annotations: {${TO}: "team-.*"}}}}
`,
    "spec\\.target\\.template\\.metadata\\.annotations",
  ],
  SealedSecret: [
    `apiVersion: bitnami.com/v1alpha1
kind: SealedSecret
metadata: {namespace: platform, name: x}
spec: {template: {metadata: {annotations: {${TO}: "team-.*"}}}}
`,
    "spec\\.template\\.metadata\\.annotations",
  ],
  VaultStaticSecret: [
    `apiVersion: secrets.hashicorp.com/v1beta1
kind: VaultStaticSecret
metadata: {namespace: platform, name: x}
spec: {destination: {name: made, annotations: {${TO}: "team-.*"}}}
`,
    "spec\\.destination\\.annotations",
  ],
  VaultDynamicSecret: [
    `apiVersion: secrets.hashicorp.com/v1beta1
kind: VaultDynamicSecret
metadata: {namespace: platform, name: x}
spec: {destination: {name: made, annotations: {${TO}: "team-.*"}}}
`,
    "spec\\.destination\\.annotations",
  ],
  VaultSecret: [
    `apiVersion: redhatcop.redhat.io/v1alpha1
kind: VaultSecret
metadata: {namespace: platform, name: x}
spec: {output: {name: made, annotations: {${TO}: "team-.*"}}}
`,
    "spec\\.output\\.annotations",
  ],
  InfisicalSecret: [
    `apiVersion: secrets.infisical.com/v1alpha1
kind: InfisicalSecret
metadata: {namespace: platform, name: x, annotations: {${TO}: "team-.*"}}
`,
    "metadata\\.annotations",
  ],
  "kind with a field of its own": [
    `apiVersion: example.com/v1
kind: VaultUnseal
metadata: {namespace: platform, name: x}
spec: {adminTokenAnnotations: {${TO}: "team-.*"}}
`,
    "spec\\.adminTokenAnnotations",
  ],
  HelmRelease: [
    `apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {namespace: platform, name: "\${APP}"}
spec: {values: {registry: [{secretAnnotations: {${TO}: "team-.*"}}]}}
`,
    "spec\\.values\\.registry\\[0\\]\\.secretAnnotations",
  ],
  Ingress: [
    `apiVersion: networking.k8s.io/v1
kind: Ingress
metadata:
  namespace: platform
  name: x
  annotations:
    cert-manager.io/secret-template: '{"annotations": {"${TO}": "team-.*"}}'
spec: {tls: [{secretName: made}]}
`,
    "metadata\\.annotations\\.cert-manager\\.io/secret-template",
  ],
};

for (const [kind, [text, path]] of Object.entries(CREATORS)) {
  test(`a rule in the template of a ${kind} is named with exit code 2`, async (t) => {
    const { code, stderr } = await migrated(folderOf(t, { "x.yaml": text }), "replicator");
    assert.equal(code, 2);
    assert.match(
      stderr,
      new RegExp(
        `x\\.yaml:1: ${/kind: (\w+)/.exec(text)?.[1]} platform/\\S+: its Secret gets a rule of replicator from ${path}: add there secretcast\\.io/to: "team-\\*"`,
      ),
    );
  });
}

const RULE = `${TO}: "team-.*"`;
const CERTIFICATE = CREATORS["Certificate"]?.[0] ?? "";

for (const [what, files, problem] of [
  [
    "a kustomization's secretGenerator",
    {
      "kustomization.yaml": `secretGenerator:\n- name: made\n  options: {annotations: {${RULE}}}\n`,
    },
    /kustomization\.yaml: kustomization: .* from secretGenerator\[0\]\.options\.annotations: add there secretcast\.io\/to: "team-\*"/,
  ],
  [
    "a template of a chart",
    { "c/Chart.yaml": "name: c\n", "c/templates/x.yaml": `{{ if .x }}\n${CERTIFICATE}{{ end }}\n` },
    /templates\/x\.yaml: this template contains a rule of replicator, and is not edited/,
  ],
  [
    "a template by its name",
    { "x.yaml.tpl": `{{ if .x }}\n${CERTIFICATE}{{ end }}\n` },
    /x\.yaml\.tpl: this template contains a rule of replicator/,
  ],
  [
    "the values of a chart",
    { "values.yaml": `tls:\n  secretAnnotations:\n    ${RULE}\n` },
    /values\.yaml: other file: .* from tls\.secretAnnotations: add there secretcast\.io\/to: "team-\*"/,
  ],
  [
    "a patch of a kustomization",
    {
      "kustomization.yaml": "patches: [{path: p.yaml}]\n",
      "p.yaml": `kind: Secret\nmetadata: {name: x, annotations: {${RULE}}}\n`,
    },
    /p\.yaml: patch: .* from metadata\.annotations: add there/,
  ],
  [
    "a manifest in the text of another",
    {
      "app.yaml": `apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: x}\nspec:\n  values: |\n    annotations:\n      ${RULE}\n`,
    },
    /app\.yaml:1: Application default\/x: .* from spec\.values: add there a rule of secretcast\n/,
  ],
  [
    "a template that something replaces a value in",
    { "x.yaml": CERTIFICATE.replace("team-.*", "${TEAM}") },
    /x\.yaml:1: .*: add there a rule of secretcast that says \S+replicate-to: "\$\{TEAM\}"\n/,
  ],
] as const) {
  test(`a rule in ${what} is named, the exit code is 2, and no file changes`, async (t) => {
    const own = "apiVersion: v1\nkind: Namespace\nmetadata: {name: team-a}\n";
    const all: Readonly<Record<string, string>> = { "n.yaml": own, ...files };
    const root = folderOf(t, all);
    for (const more of [[], ["--write", "--yes"]]) {
      const { code, stderr } = await migrated(root, "replicator", ...more);
      assert.match(stderr, problem);
      assert.equal(code, 2);
    }
    for (const [name, text] of Object.entries(all))
      assert.equal(readFileSync(join(root, name), "utf8"), text);
  });
}

test("a mirror in Git with a created source is named with both lines", async (t) => {
  const mirror = `apiVersion: v1
kind: Secret
metadata:
  namespace: team-a
  name: registry
  annotations: {replicator.v1.mittwald.de/replicate-from: platform/registry}
`;
  const { code, stderr } = await migrated(folderOf(t, { "x.yaml": mirror }), "replicator");
  assert.equal(code, 2);
  assert.match(
    stderr,
    /Secret team-a\/registry: its source platform\/registry is not in the files: add secretcast\.io\/from: platform\/registry to it, and secretcast\.io\/allow: team-a to its source/,
  );
});

test("a mirror in Git with required keys is named with its tool's setting", async (t) => {
  const mirror = (name: string, type: string, data: string): string => `apiVersion: v1
kind: Secret
metadata:
  namespace: team-a
  name: ${name}
  annotations: {replicator.v1.mittwald.de/replicate-from: platform/registry}
type: ${type}
${data}
`;
  const root = folderOf(t, {
    "tls.yaml": mirror("tls", "kubernetes.io/tls", 'data: {tls.crt: "", tls.key: ""}'),
    "opaque.yaml": mirror("opaque", "Opaque", ""),
  });
  for (const more of [[], ["--write", "--yes"]]) {
    const { stdout, stderr } = await migrated(root, "replicator", ...more);
    const said = stdout + stderr;
    assert.match(
      said,
      /Secret team-a\/tls has the type kubernetes\.io\/tls, .* or use the type Opaque/,
    );
    assert.doesNotMatch(said, /team-a\/opaque has the type/);
  }
});

test("what is different for mirrors is said where there are some, and placeholders are named", async () => {
  const key = "reflector.v1.k8s.emberstack.com/";
  const source = secret("platform", "registry", { [`${key}reflection-allowed`]: "true" });
  const mirror = (namespace: string, data: unknown): object => {
    const annotations = { [`${key}reflects`]: "platform/registry" };
    return { ...Object(secret(namespace, "registry", annotations)), data };
  };
  const all = [...namespaces("team-a", "team-b"), source];
  const said = async (...mirrors: readonly unknown[]): Promise<string> => {
    const args = ["migrate", "--from", "reflector", "-f", "-"];
    return (await commandLine(args, { stdin: dump([...all, ...mirrors]) })).stdout;
  };
  assert.doesNotMatch(await said(), /mirror/);
  const equal = await said(mirror("team-a", { token: "aHVudGVyMg==" }));
  assert.match(
    equal,
    /no longer allows a mirror, secretcast removes its content; .*on-delete: keep/,
  );
  assert.match(equal, /a mirror that is created again with content of its own/);
  assert.doesNotMatch(equal, /mirrors with other content/);
  const both = await said(mirror("team-a", { token: "eA==" }), mirror("team-b", {}));
  assert.match(both, /mirrors with other content than their source, .*: team-a\/registry\n/);
  // As the public examples of a type with required keys have them.
  const empty = { type: "kubernetes.io/tls", data: { "tls.crt": "", "tls.key": "" } };
  const typed = { ...Object(mirror("team-a", {})), ...empty };
  assert.doesNotMatch(await said(typed), /mirrors with other content/);
});

test("a Namespace of several layers is one namespace with the labels of all", async (t) => {
  const namespace = (name: string, labels: string): string =>
    `apiVersion: v1\nkind: Namespace\nmetadata: {name: ${name}, labels: {${labels}}}\n`;
  const root = folderOf(t, {
    "a.yaml": namespace("team-a", "tls: wildcard"),
    "a2.yaml": namespace("team-a", ""),
    "b.yaml": namespace("team-b", "x: z"),
    "b2.yaml": namespace("team-b", "x: z"),
    "s.yaml": manifest("platform", "x", "").replace(
      `${TO}: ""`,
      "kubed.appscode.com/sync: tls=wildcard",
    ),
  });
  const { code, stdout, stderr } = await migrated(root, "kubed");
  assert.match(stdout, /secretcast\.io\/to-selector: "tls=wildcard"/);
  assert.match(
    stderr,
    /Namespace team-a is at \S+a\.yaml:1 and \S+a2\.yaml:1 with different labels/,
  );
  assert.doesNotMatch(stderr, /team-b/);
  assert.equal(code, 2);
});

test("a rule in a comment of another file is none", async (t) => {
  const files = { "values.yaml": `# ${RULE}\nx: 1\n`, "n.yaml": CERTIFICATE.replace(RULE, "a: b") };
  const { code, stderr } = await migrated(folderOf(t, files), "replicator");
  assert.equal(code, 0, stderr);
});

test("what --write would not edit is named without --write too, with the same exit code", async (t) => {
  const files = {
    "sealed.yaml": manifest("platform", "sealed", "team-a", "sops: {mac: x}\n"),
    "list.yaml": `apiVersion: v1\nkind: SecretList\nitems:\n- metadata:\n    namespace: platform\n    name: x\n    annotations: {${TO}: team-a}\n`,
  };
  const root = folderOf(t, files);
  for (const more of [[], ["--write", "--yes"]]) {
    const { code, stderr } = await migrated(root, "replicator", ...more);
    assert.match(stderr, /sealed\.yaml: Secret platform\/sealed is signed by SOPS/);
    assert.equal(code, 2);
  }
  assert.match(readFileSync(join(root, "list.yaml"), "utf8"), /secretcast\.io\/to/);
});

test("patches are printed for mirrors that are empty in files, as --write edits them", async (t) => {
  const mirror = `apiVersion: v1
kind: Secret
metadata:
  namespace: team-a
  name: registry
  annotations: {reflector.v1.k8s.emberstack.com/reflects: platform/registry}
`;
  const source = `apiVersion: v1
kind: Secret
metadata:
  namespace: platform
  name: registry
  annotations: {reflector.v1.k8s.emberstack.com/reflection-allowed: "true"}
data: {token: b25l}
`;
  const root = folderOf(t, { "mirror.yaml": mirror, "source.yaml": source });
  const { stdout } = await migrated(root, "reflector", "--print-patches");
  assert.match(stdout, /secretcast\.io\/from: platform\/registry/);
});

test("help and refusals name the offered tools, and a retired one works", async () => {
  const { stdout } = await commandLine(["migrate", "--help"]);
  const help = stdout.replaceAll(/\s+/g, " ");
  assert.ok(help.includes(`${OLD_TOOLS.slice(0, -1).join(", ")} or ${OLD_TOOLS.at(-1)}`), help);
  for (const tool of RETIRED_TOOLS) {
    assert.ok(!help.includes(tool), tool);
    const refused = await commandLine(["migrate", "--from", "velero"]);
    assert.ok(!refused.stderr.includes(tool), refused.stderr);
    const stdin = '{"apiVersion":"v1","kind":"List","items":[]}';
    const { code, stderr } = await commandLine(["migrate", "--from", tool, "-f", "-"], { stdin });
    assert.equal(code, 0, stderr);
  }
});
