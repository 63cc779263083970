// Fewer lines, all true: what is a rule in a repository, what is none, and the reason that applies.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { commandLine, type Said } from "../../support/programs/command-line.ts";
import { folderOf } from "../../../packages/kube/testing/folder.ts";

type Files = Readonly<Record<string, string>>;
type Folder = Parameters<typeof folderOf>[0];

function migrate(t: Folder, tool: string, files: Files, ...more: readonly string[]): Promise<Said> {
  return commandLine(["migrate", "--from", tool, "-f", folderOf(t, files), "-R", ...more]);
}

const REFLECTOR = "reflector.v1.k8s.emberstack.com/";
const NAMESPACES = ["platform", "dev", "team-1", "team-x"]
  .map((name) => `apiVersion: v1\nkind: Namespace\nmetadata: {name: ${name}}\n`)
  .join("---\n");

function source(rule: Files, data = "{token: b25l}"): string {
  const annotations = Object.entries(rule).map(([key, value]) => `${REFLECTOR}${key}: '${value}'`);
  return `apiVersion: v1
kind: Secret
metadata:
  namespace: platform
  name: cred
  annotations: {${annotations.join(", ")}}
data: ${data}
`;
}

const PUSHED = { "reflection-allowed": "true", "reflection-auto-enabled": "true" };

const VALIDATING = `apiVersion: kyverno.io/v1
kind: ClusterPolicy
metadata: {name: labels}
spec:
  rules:
    - name: check
      match: {any: [{resources: {kinds: [Pod]}}]}
      validate: {message: no, pattern: {metadata: {labels: {app: "?*"}}}}
`;

for (const [what, tool, files] of [
  [
    "the address of a chart of the tool",
    "external-secrets",
    {
      "x.yaml":
        "apiVersion: source.toolkit.fluxcd.io/v1\nkind: HelmRepository\nmetadata: {name: x, namespace: a}\nspec: {url: https://charts.external-secrets.io/}\n",
    },
  ],
  [
    "a health check of a resource of the tool",
    "external-secrets",
    {
      "x.yaml":
        "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: x, namespace: a}\nspec:\n  path: ./a\n  healthCheckExprs:\n    - {apiVersion: external-secrets.io/v1, kind: ExternalSecret, current: 'a: external-secrets.io/v1'}\n",
    },
  ],
  [
    "a policy that only validates, twice",
    "kyverno",
    { "a.yaml": VALIDATING, "b.yaml": VALIDATING },
  ],
  [
    "an annotation of a Certificate's Secret on which the tool does not act",
    "reflector",
    {
      "x.yaml": `apiVersion: cert-manager.io/v1\nkind: Certificate\nmetadata: {name: x, namespace: a}\nspec:\n  secretName: x\n  secretTemplate: {annotations: {${REFLECTOR}reflection-auto-enabled: "true"}}\n`,
    },
  ],
  [
    "a template of a policy that only validates",
    "kyverno",
    { "templates/x.yaml": VALIDATING.replace("name: labels", "name: {{ .Values.name }}") },
  ],
] as const) {
  test(`${what} is no rule`, async (t) => {
    const { code, stderr } = await migrate(t, tool, files);
    assert.equal(code, 0, stderr);
    assert.doesNotMatch(stderr, /not complete/);
  });
}

const COPYING = VALIDATING.replace(
  /validate: .*/,
  'generate: {apiVersion: v1, kind: Secret, name: x, namespace: "{{request.object.metadata.name}}", synchronize: true, clone: {namespace: platform, name: cred}}',
).replace("[Pod]", "[Namespace]");

test("a template of a policy that copies is named", async (t) => {
  for (const clone of ["clone: {namespace", "cloneList: {kinds: [v1/Secret], namespace"]) {
    const text = COPYING.replace("name: labels", "name: {{ .Values.name }}");
    const templates = { "templates/x.yaml": text.replace("clone: {namespace", clone) };
    const { code, stderr } = await migrate(t, "kyverno", templates);
    assert.equal(code, 2, stderr);
    assert.match(stderr, /x\.yaml: this template contains a rule of kyverno/);
  }
});

