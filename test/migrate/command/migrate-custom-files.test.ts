// `migrate -f` on repositories with rules in resources of their own: External Secrets and projection.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { commandLine, type Said } from "../../support/programs/command-line.ts";
import { folderOf } from "../../../packages/kube/testing/folder.ts";

function migrated(root: string, tool: string, ...more: readonly string[]): Promise<Said> {
  return commandLine(["migrate", "--from", tool, "-f", root, "-R", ...more]);
}

const NAMESPACES = `apiVersion: v1
kind: Namespace
metadata: {name: team-a, labels: {tier: app}}
---
apiVersion: v1
kind: Namespace
metadata: {name: vault}
`;
const SECRET = `# the registry's
apiVersion: v1
kind: Secret
metadata:
  name: registry
  namespace: vault
stringData:
  token: changed-by-hand # once a year
`;
const STORE = `apiVersion: external-secrets.io/v1
kind: ClusterSecretStore
metadata: {name: vault}
spec: {provider: {kubernetes: {remoteNamespace: vault}}}
`;
const EXTERNAL = `apiVersion: external-secrets.io/v1
kind: ClusterExternalSecret
metadata: {name: registry}
spec:
  namespaceSelectors: [{matchLabels: {tier: app}}]
  externalSecretSpec:
    secretStoreRef: {kind: ClusterSecretStore, name: vault}
    data: [{secretKey: TOKEN, remoteRef: {key: registry, property: token}}]
`;
const PROJECTED = `apiVersion: projection.sh/v1
kind: ClusterProjection
metadata: {name: registry}
spec:
  source: {version: v1, kind: Secret, namespace: vault, name: registry}
  destination: {namespaces: [team-a]}
`;

test("a rule of External Secrets is written into the manifest of its source", async (t) => {
  const files = {
    "ns.yaml": NAMESPACES,
    "base/secret.yaml": SECRET,
    "base/rule.yaml": `${STORE}---\n${EXTERNAL}`,
  };
  const root = folderOf(t, files);
  const { code, stderr } = await migrated(root, "external-secrets", "--write", "--yes");
  assert.equal(code, 0, stderr);
  const text = readFileSync(join(root, "base/secret.yaml"), "utf8");
  const added = text.split("\n").filter((line) => !SECRET.split("\n").includes(line));
  assert.deepEqual(added, [
    "  annotations:",
    '    secretcast.io/to-selector: "tier=app"',
    '    secretcast.io/keys: "TOKEN=token"',
  ]);
  for (const name of ["ns.yaml", "base/rule.yaml"] as const)
    assert.equal(readFileSync(join(root, name), "utf8"), files[name]);
  const again = await migrated(root, "external-secrets", "--write", "--yes");
  assert.equal(again.code, 0, again.stderr);
  assert.equal(readFileSync(join(root, "base/secret.yaml"), "utf8"), text);
});

test("--print-patches prints the annotations of a source for kustomize", async (t) => {
  const consenting = SECRET.replace(
    "  namespace: vault\n",
    '  namespace: vault\n  annotations: {projection.sh/projectable: "true"}\n',
  );
  const root = folderOf(t, {
    "ns.yaml": NAMESPACES,
    "secret.yaml": consenting,
    "rule.yaml": PROJECTED,
  });
  const { code, stdout, stderr } = await migrated(root, "projection", "--print-patches");
  assert.equal(code, 0, stderr);
  assert.match(
    stdout,
    /kind: Secret\nmetadata:\n {2}name: registry\n {2}namespace: vault\n {2}annotations:\n {4}secretcast\.io\/to: team-a\n/,
  );
});

for (const [tool, rule, lines] of [
  ["projection", PROJECTED, 'secretcast.io/to: "team-a"'],
  [
    "external-secrets",
    `${STORE}---\n${EXTERNAL}`,
    'secretcast.io/to-selector: "tier=app", secretcast.io/keys: "TOKEN=token"',
  ],
] as const) {
  test(`${tool}: a source in no file is named with the lines for it`, async (t) => {
    const root = folderOf(t, { "ns.yaml": NAMESPACES, "rule.yaml": rule });
    const { code, stderr } = await migrated(root, tool);
    assert.equal(code, 2);
    assert.ok(
      stderr.includes(
        `the Secret vault/registry, is not there: where it is made, give it ${lines}\n`,
      ),
      stderr,
    );
  });
}

