// `migrate --from kyverno -f`: a repository as it is cloned.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { commandLine } from "../../support/programs/command-line.ts";
import { folderOf } from "../../../packages/kube/testing/folder.ts";

const SECRET = `# The registry of all teams.
apiVersion: v1
kind: Secret
metadata:
  name: registry   # one for all
  namespace: platform
type: Opaque
data:
  token: bWFkZSB1cA==
`;

const RULE = `    - name: copy
      match:
        any:
          - resources:
              kinds: [Namespace]
              names: ["team-*"]
      generate:
        apiVersion: v1
        kind: Secret
        name: registry
        namespace: "{{request.object.metadata.name}}"
        synchronize: true
        clone:
          namespace: platform
          name: registry
`;

function policy(name: string, rules: string): string {
  return `apiVersion: kyverno.io/v1
kind: ClusterPolicy
metadata:
  name: ${name}
spec:
  rules:
${rules}`;
}

const OTHER_POLICY = `apiVersion: iam.example.com/v1
kind: Policy
metadata:
  name: not-of-kyverno
spec:
  rules: []
`;

const FROM = ["migrate", "--from", "kyverno"] as const;

test("a rule's annotations go into the manifest of its source, and the policy stays", async (t) => {
  const rules = policy("share", RULE);
  const folder = folderOf(t, {
    "secret.yaml": SECRET,
    "policy.yaml": rules,
    "other.yaml": OTHER_POLICY,
  });
  const { code, stdout, stderr } = await commandLine([...FROM, "-f", folder, "--write", "--yes"]);
  assert.equal(code, 0, stderr);
  assert.match(stdout, /\+ {2}annotations:\n\+ {4}secretcast.io\/to: "team-\*"\n/);
  const written = readFileSync(join(folder, "secret.yaml"), "utf8");
  const added = '  annotations:\n    secretcast.io/to: "team-*"\n';
  assert.equal(written, SECRET.replace("metadata:\n", `metadata:\n${added}`));
  assert.equal(readFileSync(join(folder, "policy.yaml"), "utf8"), rules);
});

test("a policy of a Helm chart is named and not guessed", async (t) => {
  const quoted = policy(
    "quoted",
    RULE.replace("namespace: platform", 'namespace: "{{ .Values.from }}"'),
  );
  const unquoted = policy(
    "unquoted",
    RULE.replace("namespace: platform", "namespace: {{ .Values.from }}"),
  );
  const folder = folderOf(t, {
    "secret.yaml": SECRET,
    "chart/templates/quoted.yaml": quoted,
    "chart/templates/unquoted.yaml": unquoted,
  });
  const { code, stderr } = await commandLine([...FROM, "-R", "-f", folder]);
  assert.equal(code, 2);
  assert.match(stderr, /ClusterPolicy quoted\/copy: it is a template of Helm and cannot be read/);
  assert.match(
    stderr,
    /unquoted\.yaml: this template contains a rule of kyverno, and is not edited/,
  );
});

test("a policy that a repository contains twice is not taken for one of them", async (t) => {
  const folder = folderOf(t, {
    "secret.yaml": SECRET,
    "eu/policy.yaml": policy("share", RULE),
    "us/policy.yaml": policy("share", RULE.replace("team-*", "us-*")),
  });
  const { code, stderr } = await commandLine([...FROM, "-R", "-f", folder]);
  assert.equal(code, 2);
  assert.match(
    stderr,
    /ClusterPolicy share is at .*eu.policy\.yaml:1 and .*us.policy\.yaml:1: layers/,
  );
});

test("--print-patches prints the annotations, and first the edit that keeps Kyverno from deleting copies", async (t) => {
  const folder = folderOf(t, { "secret.yaml": SECRET, "policy.yaml": policy("share", RULE) });
  const { code, stdout } = await commandLine([...FROM, "-f", folder, "--print-patches"]);
  assert.equal(code, 0);
  const [first = "", ...rest] = stdout.split("\n");
  assert.match(
    first,
    /^# Before --write: ClusterPolicy share\/copy: set synchronize: false and orphanDownstreamOnPolicyDelete: true: kubectl patch/,
  );
  assert.match(rest.join("\n"), /annotations:\n {4}secretcast.io\/to: team-\*\n/);
});