test("a folder that is not looked into is counted", async (t) => {
  const files = { "a.yaml": NAMESPACES, "b/c.yaml": source(PUSHED), "d/e.yaml": NAMESPACES };
  const folder = folderOf(t, files);
  const { stderr } = await commandLine(["migrate", "--from", "reflector", "-f", folder]);
  assert.match(stderr, /^passed over: 2 folder \(-R looks into it\)$/m);
});

test("a part of a policy, as tests have it, is no layer of the policy", async (t) => {
  const part = VALIDATING.replace(/spec:[^]*/, "status: {ready: true}\n");
  const { stderr } = await migrate(t, "kyverno", { "a.yaml": COPYING, "test/ready.yaml": part });
  assert.match(stderr, /ClusterPolicy labels\/check: its source platform\/cred is not there\n$/);
  assert.doesNotMatch(stderr, /layers or clusters/);
});

test("Namespaces of several layers matter to rules that ask for labels alone", async (t) => {
  const namespace = (labels: string): string =>
    `apiVersion: v1\nkind: Namespace\nmetadata: {name: dev, labels: {a: ${labels}}}\n`;
  const files = { "a.yaml": namespace("x"), "b.yaml": namespace("two") };
  const names = { ...PUSHED, "reflection-auto-namespaces": "dev" };
  const plain = await migrate(t, "reflector", { ...files, "s.yaml": source(names) });
  assert.equal(plain.code, 0, plain.stderr);
  const labels = { ...PUSHED, "reflection-auto-namespaces-selector": "a=x" };
  const asking = await migrate(t, "reflector", { ...files, "s.yaml": source(labels) });
  assert.match(asking.stderr, /Namespace dev is at .* they are taken together/);
});

test("a placeholder in the name of an object without a rule is not named", async (t) => {
  const other = "apiVersion: v1\nkind: Namespace\nmetadata: {name: '${APP}-ns'}\n";
  const { code, stderr } = await migrate(t, "reflector", { "a.yaml": other });
  assert.equal(code, 0, stderr);
});

const APPLICATION = (source: string): string =>
  `apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: x, namespace: argocd}\nspec: {source: ${source}}\n`;

for (const [what, files] of [
  [
    "an inline JSON patch",
    {
      "kustomization.yaml": `patches:\n  - patch: |-\n      - op: add\n        path: /metadata/annotations/${REFLECTOR.replace("/", "~1")}reflection-allowed\n        value: "true"\n`,
      "x.yaml": "a: 1\n",
    },
  ],
  [
    "a parameter of Helm in Argo CD",
    {
      "x.yaml": APPLICATION(
        String.raw`{helm: {parameters: [{name: 'a.annotations.reflector\.v1\.k8s\.emberstack\.com/reflection-allowed', value: "true"}]}}`,
      ),
    },
  ],
  [
    "a folder of Terraform alone",
    { "main.tf": `annotations = {\n  "${REFLECTOR}reflection-allowed" = "true"\n}\n` },
  ],
] as const) {
  test(`${what} with a rule is named`, async (t) => {
    const { code, stderr } = await migrate(t, "reflector", files);
    assert.equal(code, 2, stderr);
    assert.match(stderr, /rule of (?:reflector|secretcast)/);
  });
}

test("a pattern that matches no name is named beside a good one", async (t) => {
  const rule = { ...PUSHED, "reflection-auto-namespaces": "dev,^prod-" };
  const { code, stdout, stderr } = await migrate(t, "reflector", {
    "s.yaml": `${NAMESPACES}---\n${source(rule)}`,
  });
  assert.equal(code, 2);
  assert.match(stdout, /secretcast\.io\/to: dev\n/);
  assert.match(
    stderr,
    /to: the pattern "\^prod-" matches no name of a namespace, and is left out\n/,
  );
});

test("a pattern without exact globs is offered as a glob, with what that would gain", async (t) => {
  const rule = { ...PUSHED, "reflection-auto-namespaces": "team-[0-9]+" };
  const { code, stderr } = await migrate(t, "reflector", {
    "s.yaml": `${NAMESPACES}---\n${source(rule)}`,
  });
  assert.equal(code, 2);
  assert.match(stderr, /"team-\[0-9\]\+" \(team-\* matches these names and others, now team-x\)/);
});