for (const [tool, rule] of [
  ["projection", PROJECTED],
  ["external-secrets", EXTERNAL],
] as const) {
  test(`${tool}: a template with a rule is named and stays unedited`, async (t) => {
    const template = rule.replace("name: registry", 'name: {{ include "app.name" . }}');
    const root = folderOf(t, {
      "charts/app/Chart.yaml": "name: app\n",
      "charts/app/templates/rule.yaml": template,
    });
    const { code, stderr } = await migrated(root, tool, "--write", "--yes");
    assert.equal(code, 2);
    assert.match(stderr, /templates\/rule\.yaml/);
    assert.equal(readFileSync(join(root, "charts/app/templates/rule.yaml"), "utf8"), template);
  });
}

test("two layers of one rule are named, and neither is moved", async (t) => {
  const other = PROJECTED.replace("[team-a]", "[vault]");
  const files = { "ns.yaml": NAMESPACES, "a/rule.yaml": PROJECTED, "b/rule.yaml": other };
  const { code, stderr } = await migrated(folderOf(t, files), "projection");
  assert.equal(code, 2);
  assert.match(stderr, /ClusterProjection registry is at .*a\/rule\.yaml.* and .*b\/rule\.yaml/);
});

const CLUSTER_SECRET = `apiVersion: clustersecret.io/v1
kind: ClusterSecret
metadata: {name: registry}
matchNamespace: [team-a]
avoidNamespaces: [vault]
data: {token: b25l}
`;
const CLONING = `apiVersion: kyverno.io/v1
kind: ClusterPolicy
metadata: {name: registry}
spec:
  rules:
    - name: clone
      match: {any: [{resources: {kinds: [Namespace], names: [team-a]}}]}
      exclude: {any: [{resources: {kinds: [Namespace], selector: {matchLabels: {tier: db}}}}]}
      generate:
        apiVersion: v1
        kind: Secret
        name: registry
        namespace: "{{request.object.metadata.name}}"
        synchronize: true
        clone: {namespace: vault, name: registry}
`;
const MISSHAPEN: readonly (readonly [tool: string, rule: string, right: string, wrong: string])[] =
  [
    ["clustersecret", CLUSTER_SECRET, "matchNamespace: [team-a]", "matchNamespace: team-a"],
    ["clustersecret", CLUSTER_SECRET, "matchNamespace: [team-a]", "matchNamespace: {a: team-a}"],
    ["clustersecret", CLUSTER_SECRET, "avoidNamespaces: [vault]", "avoidNamespaces: vault"],
    ["clustersecret", CLUSTER_SECRET, "avoidNamespaces: [vault]", "avoidNamespaces: [vault, 5]"],
    ["kyverno", CLONING, "names: [team-a]", "names: team-a"],
    ["kyverno", CLONING, "names: [team-a]", "names: [team-a, true]"],
    [
      "kyverno",
      CLONING,
      "{any: [{resources: {kinds: [Namespace], selector",
      "{any: [5], x: [{y: {z",
    ],
    ["kyverno", CLONING, "{matchLabels: {tier: db}}", "tier=db"],
    ["kyverno", CLONING, "exclude: {any: [", "exclude: {all: {}, any: ["],
    ["kyverno", CLONING, "exclude: {", "exclude: 5\n      x: {"],
    ["external-secrets", EXTERNAL, "[{matchLabels: {tier: app}}]", "[5]"],
    ["external-secrets", EXTERNAL, "{matchLabels: {tier: app}}", "{matchLabels: [tier]}"],
    ["external-secrets", EXTERNAL, "[{matchLabels: {tier: app}}]", "{matchLabels: {tier: app}}"],
    ["projection", PROJECTED, "{namespaces: [team-a]}", "{namespaces: team-a}"],
    ["projection", PROJECTED, "{namespaces: [team-a]}", "[team-a]"],
  ];

for (const [tool, rule, right, wrong] of MISSHAPEN)
  test(`${tool}: a rule with ${wrong.split("\n", 1)[0]} that its CRD refuses is named and not moved`, async (t) => {
    const projectable = SECRET.replace(
      "name: reg",
      'annotations: {projection.sh/projectable: "true"}\n  name: reg',
    );
    const around = `${NAMESPACES}---\n${projectable}---\n${STORE}---\n`;
    const sound = await migrated(folderOf(t, { "x.yaml": around + rule }), tool);
    assert.match(sound.stdout, /secretcast\.io\/to/, sound.stderr);
    const changed = rule.replace(right, wrong);
    assert.notEqual(changed, rule);
    const { code, stdout, stderr } = await migrated(
      folderOf(t, { "x.yaml": around + changed }),
      tool,
    );
    assert.equal(code, 2);
    assert.match(
      stderr,
      /x\.yaml:\d+: \S+ of \w+ registry is no (list of texts|list of mappings|mapping)\n/,
    );
    assert.doesNotMatch(stdout, /secretcast\.io\/to/);
  });