test("a source that something else creates is an entry of the source list with --by-list", async (t) => {
  const made = SECRET.replace(
    "metadata:\n",
    "metadata:\n  annotations:\n    argocd.argoproj.io/tracking-id: platform\n",
  );
  const folder = folderOf(t, { "secret.yaml": made, "policy.yaml": policy("share", RULE) });
  const { code, stdout } = await commandLine([...FROM, "-f", folder, "--by-list"]);
  assert.equal(code, 0);
  assert.match(
    stdout,
    /platform\.registry: \|\n {2}secret: platform\/registry\n {2}to: "team-\*"\n/,
  );
});

const CONFIG_MAP = SECRET.replace("kind: Secret", "kind: ConfigMap")
  .replace("type: Opaque\n", "")
  .replace("token: bWFkZSB1cA==", "ca.crt: text");
const OF_MAPS = policy("share-maps", RULE.replace("kind: Secret", "kind: ConfigMap"));

test("a rule's annotations for a ConfigMap go into its manifest, not a Secret's", async (t) => {
  const files = { "secret.yaml": SECRET, "map.yaml": CONFIG_MAP, "policy.yaml": OF_MAPS };
  const folder = folderOf(t, files);
  const { code, stderr } = await commandLine([...FROM, "-f", folder, "--write", "--yes"]);
  assert.equal(code, 0, stderr);
  assert.match(stderr, /flag of the controller: --config-maps\n/);
  const added = '  annotations:\n    secretcast.io/to: "team-*"\n';
  const read = (name: string): string => readFileSync(join(folder, name), "utf8");
  assert.equal(read("map.yaml"), CONFIG_MAP.replace("metadata:\n", `metadata:\n${added}`));
  assert.equal(read("secret.yaml"), SECRET);
});

test("plan, patch and entry say that they are of a ConfigMap", async (t) => {
  const made = CONFIG_MAP.replace(
    "metadata:\n",
    "metadata:\n  annotations:\n    argocd.argoproj.io/tracking-id: platform\n",
  );
  const folder = folderOf(t, { "map.yaml": made, "policy.yaml": OF_MAPS });
  const plan = await commandLine([...FROM, "-f", folder]);
  assert.equal(plan.code, 0, plan.stderr);
  assert.match(plan.stdout, /\nConfigMap platform\/registry +annotate /);
  assert.match(plan.stdout, /--config-maps\n/);
  const patches = await commandLine([...FROM, "-f", folder, "--print-patches"]);
  assert.match(patches.stdout, /\nkind: ConfigMap\nmetadata:\n {2}name: registry\n/);
  assert.match(patches.stdout, /# Flags of the controller: .*--config-maps\n/);
  const listed = await commandLine([...FROM, "-f", folder, "--by-list"]);
  assert.match(
    listed.stdout,
    /platform\.registry_ConfigMap: \|\n {2}configMap: platform\/registry\n {2}to: "team-\*"\n/,
  );
  const json = await commandLine([...FROM, "-f", folder, "-o", "json"]);
  const { sources } = JSON.parse(json.stdout) as { readonly sources: readonly Raw[] };
  assert.deepEqual(
    sources.map(({ kind, source }) => [kind, source]),
    [["ConfigMap", "platform/registry"]],
  );
});

type Raw = Readonly<Record<string, unknown>>;

for (const name of ["registry", "configmap/a/b/c", "service/a/b", "configmap//b"]) {
  test(`--adopt-drifted=${name} is refused: it names no copy`, async () => {
    const { code, stderr } = await commandLine([...FROM, `--adopt-drifted=${name}`]);
    assert.equal(code, 1);
    assert.match(
      stderr,
      /--adopt-drifted: ".*" is not NAMESPACE\/NAME of a copy \(of a ConfigMap: configmap\//,
    );
  });
}
