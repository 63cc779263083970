// Installing with everything on and uninstalling as docs/operations.md says, word for word, on a real
// API server: no command fails, no guard and nothing else is left, and copies stay.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { after, before, test, type TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import { ownCluster } from "../support/api-server/cluster.ts";
import { since } from "../support/api-server/kubernetes-version.ts";
import { TOGETHER } from "../support/documents/components.ts";
import { eventually } from "../../packages/kube/testing/eventually.ts";
import { helmMissing } from "../support/programs/helm.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const PAGE = readFileSync(`${ROOT}docs/operations.md`, "utf8");
// An older server does not know what pull-secrets is made of, and the chart refuses it there.
const HERE = since(36, "MutatingAdmissionPolicy v1").skip === false;
const INSTALLED = TOGETHER.filter(({ name }) => HERE || name !== "pull-secrets");
const MONITORING = ["podMonitor", "prometheusRule", "grafanaDashboard"].map(
  (value) => `${value}.enabled=true`,
);

let cluster: Awaited<ReturnType<typeof ownCluster>>;
before(async () => {
  cluster = await ownCluster();
  for (const [kind, plural] of [
    ["PodMonitor", "podmonitors"],
    ["PrometheusRule", "prometheusrules"],
  ] as const)
    apply(definitionOf(kind, plural));
  shell(ROOT, "kubectl create namespace team-a");
  apply({
    apiVersion: "v1",
    kind: "Secret",
    metadata: {
      name: "copy",
      namespace: "team-a",
      labels: { "app.kubernetes.io/managed-by": "secretcast" },
      annotations: {
        "secretcast.io/source": "secretcast/copy",
        "secretcast.io/source-uid": "u",
        "secretcast.io/placed-at": "team-a/copy",
      },
    },
  });
});
after(() => cluster.stop());

/** As a reader types it, in `folder`; fails unless it succeeds. */
function shell(folder: string, line: string, input = ""): string {
  const { PATH = "" } = process.env;
  const env = { PATH, HOME: tmpdir(), KUBECONFIG: cluster.kubeconfig };
  const { status, stdout, stderr } = spawnSync("bash", ["-ec", line], {
    cwd: folder,
    env,
    input,
    encoding: "utf8",
    timeout: 120_000,
  });
  assert.equal(status, 0, `${line}: ${stderr}`);
  return stdout;
}
const apply = (object: object): string => shell(ROOT, "kubectl apply -f -", JSON.stringify(object));

function documented(block: string): string {
  const [, text] =
    new RegExp(`<!-- ${block}:start -->\\n+\`\`\`sh\\n([^\`]+)\`\`\``).exec(PAGE) ?? [];
  return text ?? assert.fail(`docs/operations.md has no block ${block}`);
}

/** Every object there is, but Events: what they are about is over. */
function everything(): ReadonlySet<string> {
  const kinds = shell(ROOT, "kubectl api-resources --verbs=list -o name")
    .split("\n")
    .filter((kind) => kind !== "" && !kind.startsWith("events"));
  const columns = "KIND:.kind,NAMESPACE:.metadata.namespace,NAME:.metadata.name";
  const line = `kubectl get ${kinds.join()} -A --no-headers -o custom-columns=${columns}`;
  return new Set(shell(ROOT, line).split("\n"));
}

async function nothingIsLeft(before: ReadonlySet<string>): Promise<void> {
  assert.equal(shell(ROOT, documented("guards")), "", "a guard");
  const left = (): readonly string[] => [...everything()].filter((one) => !before.has(one));
  await eventually("the cluster is as it was", () => left().length === 0, 60_000).catch(
    (error: unknown) => assert.deepEqual(left(), [], String(error)),
  );
  assert.ok(everything().has([...before].find((one) => /^Secret +team-a +copy$/.test(one)) ?? ""));
}

/** A folder in which `manifests` is an overlay with every component. */
function overlayed(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), "secretcast-overlay-"));
  t.after(() => rmSync(folder, { recursive: true }));
  mkdirSync(`${folder}/manifests`);
  const base = relative(realpathSync(`${folder}/manifests`), `${ROOT}manifests`);
  const components = INSTALLED.map(({ name }) => `${base}/components/${name}`);
  const overlay = JSON.stringify({ resources: [base], components });
  writeFileSync(`${folder}/manifests/kustomization.yaml`, overlay);
  return folder;
}

for (const [what, place] of [
  ["the base", () => ROOT],
  ["an overlay with every component", overlayed],
] as const)
  test(`${what} goes by the documented lines and leaves nothing`, async (t) => {
    const folder = place(t);
    const before = everything();
    shell(folder, "kubectl apply -k manifests");
    await eventually("the pods are there", () =>
      shell(folder, "kubectl get pods -n secretcast -o name").includes("pod/"),
    );
    shell(folder, documented("uninstall"));
    await nothingIsLeft(before);
  });

test(
  "a release with every value on follows the documented line and spares its namespace",
  { skip: helmMissing() ?? false },
  async () => {
    shell(ROOT, "kubectl create namespace secretcast");
    await eventually("the namespace has its own", () =>
      shell(ROOT, "kubectl get serviceaccounts,configmaps -n secretcast -o name").includes(
        "root-ca",
      ),
    );
    const before = everything();
    const set = [
      "allSecrets=true",
      ...INSTALLED.map(({ setting }) => setting),
      ...MONITORING,
    ].join();
    shell(ROOT, `helm install secretcast manifests/chart -n secretcast --set ${set}`);
    const manifest = shell(ROOT, "helm get manifest secretcast -n secretcast");
    const guards = manifest.match(/^kind: (ValidatingAdmissionPolicy(Binding)?|FlowSchema)$/gm);
    const found = shell(ROOT, documented("guards")).match(/^\S+secretcast-\S+/gm);
    assert.equal(found?.length, guards?.length);
    assert.ok((found?.length ?? 0) >= 5);
    shell(ROOT, documented("helm-uninstall"));
    await nothingIsLeft(before);
  },
);

function definitionOf(kind: string, plural: string): object {
  const schema = { type: "object", "x-kubernetes-preserve-unknown-fields": true };
  const version = { name: "v1", served: true, storage: true, schema: { openAPIV3Schema: schema } };
  const group = "monitoring.coreos.com";
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${plural}.${group}` },
    spec: { group, scope: "Namespaced", names: { kind, plural }, versions: [version] },
  };
}