for (const [what, rule, why] of [
  ["a placeholder", { "reflection-auto-namespaces": "${TO:=dev}" }, /a placeholder whose value is/],
  [
    "a text that SOPS encrypted",
    { "reflection-auto-namespaces": "ENC[AES256_GCM,data:x]" },
    /is encrypted by SOPS/,
  ],
] as const) {
  test(`a rule that is ${what} is named as that`, async (t) => {
    const { code, stderr } = await migrate(t, "reflector", {
      "s.yaml": source({ ...PUSHED, ...rule }),
    });
    assert.equal(code, 2);
    assert.match(stderr, why);
    assert.doesNotMatch(stderr, /glob|does not accept/);
  });
}

const MIRROR = (more: string): string =>
  `apiVersion: v1\nkind: Secret\nmetadata: {namespace: dev, name: cred, annotations: {${REFLECTOR}reflects: platform/cred}}\n${more}`;

test("empty entries of a mirror are no conflict", async (t) => {
  const tls = 'type: kubernetes.io/tls\ndata: {tls.crt: "", tls.key: ""}\n';
  const data = "{tls.crt: b25l, tls.key: b25l}\ntype: kubernetes.io/tls";
  const { stdout } = await migrate(t, "reflector", {
    "s.yaml": `${source(PUSHED, data)}---\n${MIRROR(tls)}`,
  });
  assert.doesNotMatch(stdout, /mirrors with other values/);
});

test("a mirror is not compared with what SOPS encrypted", async (t) => {
  const encrypted = `${source(PUSHED, "{token: 'ENC[AES256_GCM,data:x]'}")}sops: {version: 3.9.0}\n`;
  const files = { "s.yaml": encrypted, "m.yaml": MIRROR("") };
  const { stdout } = await migrate(t, "reflector", files);
  assert.match(stdout, /its source is encrypted by SOPS: nothing is compared/);
  assert.doesNotMatch(stdout, /out of date/);
});

test("patches are printed for a Certificate in files", async (t) => {
  const certificate = `apiVersion: cert-manager.io/v1
kind: Certificate
metadata: {namespace: platform, name: wildcard}
spec:
  secretName: wildcard
  secretTemplate: {annotations: {${REFLECTOR}reflection-allowed: "true", ${REFLECTOR}reflection-auto-enabled: "true"}}
`;
  const { code, stdout } = await migrate(
    t,
    "reflector",
    { "c.yaml": certificate },
    "--print-patches",
  );
  assert.equal(code, 2);
  assert.match(
    stdout,
    /kind: Certificate\nmetadata:\n {2}name: wildcard\n {2}namespace: platform\nspec:\n {2}secretTemplate:\n {4}annotations:\n {6}secretcast.io\/to: '\*'/,
  );
});

test("a name that is a number is named as that", async (t) => {
  const text = source(PUSHED).replace("name: cred", "name: 0x10");
  const { code, stderr } = await migrate(t, "reflector", { "s.yaml": text });
  assert.equal(code, 2);
  assert.match(stderr, /metadata\.name is no text; put it in quotes/);
});

test("an edit leaves comments that only mention the tool alone", async (t) => {
  const folder = folderOf(t, { "s.yaml": `# ${REFLECTOR}x: y\n${source(PUSHED)}` });
  const args = ["migrate", "--from", "reflector", "-f", folder, "--write", "--yes"];
  assert.equal((await commandLine(args)).code, 0);
  assert.match(readFileSync(join(folder, "s.yaml"), "utf8"), /secretcast\.io\/to/);
});

test("an ExternalSecret of another provider needs no place", async (t) => {
  const overlay = (name: string): string => `namespace: ${name}\nresources: [../base]\n`;
  const external = (kind: string, spec: string): string =>
    `apiVersion: external-secrets.io/v1\nkind: ${kind}\nmetadata: {name: vault}\nspec: ${spec}\n`;
  const { stderr } = await migrate(t, "external-secrets", {
    "base/kustomization.yaml": "resources: [x.yaml]\n",
    "base/x.yaml": external(
      "ExternalSecret",
      "{secretStoreRef: {kind: ClusterSecretStore, name: vault}, dataFrom: [{extract: {key: x}}]}",
    ),
    "a/kustomization.yaml": overlay("a"),
    "b/kustomization.yaml": overlay("b"),
    "store.yaml": external("ClusterSecretStore", "{provider: {vault: {server: https://x}}}"),
  });
  assert.doesNotMatch(stderr, /deployed more than once/);
});
