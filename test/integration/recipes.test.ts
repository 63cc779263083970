// docs/recipes.md: each recipe is applied as it stands on the page, and then the world is as it says.
// cert-manager, the External Secrets Operator and Reloader do not run here: the test does what each does
// with the object on the page.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, test } from "node:test";
import { load } from "js-yaml";
import { field } from "../../packages/sandbox/testing/http.ts";
import { since } from "../support/api-server/kubernetes-version.ts";
import { kubectlMissing } from "../support/api-server/kubectl.ts";
import { codeBlocks, type CodeBlock } from "../support/documents/markdown.ts";
import {
  NAMESPACES_OF_RECIPES as WORLD,
  openRecipe,
  recipeCluster,
  type RecipeCluster,
  type RecipeStage,
} from "../support/scenes/recipe-stage.ts";
import { ofSecrets } from "../support/scenes/scenario-end.ts";
import { eventually } from "../../packages/kube/testing/eventually.ts";

const PAGE = readFileSync(new URL("../../docs/recipes.md", import.meta.url), "utf8");
const TITLES = Array.from(PAGE.matchAll(/^## (.*)$/gm), ([, title = ""]) => title);
const skip = kubectlMissing() ?? false;

const FOREIGN = [
  { group: "cert-manager.io", version: "v1", kind: "Certificate" },
  { group: "external-secrets.io", version: "v1", kind: "ExternalSecret" },
  { group: "secrets.hashicorp.com", version: "v1beta1", kind: "VaultStaticSecret" },
];
let cluster: RecipeCluster | undefined;
before(async () => {
  if (process.env["CLUSTER_ACCESS"]) cluster = await recipeCluster(FOREIGN);
});
after(() => cluster?.stop());

/** The Kubernetes that the page says a recipe needs; the sandbox knows no version. */
const NEEDED = new Map([["A registry credential everywhere, and Pods that use it", 36]]);
const tooOld = (title: string): string | false =>
  process.env["CLUSTER_ACCESS"] !== undefined &&
  since(NEEDED.get(title) ?? 0, "as the page says").skip;

const tried = new Set<string>();
/** The recipe of that title. */
function recipe(
  title: string,
  run: (stage: RecipeStage, blocks: readonly CodeBlock[]) => Promise<void>,
): void {
  tried.add(title);
  ofSecrets(`recipe: ${title}`, { skip: skip || tooOld(title) }, async (t) => {
    const stage = await openRecipe(t, cluster);
    await run(stage, codeBlocks(PAGE, title));
  });
}

const secretOf = (stage: RecipeStage, namespace: string, name: string) =>
  stage.scene.api.secret(namespace, name);

/** The namespaces that have a Secret of this name. */
async function having(stage: RecipeStage, name: string): Promise<readonly string[]> {
  const all = await stage.scene.api.secrets();
  return all
    .filter(({ metadata }) => metadata.name === name)
    .map(({ metadata }) => metadata.namespace ?? "")
    .toSorted();
}
const has = (stage: RecipeStage, name: string, namespaces: readonly string[]): Promise<boolean> =>
  eventually(`${name} is in ${namespaces.join()}`, async () => {
    assert.deepEqual(await having(stage, name), namespaces);
    return true;
  });

const passwordIn = async (stage: RecipeStage, namespace: string): Promise<unknown> => {
  const { data } = (await secretOf(stage, namespace, "registry")) ?? {};
  const config: unknown = JSON.parse(data?.[".dockerconfigjson"] ?? "{}");
  return field(config, "auths", "registry.example.com", "password");
};

recipe("A registry credential everywhere, and Pods that use it", async (stage, blocks) => {
  stage.scene.start();
  const [rotation] = blocks.slice(-1);
  assert.ok(rotation);
  const [source, overlay, install, pod] = blocks;
  assert.ok(source && overlay && install && pod);
  await stage.apply([source, overlay, install]);
  const everywhere = ["default", "secretcast", ...WORLD];
  await has(stage, "registry", everywhere.toSorted());
  await stage.shell("kubectl create namespace later");
  await has(stage, "registry", [...everywhere, "later"].toSorted());
  if (stage.isReal) {
    const listed = (words: string) =>
      stage.shell(`kubectl ${words} -o 'jsonpath={.spec.imagePullSecrets[*].name}'`);
    const probe = "run probe --image=registry.example.com/web -n team-a --dry-run=server";
    await eventually("the policy is in force", async () => (await listed(probe)) === "registry");
    await stage.apply([pod]);
    assert.equal(await listed("get pod web -n team-a"), "registry");
  }
  await stage.apply([rotation]);
  await eventually("all have the new one", async () => {
    for (const namespace of await having(stage, "registry"))
      assert.equal(await passwordIn(stage, namespace), "rotated");
    return true;
  });
});

recipe("A wildcard certificate from cert-manager", async (stage, blocks) => {
  await stage.apply(blocks);
  stage.scene.start();
  const spec = field(load(blocks[0]?.text ?? ""), "spec");
  const name = String(field(spec, "secretName"));
  // As cert-manager makes it: the template's annotations beside its own.
  await stage.scene.api.createSecret("secretcast", name, {
    type: "kubernetes.io/tls",
    labels: { "controller.cert-manager.io/fao": "true" },
    annotations: {
      ...(field(spec, "secretTemplate", "annotations") as Readonly<Record<string, string>>),
      "cert-manager.io/certificate-name": "wildcard",
      "cert-manager.io/issuer-name": "example",
    },
    data: { "tls.crt": "first", "tls.key": "key", "ca.crt": "authority" },
  });
  await has(stage, "apps-tls", ["team-a", "team-b"]);
  await stage.scene.api.setData("secretcast", name, {
    "tls.crt": "renewed",
    "tls.key": "key",
    "ca.crt": "authority",
  });
  for (const team of ["team-a", "team-b"]) {
    await eventually("the renewed one is there", async () => {
      const { data } = (await secretOf(stage, team, "apps-tls")) ?? {};
      return data?.["tls.crt"] === "renewed";
    });
    const copy = await secretOf(stage, team, "apps-tls");
    assert.equal(copy?.type, "kubernetes.io/tls");
    const keys = Object.keys({ ...copy.metadata.annotations, ...copy.metadata.labels });
    assert.deepEqual(
      keys.filter((key) => key.includes("cert-manager")),
      [],
    );
  }
});

recipe("A certificate that nobody can annotate", async (stage, blocks) => {
  const [list, values] = blocks.map(({ text }) => load(text));
  const listed = Object.entries(field(list, "data") ?? {});
  const entries = listed.map(([key, text]: [string, unknown]) => [key, load(String(text))]);
  assert.deepEqual(
    Object.fromEntries(entries),
    field(values, "sources"),
    "the chart says the same",
  );
  await stage.apply(blocks);
  stage.scene.start();
  const data = { "tls.crt": "certificate", "tls.key": "key" };
  await stage.scene.api.createSecret("platform", "wildcard-tls", {
    type: "kubernetes.io/tls",
    data: { ...data, "ca.crt": "authority" },
  });
  for (const team of ["team-a", "team-b"]) await stage.scene.holds(team, "apps-tls", data);
  assert.deepEqual(await having(stage, "apps-tls"), ["team-a", "team-b"]);
});

recipe("A CA bundle, as a ConfigMap", async (stage, blocks) => {
  const [values, source, pod, change] = blocks;
  assert.ok(values && source && pod && change);
  stage.write("ca.crt", "the authority of today\n");
  stage.write("next.crt", "the one of tomorrow\n");
  await stage.apply([values]);
  stage.scene.start();
  await stage.apply([source]);
  const bundles = async (): Promise<Readonly<Record<string, unknown>>> => {
    const found = "kubectl get configmaps -A --field-selector metadata.name=ca-bundle -o json";
    const items = field(JSON.parse(await stage.shell(found)), "items");
    assert.ok(Array.isArray(items));
    return Object.fromEntries(
      items.map((one: unknown) => [
        field(one, "metadata", "namespace"),
        field(one, "data", "ca.crt"),
      ]),
    );
  };
  const hold = (text: string): Promise<boolean> =>
    eventually("every namespace trusts the same", async () => {
      const all = await bundles();
      for (const namespace of ["default", "secretcast", ...WORLD])
        assert.equal(all[namespace], text);
      return true;
    });
  await hold("the authority of today\n");
  await stage.apply([pod, change]);
  await hold("the authority of today\nthe one of tomorrow\n");
});

recipe("CI tokens for teams that carry a label", async (stage, blocks) => {
  await stage.shell("kubectl label namespace other ci=builds");
  stage.scene.start();
  await stage.apply(blocks);
  await has(stage, "ci-token", ["secretcast", "team-a"]);
  await stage.shell("kubectl label namespace team-a ci-");
  await has(stage, "ci-token", ["secretcast"]);
});

recipe("Every team may publish, each namespace says what it takes", async (stage, blocks) => {
  await stage.apply(blocks);
  // A tenant who publishes to everybody is taken by nobody.
  const annotations = { "secretcast.io/to": "*" };
  await stage.scene.api.createSecret("other", "gift", { annotations, data: { k: "v" } });
  await stage.scene.api.createSecret("platform", "more", { annotations, data: { k: "v" } });
  stage.scene.start();
  await has(stage, "registry", ["platform", "team-a", "team-b"]);
  await has(stage, "more", ["platform", "team-a"]);
  assert.deepEqual(await having(stage, "gift"), ["other"]);
});

recipe("Repository credentials for several Argo CDs", async (stage, blocks) => {
  await stage.apply(blocks);
  stage.scene.start();
  await has(stage, "github", ["argocd", "argocd-team-a", "secretcast"]);
  for (const namespace of ["argocd", "argocd-team-a"]) {
    const copy = await secretOf(stage, namespace, "github");
    assert.equal(copy?.metadata.labels?.["argocd.argoproj.io/secret-type"], "repo-creds");
    assert.equal(copy.data?.["url"], "https://github.com/example");
  }
});

recipe("Beside Argo CD and Flux", async (stage, blocks) => {
  await stage.apply(blocks);
  stage.scene.start();
  await has(stage, "from-git", ["secretcast", "team-a", "team-b"]);
  const { metadata } = (await secretOf(stage, "team-a", "from-git")) ?? assert.fail("no copy");
  assert.deepEqual(metadata.labels, {
    "app.kubernetes.io/managed-by": "secretcast",
    team: "platform",
  });
  const annotations = Object.keys(metadata.annotations ?? {});
  assert.deepEqual(
    annotations.filter((key) => !key.startsWith("secretcast.io/")),
    [],
  );
});

recipe("A secret from a vault, by the External Secrets Operator", async (stage, blocks) => {
  await stage.apply(blocks);
  const { api } = stage.scene;
  stage.scene.start();
  const owner = load(blocks[0]?.text ?? "");
  const template = field(owner, "spec", "target", "template", "metadata", "annotations");
  // As the operator makes it: the template's annotations, its own marks, and an owner.
  const uid = stage.isReal
    ? await stage.shell(
        "kubectl get externalsecret database -n secretcast -o 'jsonpath={.metadata.uid}'",
      )
    : "11111111-2222-3333-4444-555555555555";
  await api.createSecret("secretcast", "database", {
    labels: { "reconcile.external-secrets.io/managed": "true" },
    annotations: {
      ...(template as Readonly<Record<string, string>>),
      "reconcile.external-secrets.io/data-hash": "0",
    },
    ownerReferences: [
      { apiVersion: "external-secrets.io/v1", kind: "ExternalSecret", name: "database", uid },
    ],
    data: { password: "fetched" },
  });
  await has(stage, "database", ["secretcast", "team-a", "team-b"]);
  const { metadata } = (await secretOf(stage, "team-a", "database")) ?? assert.fail("no copy");
  assert.equal(metadata.ownerReferences, undefined);
  const keys = Object.keys({ ...metadata.labels, ...metadata.annotations });
  assert.deepEqual(
    keys.filter((key) => key.includes("external-secrets")),
    [],
  );
  // As the garbage collector does when the ExternalSecret goes.
  await api.deleteSecret("secretcast", "database");
  await has(stage, "database", []);
});

recipe("A secret from Vault, by the Vault Secrets Operator", async (stage, blocks) => {
  await stage.apply(blocks);
  const destination = field(load(blocks[0]?.text ?? ""), "spec", "destination");
  // As the operator makes it: the annotations of the destination beside its own labels.
  await stage.scene.api.createSecret("secretcast", String(field(destination, "name")), {
    labels: {
      "app.kubernetes.io/managed-by": "hashicorp-vso",
      "secrets.hashicorp.com/vso-ownerRefUID": "11111111-2222-3333-4444-555555555555",
    },
    annotations: field(destination, "annotations") as Readonly<Record<string, string>>,
    data: { password: "leased" },
  });
  stage.scene.start();
  await has(stage, "queue", ["secretcast", "team-a", "team-b"]);
  const copy = await secretOf(stage, "team-a", "queue");
  assert.deepEqual(copy?.metadata.labels, { "app.kubernetes.io/managed-by": "secretcast" });
});

recipe("The namespaces of a Rancher project", async (stage, blocks) => {
  stage.scene.start();
  await stage.apply(blocks);
  await has(stage, "project-token", ["secretcast", "team-a"]);
  await stage.shell("kubectl label namespace team-b field.cattle.io/projectId=p-x7k2m");
  await has(stage, "project-token", ["secretcast", "team-a", "team-b"]);
  await stage.shell(
    "kubectl label namespace team-b field.cattle.io/projectId=p-other1 --overwrite",
  );
  await has(stage, "project-token", ["secretcast", "team-a"]);
});

recipe("A subtree of hierarchical namespaces", async (stage, blocks) => {
  stage.scene.start();
  await stage.apply(blocks);
  await has(stage, "subtree", ["platform", "secretcast", "team-b"]);
});

recipe("The global pull secret of OpenShift", async (stage, blocks) => {
  await stage.apply(blocks);
  stage.scene.start();
  await stage.shell("kubectl create namespace openshift-config");
  await stage.scene.api.createSecret("openshift-config", "pull-secret", {
    type: "kubernetes.io/dockerconfigjson",
    data: { ".dockerconfigjson": "{}" },
  });
  await has(stage, "cluster-pull-secret", ["team-a"]);
});

recipe("Restarting workloads when a secret changes", async (stage, blocks) => {
  await stage.apply(blocks);
  stage.scene.start();
  await has(stage, "database", ["secretcast", "team-a", "team-b"]);
  const copy = () => secretOf(stage, "team-a", "database");
  const first = await copy();
  // What Reloader asks of a Secret before it restarts who uses it.
  assert.equal(first?.metadata.annotations?.["reloader.stakater.com/match"], "true");
  await stage.shell("kubectl label secret database -n secretcast team=platform");
  await stage.scene.api.setData("secretcast", "database", { password: "changed" });
  for (const team of ["team-a", "team-b"])
    await stage.scene.holds(team, "database", { password: "changed" });
  assert.equal((await copy())?.metadata.uid, first.metadata.uid, "in place");
  if (stage.isReal) {
    const generation = "kubectl get deployment web -n team-a -o 'jsonpath={.metadata.generation}'";
    assert.equal(await stage.shell(generation), "1", "no workload is changed by us");
  }
});

test("each recipe of the page has its test", () => {
  assert.deepEqual(TITLES, [...tried]);
});
